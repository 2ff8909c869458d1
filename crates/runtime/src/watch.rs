use std::sync::Arc;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_journal::{RunRecorder, TraceContext};

use crate::{Caller, RunObserver};

/// Everyone who sees a run: its record, observers, and whoever asked for it.
pub(crate) struct Watchers {
    pub(crate) observers: Vec<Box<dyn RunObserver>>,
    pub(crate) recorder: Option<RunRecorder>,
    pub(crate) caller: Arc<dyn Caller>,
    /// The caller listens, and nobody records: it is told right away.
    tells_caller: bool,
}

impl Watchers {
    pub(crate) fn new(
        observers: Vec<Box<dyn RunObserver>>,
        recorder: Option<RunRecorder>,
        caller: Arc<dyn Caller>,
    ) -> Self {
        let listens = caller.listens();
        let tells_caller = listens && recorder.is_none();
        let recorder = recorder.map(|recorder| {
            if !listens {
                return recorder;
            }
            let caller = Arc::clone(&caller);
            recorder.telling(Arc::new(move |event: &Event| caller.event(event)))
        });
        Self { observers, recorder, caller, tells_caller }
    }

    /// Shows an event to everyone who does not keep it. The caller is told what is in the record
    /// already, so that a step somebody has heard of is never lost.
    pub(crate) fn show(&mut self, event: &Event) {
        for observer in &mut self.observers {
            observer.event(event);
        }
        if self.tells_caller {
            self.caller.event(event);
        }
    }

    /// Records what was shown, and leaves the list empty.
    pub(crate) fn record(&mut self, events: &mut Vec<Event>) {
        match &mut self.recorder {
            Some(recorder) => recorder.record_all(events),
            None => events.clear(),
        }
    }

    /// The run is going to wait: what happened so far can be read meanwhile.
    pub(crate) fn pause(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over();
        }
    }

    /// What the calls of a step carry of the trace, if somebody traces; or of the whole run.
    pub(crate) fn trace_context(&self, step: Option<StepId>) -> Option<TraceContext> {
        self.observers.iter().find_map(|observer| observer.trace_context(step))
    }

    /// Waits, but not for ever, until all that was told is in the record.
    pub(crate) async fn committed(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            // A loss is counted and logged where it happens; it is no reason to fail a call.
            recorder.committed().await;
        }
    }

    /// Waits until all that was told of a durable run is in the record, or part of it is lost.
    pub(crate) async fn kept(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.kept().await;
        }
    }

    /// Whether somebody else has taken the durable run over.
    pub(crate) fn are_refused(&self) -> bool {
        self.recorder.as_ref().is_some_and(RunRecorder::is_refused)
    }
}
