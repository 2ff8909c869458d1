//! Files users write, on the disk.
//!
//! This crate owns reading a file within limits ([`read`]) and below a folder ([`below`]), saving it so that it is always the old
//! or the new one and no writer overwrites another ([`save`]), and showing how two texts differ
//! ([`unified_diff`]).
//!
//! It knows nothing of what the files say.

mod below;
mod diff;
mod lock;
mod read;
mod save;

pub use below::{NotBelow, below};
pub use diff::unified_diff;
pub use read::{MAX_FILE_BYTES, ReadError, read};
pub use save::{SaveError, Saved, save};
