//! Runs of the record, gone on from: one way for every face.

use std::sync::Arc;

use mcpgraph_engine::{Event, NotChanged, StepId};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Calls, DivergenceReport, Journal, JournalError, RunSummary, compare};
use mcpgraph_value::Value;

use crate::{Fork, ForkError, Record, Runtime};

/// What a new run goes on from.
pub struct Recorded<'r> {
    /// Where the run is recorded.
    pub journal: &'r Journal,
    /// The run.
    pub run: &'r RunSummary,
    /// The graph that the new run is of.
    pub graph: &'r Arc<Graph>,
    /// Its tool.
    pub tool: &'r Arc<Tool>,
    /// Whether that is the recorded version, which calls what was called.
    pub is_recorded: bool,
}

/// A run that stands where a record does.
pub struct Recalled {
    /// The run.
    pub fork: Fork,
    /// Whether what it took from the record has masks in the place of secrets, which it sees.
    pub is_masked: bool,
    /// What is to be said of what could not be compared.
    pub note: Option<String>,
}

/// Why a recorded run could not be gone on from.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] JournalError),
    /// The graph does not do what the record says, or calls something else.
    #[error("the graph does something else than the record before that step")]
    Diverged(Box<DivergenceReport>),
    /// The record has no such step.
    #[error("the run has no step {0}")]
    NoStep(StepId),
    /// An output could not be changed.
    #[error("{0}")]
    NotChanged(NotChanged),
}

impl Runtime {
    /// Prepares a run that goes on from a recorded one at the step `from`, as [`Runtime::fork`]
    /// does. Outputs are taken over only from steps that call what they called, and only what is
    /// taken over has to be in the record whole. Blocks for as long as the store and the run's
    /// expressions take.
    pub fn recall(
        &self,
        recorded: &Recorded<'_>,
        from: StepId,
        changes: Vec<(Arc<str>, Value)>,
    ) -> Result<Recalled, RecallError> {
        let Recorded { journal, run, graph, tool, is_recorded } = *recorded;
        let events = journal.events_taken_over(run.id, tool.digest, from, &changes);
        let events = events.map_err(|error| match error {
            JournalError::NoStep { step, .. } => RecallError::NoStep(step),
            error => error.into(),
        })?;
        let calls = if is_recorded { Calls::same() } else { journal.calls(run, &events, graph)? };
        let is_same = |recorded: &Event, now: &Event| calls.is_same(recorded, now);
        let record = Record {
            graph: Arc::clone(graph),
            tool: Arc::clone(tool),
            events: &events,
            is_same: &is_same,
        };
        let fork = self.fork(&record, from, changes).map_err(|error| match error {
            ForkError::Diverged(divergence) => {
                RecallError::Diverged(Box::new(DivergenceReport::new(&divergence, &events, &calls)))
            }
            ForkError::NoStep(step) => RecallError::NoStep(step),
            ForkError::NotChanged(why) => RecallError::NotChanged(why),
        })?;
        let mut reused = events
            .iter()
            .take_while(|event| !matches!(event, Event::StepStarted { step, .. } if *step >= from));
        let is_masked = reused.any(compare::is_masked_event);
        Ok(Recalled { fork, is_masked, note: calls.note() })
    }
}
