use std::sync::Arc;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_journal::{Delivery, RunRecorder, TraceContext};

use crate::{Caller, RunObserver};

/// Everyone who sees a run: its record, observers, and whoever asked for it.
pub(crate) struct Watchers {
    pub(crate) observers: Vec<Box<dyn RunObserver>>,
    pub(crate) recorder: Option<RunRecorder>,
    pub(crate) caller: Arc<dyn Caller>,
    /// Tells the caller of an event once it is in the record; none if the caller does not listen.
    delivery: Option<Delivery>,
}

impl Watchers {
    pub(crate) fn new(
        observers: Vec<Box<dyn RunObserver>>,
        recorder: Option<RunRecorder>,
        caller: Arc<dyn Caller>,
    ) -> Self {
        let delivery = caller.listens().then(|| {
            let caller = Arc::clone(&caller);
            Arc::new(move |event: &Event| caller.event(event)) as Delivery
        });
        Self { observers, recorder, caller, delivery }
    }

    /// Tells everyone. The caller is told what is in the record already, so that a step somebody
    /// has heard of is never lost.
    pub(crate) fn tell(&mut self, event: &Event) {
        for observer in &mut self.observers {
            observer.event(event);
        }
        match (&self.recorder, &self.delivery) {
            (Some(recorder), delivery) => recorder.record(event, delivery.clone()),
            (None, Some(deliver)) => deliver(event),
            (None, None) => {}
        }
    }

    /// What the calls of a step carry of the trace, if somebody traces; or of the whole run.
    pub(crate) fn trace_context(&self, step: Option<StepId>) -> Option<TraceContext> {
        self.observers.iter().find_map(|observer| observer.trace_context(step))
    }

    /// Waits, but not for ever, until all that was told is in the record.
    pub(crate) async fn committed(&mut self) {
        if let Some(recorder) = &self.recorder {
            // A loss is counted and logged where it happens; it is no reason to fail a call.
            recorder.committed().await;
        }
    }
}
