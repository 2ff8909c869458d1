use std::collections::HashMap;
use std::sync::Weak;
use std::time::{Duration, Instant};

use mcpgraph_journal::RunId;
use mcpgraph_runtime::{DebugState, Debugger};
use parking_lot::Mutex;

use crate::api::Shared;

/// How long a debugger may say nothing before its run is released.
const LEASE: Duration = Duration::from_mins(1);

/// How often that is looked at.
const SWEEP: Duration = Duration::from_secs(5);

/// Who debugs which run. A client that goes away is noticed by its silence.
pub(crate) struct Sessions(Mutex<HashMap<RunId, Held>>);

struct Held {
    debugger: Debugger,
    seen: Instant,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    pub(crate) fn add(&self, run: RunId, debugger: Debugger) {
        self.0.lock().insert(run, Held { debugger, seen: Instant::now() });
    }

    /// The debugger of a run, whose client was just heard of.
    pub(crate) fn get(&self, run: RunId) -> Option<Debugger> {
        let mut sessions = self.0.lock();
        let held = sessions.get_mut(&run)?;
        held.seen = Instant::now();
        Some(held.debugger.clone())
    }

    /// The client of a run's debugger is still there.
    pub(crate) fn touch(&self, run: RunId) {
        if let Some(held) = self.0.lock().get_mut(&run) {
            held.seen = Instant::now();
        }
    }

    /// Lets a run go; whether it was held.
    pub(crate) fn remove(&self, run: RunId) -> bool {
        self.0.lock().remove(&run).is_some()
    }

    /// Lets runs go whose clients are gone, and forgets those that have ended.
    pub(crate) async fn sweep(shared: Weak<Shared>) {
        loop {
            tokio::time::sleep(SWEEP).await;
            // The interface is gone when its router is.
            let Some(shared) = shared.upgrade() else { return };
            shared.sessions.0.lock().retain(|_, held| {
                held.seen.elapsed() < LEASE && held.debugger.state() != DebugState::Ended
            });
        }
    }
}
