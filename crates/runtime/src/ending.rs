//! Why runs are cancelled: by their callers, or because the process ends.

use std::sync::atomic::{AtomicBool, Ordering};

/// A process ends once, for all that runs in it.
static ENDING: AtomicBool = AtomicBool::new(false);

/// From here on runs that are cancelled are told that this process was told to end.
pub fn process_ends() {
    ENDING.store(true, Ordering::Release);
}

/// What a run that is cancelled now is told; whether somebody else than its caller may have done it.
pub(crate) fn why_cancelled(is_stopped: bool) -> &'static str {
    if ENDING.load(Ordering::Acquire) {
        "mcpgraph was told to end before the call was done; call again"
    } else if is_stopped {
        "the run was stopped"
    } else {
        "the caller cancelled the call"
    }
}
