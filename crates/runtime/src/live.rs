use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_journal::RunId;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::{Breakpoint, DebugSession, Debugger};

/// The runs under way that a debugger may join. One that is only announced has no place to join.
#[derive(Clone, Default)]
pub struct LiveRuns(Arc<Mutex<HashMap<RunId, Option<mpsc::Sender<DebugSession>>>>>);

/// A run among those under way, until this is dropped.
pub(crate) struct Entered {
    runs: LiveRuns,
    id: RunId,
    /// The debuggers that join.
    pub(crate) joining: mpsc::Receiver<DebugSession>,
}

impl LiveRuns {
    /// Takes control of a run that is under way; none if it is not, or if somebody else is just
    /// about to. Whoever controlled it before no longer does.
    pub fn join(&self, run: RunId, pauses: bool, breakpoints: Vec<Breakpoint>) -> Option<Debugger> {
        let (debugger, session) = Debugger::new(pauses, breakpoints);
        self.0.lock().get(&run)?.as_ref()?.try_send(session).ok()?;
        Some(debugger)
    }

    /// Counts a run among those under way before it has begun: whoever starts it tells others of it
    /// at once, and they are to find it. It must be executed then.
    pub fn announce(&self, run: RunId) {
        self.0.lock().entry(run).or_default();
    }

    /// Whether a run is under way.
    pub fn contains(&self, run: RunId) -> bool {
        self.0.lock().contains_key(&run)
    }

    /// Counts a run among those under way, and lets debuggers join unless it is closed to them.
    pub(crate) fn enter(&self, id: RunId, is_open: bool) -> Entered {
        let (sender, joining) = mpsc::channel(1);
        self.0.lock().insert(id, is_open.then_some(sender));
        Entered { runs: self.clone(), id, joining }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.runs.0.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announced_run_is_found_before_and_until_it_ends() {
        let (live, run) = (LiveRuns::default(), RunId::new());
        assert!(!live.contains(run));
        live.announce(run);
        assert!(live.contains(run));
        assert!(live.join(run, true, Vec::new()).is_none());
        let entered = live.enter(run, true);
        live.announce(run);
        assert!(live.join(run, true, Vec::new()).is_some());
        drop(entered);
        assert!(!live.contains(run));
    }
}
