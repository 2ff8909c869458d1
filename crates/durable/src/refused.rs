use std::collections::HashMap;
use std::time::{Duration, Instant};

use mcpgraph_journal::RunId;
use parking_lot::Mutex;

/// How long a run that cannot be executed here stays where it is before it is offered again: to
/// another process that can, or to this one, whose file may have changed.
const OFFERED_AGAIN: Duration = Duration::from_mins(1);

/// The runs that a process was given and cannot execute.
#[derive(Default)]
pub(crate) struct Refused(Mutex<HashMap<RunId, Instant>>);

impl Refused {
    pub(crate) fn add(&self, run: RunId) {
        self.0.lock().insert(run, Instant::now());
    }

    /// Whether a run was refused lately.
    pub(crate) fn contains(&self, run: RunId) -> bool {
        let mut refused = self.0.lock();
        refused.retain(|_, since| since.elapsed() < OFFERED_AGAIN);
        refused.contains_key(&run)
    }
}
