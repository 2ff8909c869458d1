//! The one thread that writes: what all runs of the process record goes through one queue into the
//! file, as much as there is in one transaction.

mod append;
mod batch;
mod bundle;
mod chunk;
mod collected;
mod estimate;
mod gather;
mod live;
mod occasion;
mod payloads;
mod queue;
mod remove;
mod requests;
mod retention;
mod row;
mod settling;
mod shared;
pub(crate) mod spare;
mod state;
mod thread;
mod whole;

pub(crate) use batch::Batcher;
pub(crate) use collected::Collected;
pub(crate) use live::Live;
pub(crate) use payloads::write_truncated;
pub(crate) use remove::remove_runs;
pub(crate) use requests::lines as request_lines;
pub(crate) use row::{RowOf, micros};
pub(crate) use shared::Shared;
pub(crate) use state::RunState;
pub(crate) use thread::Writer;
