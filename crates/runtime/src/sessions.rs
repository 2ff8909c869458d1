use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mcpgraph_journal::RunId;
use parking_lot::Mutex;

use crate::{Breakpoint, DebugState, Debugger, LiveRuns, Unreached};

/// How often silent clients are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Who debugs which run, for faces whose clients come and go with every request. A client that
/// goes away is noticed by its silence, and its run is released.
pub struct DebugSessions {
    held: Mutex<HashMap<RunId, Held>>,
    lease: Duration,
}

struct Held {
    debugger: Debugger,
    seen: Instant,
}

impl DebugSessions {
    /// Nobody debugs anything yet. Whoever says nothing for as long as the `lease` is gone. It must
    /// be called inside a tokio runtime.
    pub fn new(lease: Duration) -> Arc<Self> {
        let sessions = Arc::new(Self { held: Mutex::default(), lease });
        tokio::spawn(Self::sweep(Arc::downgrade(&sessions), lease.min(SWEEP)));
        sessions
    }

    /// A client begins to debug a run.
    pub fn add(&self, run: RunId, debugger: Debugger) {
        self.held.lock().insert(run, Held { debugger, seen: Instant::now() });
    }

    /// A client takes control of a run that is under way. Of several who do so at once, the one who
    /// came last to the run is the one that is held.
    pub fn join(
        &self,
        live: &LiveRuns,
        run: RunId,
        pauses: bool,
        breakpoints: Vec<Breakpoint>,
    ) -> Result<Debugger, Unreached> {
        let mut held = self.held.lock();
        let debugger = live.join(run, pauses, breakpoints)?;
        held.insert(run, Held { debugger: debugger.clone(), seen: Instant::now() });
        Ok(debugger)
    }

    /// The debugger of a run, whose client was just heard of.
    pub fn get(&self, run: RunId) -> Option<Debugger> {
        let mut sessions = self.held.lock();
        let held = sessions.get_mut(&run)?;
        held.seen = Instant::now();
        Some(held.debugger.clone())
    }

    /// The client of a run's debugger is still there.
    pub fn touch(&self, run: RunId) {
        if let Some(held) = self.held.lock().get_mut(&run) {
            held.seen = Instant::now();
        }
    }

    /// Lets a run go; whether it was held.
    pub fn remove(&self, run: RunId) -> bool {
        self.held.lock().remove(&run).is_some()
    }

    /// Lets every run go.
    pub fn clear(&self) {
        self.held.lock().clear();
    }

    /// Lets runs go whose clients are gone, and forgets those that have ended or are debugged by
    /// somebody else.
    async fn sweep(sessions: Weak<Self>, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            let Some(sessions) = sessions.upgrade() else { return };
            let lease = sessions.lease;
            sessions.held.lock().retain(|_, held| {
                let is_over =
                    matches!(held.debugger.state(), DebugState::Ended | DebugState::Replaced);
                held.seen.elapsed() < lease && !is_over
            });
        }
    }
}
