//! What every engine does, whatever it keeps its runs in. A process is a runtime of its own here,
//! and is ended in the middle of whatever it does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod cancelling;
mod going_on;
mod kept;
mod messages;
mod process;
