//! Whoever wants to see every run: telemetry, metrics.

use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::{Event, RunError, StepId};
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

    /// A call begins that is passed on as it is; none if it is not to be watched.
    fn pass(&self, call: &PassStart<'_>) -> Option<Box<dyn PassObserver>> {
        let _ = call;
        None
    }

    /// What must be masked from now on in whatever leaves the process.
    fn set_redaction(&self, redaction: &Redaction) {
        let _ = redaction;
    }
}

/// Sees one run. It is called between steps and must not wait for anything.
pub trait RunObserver: Send {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Something is told again: an earlier execution of a durable run recorded it, or kept the
    /// outcome of the call that it is about. Whoever counts has nothing to count then.
    fn told_again(&mut self, event: &Event) {
        self.event(event);
    }

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
    /// Whether it goes on elsewhere, or later, if this execution does not come to its end; and
    /// whether it may have begun before this execution.
    pub is_durable: bool,
}

/// Sees one call of a tool that is passed on to another server without a run. One that is dropped
/// before its end was given up.
pub trait PassObserver: Send {
    /// The trace context that goes along with the call; none leaves the caller's.
    fn trace_context(&self) -> Option<TraceContext> {
        None
    }

    /// The call has ended: with a result, as JSON, or a failure.
    fn ended(self: Box<Self>, outcome: Result<&str, &RunError>);
}

/// A call that is passed on.
pub struct PassStart<'a> {
    /// The name by which the client called the tool.
    pub tool: &'a str,
    /// The server that has the tool.
    pub server: &'a str,
    /// The server's own name for the tool.
    pub inner: &'a str,
    /// The arguments, as JSON.
    pub arguments: &'a str,
    /// Who asked.
    pub origin: &'a Origin,
    /// When.
    pub at: SystemTime,
}

/// The id of the trace that a context is of; none where it is not written as W3C says.
pub fn trace_id(context: &TraceContext) -> Option<&str> {
    let id = context.traceparent.get(3..35)?;
    id.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(id)
}
