//! Programs that are started.
//!
//! This crate owns what everybody needs who starts programs: the [`Reaper`], which ends them when
//! this process is killed and cannot, and words for why one did not start. What a program is
//! started for, and what is said to it, is the business of others.

mod reaper;
mod reason;

pub use reaper::{Reaper, Registration, run_reaper};
pub use reason::why_not_started;
