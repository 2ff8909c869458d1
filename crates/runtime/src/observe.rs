//! Whoever wants to see every run: telemetry, metrics.

use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_graph::{Digest, Graph};
use mcpgraph_journal::{Journal, Origin, Redaction, RunId, TraceContext};

use crate::{DurableRuns, LiveRuns};

/// What runs are recorded in and watched by.
#[derive(Clone, Default)]
pub struct Instruments {
    /// Where they are recorded; none if they are not.
    pub journal: Option<Arc<Journal>>,
    /// Who sees them.
    pub observers: Vec<Arc<dyn Observer>>,
    /// Where debuggers find them; none if they cannot be joined.
    pub live: Option<LiveRuns>,
    /// What has durable runs executed to their end; none where no run is durable.
    pub durable: Option<Arc<DurableRuns>>,
}

impl Instruments {
    /// Masks this in records and in what observers send, from now on.
    pub fn set_redaction(&self, redaction: &Redaction) {
        if let Some(journal) = &self.journal {
            journal.set_redaction(redaction);
        }
        for observer in &self.observers {
            observer.set_redaction(redaction);
        }
    }
}

/// Sees the runs of a runtime.
pub trait Observer: Send + Sync {
    /// A run begins; none if this one is not to be watched.
    fn begin(&self, run: &RunStart<'_>) -> Option<Box<dyn RunObserver>>;

    /// What must be masked from now on in whatever leaves the process.
    fn set_redaction(&self, redaction: &Redaction) {
        let _ = redaction;
    }
}

/// Sees one run. It is called between steps and must not wait for anything.
pub trait RunObserver: Send {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// The trace context that goes along with the calls of a step, or the run's own if no step is
    /// named; none leaves the caller's.
    fn trace_context(&self, step: Option<StepId>) -> Option<TraceContext> {
        let _ = step;
        None
    }
}

/// A run that begins.
pub struct RunStart<'a> {
    /// Its id.
    pub id: RunId,
    /// The graph that is executed; none where somebody outside decides what comes next, as in the
    /// walk of a procedure.
    pub graph: Option<&'a Arc<Graph>>,
    /// The name of the tool that was called.
    pub tool: &'a Arc<str>,
    /// The digest of what the tool was made from.
    pub digest: Digest,
    /// Who asked.
    pub origin: &'a Origin,
    /// When.
    pub at: SystemTime,
}
