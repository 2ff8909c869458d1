//! The runs under way, for those who come from outside to debug or to stop one.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_journal::RunId;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{Breakpoint, DebugSession, Debugger};

/// The runs under way that a debugger may join, and that anybody may stop.
#[derive(Clone, Default)]
pub struct LiveRuns(Arc<Mutex<HashMap<RunId, Place>>>);

/// Where a run can be reached.
#[derive(Default)]
struct Place {
    door: Door,
    /// Ends the run; none before it has begun.
    stop: Option<CancellationToken>,
    is_stopped: bool,
    /// How many runs inside it stand still; none if there are never any inside.
    standing: Option<watch::Sender<usize>>,
}

/// How debuggers join.
#[derive(Default)]
enum Door {
    /// The run is only announced.
    #[default]
    NotYet,
    /// The run is durable.
    Closed,
    Open(mpsc::Sender<DebugSession>),
}

/// Why a run was not reached; it reads on from the run's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    /// It is not under way in this process.
    #[error("is not under way")]
    Absent,
    /// It is durable, and whoever debugs decides what comes next, which nobody could repeat.
    #[error("is durable, and cannot be debugged while it is under way; it can be stopped")]
    Durable,
    /// It has not begun, or somebody else is just about to join it.
    #[error("is about to begin, or somebody else is about to debug it; ask again")]
    Busy,
}

/// A run among those under way, until this is dropped.
pub(crate) struct Entered {
    runs: LiveRuns,
    id: RunId,
    /// The debuggers that join.
    pub(crate) joining: mpsc::Receiver<DebugSession>,
    /// Fires when the caller gives up, or somebody stops the run.
    pub(crate) cancel: CancellationToken,
    /// How many runs inside it stand still.
    inside: Option<watch::Receiver<usize>>,
}

/// What comes to a run from outside.
pub(crate) enum Visit {
    /// Somebody debugs it from here on.
    Debugs(DebugSession),
    /// A run inside it stands still, or none does any more.
    StandsInside(bool),
}

/// A run stands still, and with it the one it is inside of, until this is dropped.
pub(crate) struct Standing {
    runs: LiveRuns,
    around: RunId,
}

impl LiveRuns {
    /// Takes control of a run that is under way. Whoever controlled it before no longer does.
    pub fn join(
        &self,
        run: RunId,
        pauses: bool,
        breakpoints: Vec<Breakpoint>,
    ) -> Result<Debugger, Unreached> {
        let (debugger, session) = Debugger::new(pauses, breakpoints);
        match &self.0.lock().get(&run).ok_or(Unreached::Absent)?.door {
            Door::NotYet => Err(Unreached::Busy),
            Door::Closed => Err(Unreached::Durable),
            Door::Open(sender) => {
                sender.try_send(session).map_err(|_| Unreached::Busy)?;
                Ok(debugger)
            }
        }
    }

    /// Ends a run that is under way, and does not wait for that. The engine of durable runs ends
    /// those.
    pub fn stop(&self, run: RunId) -> Result<(), Unreached> {
        let mut runs = self.0.lock();
        let place = runs.get_mut(&run).ok_or(Unreached::Absent)?;
        if matches!(place.door, Door::Closed) {
            return Err(Unreached::Durable);
        }
        place.is_stopped = true;
        if let Some(stop) = &place.stop {
            stop.cancel();
        }
        Ok(())
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

    /// Counts a run among those under way, and lets debuggers join unless it is closed to them;
    /// `is_around` says whether other runs may be inside it.
    pub(crate) fn enter(
        &self,
        id: RunId,
        is_open: bool,
        is_around: bool,
        caller: &CancellationToken,
    ) -> Entered {
        let (sender, joining) = mpsc::channel(1);
        // Whoever stops a run does not cancel the request that began it: it is answered.
        let cancel = caller.child_token();
        let mut runs = self.0.lock();
        let place = runs.entry(id).or_default();
        place.door = if is_open { Door::Open(sender) } else { Door::Closed };
        place.stop = Some(cancel.clone());
        let inside = is_around
            .then(|| place.standing.get_or_insert_with(watch::Sender::default).subscribe());
        if place.is_stopped {
            cancel.cancel();
        }
        Entered { runs: self.clone(), id, joining, cancel, inside }
    }

    /// Lets the run `around` stand still because one inside it does; none if it is not under way.
    pub(crate) fn stand(&self, around: RunId) -> Option<Standing> {
        let runs = self.0.lock();
        runs.get(&around)?.standing.as_ref()?.send_modify(|count| *count += 1);
        Some(Standing { runs: self.clone(), around })
    }
}

impl Entered {
    /// Whether somebody stopped the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.runs.0.lock().get(&self.id).is_some_and(|place| place.is_stopped)
    }
}

impl Entered {
    /// What comes next from outside.
    pub(crate) async fn visit(&mut self) -> Visit {
        let Self { joining, inside, .. } = self;
        tokio::select! {
            Some(session) = joining.recv() => Visit::Debugs(session),
            Some(stands) = stands(inside) => Visit::StandsInside(stands),
            // Both senders are there for as long as the run counts as under way.
            else => std::future::pending().await,
        }
    }
}

/// Whether a run inside stands still, once that has changed; none if there is never one.
async fn stands(inside: &mut Option<watch::Receiver<usize>>) -> Option<bool> {
    let inside = inside.as_mut()?;
    inside.changed().await.ok()?;
    Some(*inside.borrow_and_update() > 0)
}

impl Drop for Standing {
    fn drop(&mut self) {
        let runs = self.runs.0.lock();
        if let Some(standing) = runs.get(&self.around).and_then(|place| place.standing.as_ref()) {
            standing.send_modify(|count| *count = count.saturating_sub(1));
        }
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
        assert_eq!(live.join(run, true, Vec::new()).err(), Some(Unreached::Busy));
        let entered = live.enter(run, true, false, &CancellationToken::new());
        live.announce(run);
        assert!(live.join(run, true, Vec::new()).is_ok());
        drop(entered);
        assert!(!live.contains(run));
        assert_eq!(live.join(run, true, Vec::new()).err(), Some(Unreached::Absent));
    }

    #[test]
    fn a_run_is_stopped_for_itself_even_before_it_begins() {
        let (live, run, caller) = (LiveRuns::default(), RunId::new(), CancellationToken::new());
        assert_eq!(live.stop(run), Err(Unreached::Absent));
        let entered = live.enter(run, false, false, &caller);
        assert_eq!(live.stop(run), Err(Unreached::Durable));
        assert_eq!(live.join(run, true, Vec::new()).err(), Some(Unreached::Durable));
        drop(entered);
        live.announce(run);
        assert_eq!(live.stop(run), Ok(()));
        let entered = live.enter(run, true, false, &caller);
        assert!(entered.cancel.is_cancelled() && entered.is_stopped() && !caller.is_cancelled());
    }
}
