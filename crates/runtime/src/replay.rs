//! Recorded runs: done again without the world, or gone on from.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_engine::{Divergence, Event, NotChanged, PauseReason, Progress, Replay, StepId};
use mcpgraph_graph::{Graph, Target, Tool};
use mcpgraph_value::Value;

use crate::runtime::Begun;
use crate::{Execution, Finished, Runtime};

/// What a recorded run is done again with.
pub struct Record<'r> {
    /// The graph: the recorded version, or another one.
    pub graph: Arc<Graph>,
    /// The tool that was called.
    pub tool: Arc<Tool>,
    /// Its events.
    pub events: &'r [Event],
    /// Whether an event of the record (the first) is what happened now (the second).
    pub is_same: &'r dyn Fn(&Event, &Event) -> bool,
}

/// A run that has done what a record says up to a step, and has not been driven on yet.
pub struct Fork {
    begun: Begun,
}

/// Why a run could not be gone on from.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The graph does not do what the record says.
    #[error("the graph does something else than the record before that step")]
    Diverged(Box<Divergence>),
    /// The record has no such step.
    #[error("the run has no step {0}")]
    NoStep(StepId),
    /// An output could not be changed.
    #[error("{0}")]
    NotChanged(NotChanged),
}

impl Runtime {
    /// Does a recorded run again, with recorded outputs in the place of upstream calls. Tells the
    /// first thing that happens otherwise. Blocks for as long as its expressions take.
    pub fn replay(&self, record: &Record<'_>) -> Result<(), Box<Divergence>> {
        let Some(mut replay) = record.start() else { return Ok(()) };
        replay.advance(None, |evaluation| self.evaluator.now(evaluation))?;
        Ok(())
    }

    /// Prepares a run that goes on from a record: what the record says of the steps before `from`
    /// is taken from it, with `changes` of outputs made just before that step, in a pause that
    /// lasts until now.
    pub fn fork(
        &self,
        record: &Record<'_>,
        from: StepId,
        changes: Vec<(Arc<str>, Value)>,
    ) -> Result<Fork, ForkError> {
        let mut replay = record.start().ok_or(ForkError::NoStep(from))?;
        let evaluate = |evaluation: &_| self.evaluator.now(evaluation);
        match replay.advance(Some(from), evaluate).map_err(ForkError::Diverged)? {
            Progress::Reached => {}
            Progress::Done => return Err(ForkError::NoStep(from)),
        }
        let now = replay.now();
        let mut events = record.events[..replay.position()].to_vec();
        let mut run = replay.into_run();
        run.pause(PauseReason::Asked, now);
        for (node, output) in changes {
            run.set_output(None, &node, output, now).map_err(ForkError::NotChanged)?;
        }
        // The world's time has gone on since, and what is executed now is to see it.
        run.resume(since(run.told(now)), now);
        events.extend(run.take_events());
        Ok(Fork { begun: Begun { run, events, now } })
    }

    /// Executes a fork to its end, as a run of its own. The input is the record's.
    pub async fn execute_fork(&self, fork: Fork, execution: Execution) -> Finished {
        self.go_on(execution, fork.begun).await
    }
}

/// How long ago a time was that expressions were told.
fn since(told: i64) -> Duration {
    let told = Duration::from_millis(u64::try_from(told).unwrap_or_default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Duration::from_micros(u64::try_from(now.saturating_sub(told).as_micros()).unwrap_or(u64::MAX))
}

impl Record<'_> {
    fn start(&self) -> Option<Replay<'_>> {
        Replay::new(Arc::clone(&self.graph), &self.tool, self.events, self.is_same)
    }
}

impl Fork {
    /// What it may call.
    pub fn effects_ahead(&self) -> BTreeSet<Target> {
        self.begun.run.effects_ahead()
    }
}
