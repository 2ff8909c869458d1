use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_journal::{RunRecorder, TraceContext};

use crate::{Caller, RunObserver, lines};

/// Everyone who sees a run: its record, observers, and whoever asked for it.
pub(crate) struct Watchers {
    pub(crate) observers: Vec<Box<dyn RunObserver>>,
    pub(crate) recorder: Option<RunRecorder>,
    pub(crate) caller: Arc<dyn Caller>,
    /// The caller listens, and nobody records: it is told right away.
    tells_caller: bool,
    /// How many of the next events an earlier execution of a durable run has recorded.
    told_before: u64,
    /// The step whose outcome comes next and is an earlier execution's.
    recalled: Option<StepId>,
}

impl Watchers {
    pub(crate) fn new(
        observers: Vec<Box<dyn RunObserver>>,
        recorder: Option<RunRecorder>,
        caller: Arc<dyn Caller>,
    ) -> Self {
        let listens = caller.listens();
        let tells_caller = listens && recorder.is_none();
        let told_before = recorder.as_ref().map_or(0, RunRecorder::recorded_before);
        let recorder = recorder.map(|recorder| {
            if !listens {
                return recorder;
            }
            let caller = Arc::clone(&caller);
            recorder.telling(Arc::new(move |event: &Event| caller.event(event)))
        });
        Self { observers, recorder, caller, tells_caller, told_before, recalled: None }
    }

    /// Shows an event to everyone who does not keep it. The caller is told what is in the record
    /// already, so that a step somebody has heard of is never lost. The log has every line once.
    pub(crate) fn show(&mut self, event: &Event) {
        let is_again = self.is_told_again(event);
        if !is_again {
            lines::write(event);
        }
        for observer in &mut self.observers {
            if is_again {
                observer.told_again(event);
            } else {
                observer.event(event);
            }
        }
        if self.tells_caller {
            self.caller.event(event);
        }
    }

    /// Whether an earlier execution has told of an event, or would have, had it lived to do so.
    fn is_told_again(&mut self, event: &Event) -> bool {
        if self.told_before > 0 {
            self.told_before -= 1;
            return true;
        }
        match event {
            Event::StepFinished { step, .. }
            | Event::StepFailed { step, .. }
            | Event::Retrying { step, .. } => self.recalled == Some(*step),
            _ => false,
        }
    }

    /// The outcome of a step is one that an earlier execution kept. It may not have come to record
    /// what follows from it.
    pub(crate) fn recalled(&mut self, step: StepId) {
        self.recalled = Some(step);
    }

    /// Records what was shown, and leaves the list empty.
    pub(crate) fn record(&mut self, events: &mut Vec<Event>) {
        self.recalled = None;
        match &mut self.recorder {
            Some(recorder) => recorder.record_all(events),
            None => events.clear(),
        }
    }

    /// The run is going to wait for what may come at once; after how long to call this again if it
    /// does not, so that what happened can be read meanwhile.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        self.recorder.as_mut().and_then(RunRecorder::pause)
    }

    /// What happened so far can be read from now on.
    pub(crate) fn hand_over(&mut self) {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mcpgraph_value::Value;
    use parking_lot::Mutex;
    use tracing::{Metadata, Subscriber, span};

    use super::*;
    use crate::caller::Silent;

    /// Notes which steps ended, and whether that was told again.
    struct Notes(Arc<Mutex<Vec<(StepId, bool)>>>);

    impl Notes {
        fn note(&self, event: &Event, is_again: bool) {
            if let Event::StepFinished { step, .. } = event {
                self.0.lock().push((*step, is_again));
            }
        }
    }

    impl RunObserver for Notes {
        fn event(&mut self, event: &Event) {
            self.note(event, false);
        }

        fn told_again(&mut self, event: &Event) {
            self.note(event, true);
        }
    }

    /// Told again is what is in the record, and the outcome that was kept of a call: a process may
    /// be gone between the two.
    #[test]
    fn what_an_earlier_execution_did_is_told_again() {
        let noted = Arc::default();
        let observers: Vec<Box<dyn RunObserver>> = vec![Box::new(Notes(Arc::clone(&noted)))];
        let mut watchers = Watchers::new(observers, None, Arc::new(Silent));
        watchers.told_before = 1;
        let happens = |watchers: &mut Watchers, steps: &[StepId]| {
            let at = Duration::ZERO;
            let ends = |&step| Event::StepFinished { step, output: Value::Null, edge: None, at };
            let mut events: Vec<_> = steps.iter().map(ends).collect();
            for event in &events {
                watchers.show(event);
            }
            watchers.record(&mut events);
        };
        happens(&mut watchers, &[0]);
        watchers.recalled(2);
        happens(&mut watchers, &[1, 2]);
        happens(&mut watchers, &[2]);
        assert_eq!(*noted.lock(), [(0, true), (1, false), (2, true), (2, false)]);
    }

    /// Counts the lines of the log.
    struct Lines(Arc<AtomicUsize>);

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, _: &tracing::Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn the_log_has_a_line_once() {
        let count = Arc::<AtomicUsize>::default();
        let _logged = tracing::subscriber::set_default(Lines(Arc::clone(&count)));
        let mut watchers = Watchers::new(Vec::new(), None, Arc::new(Silent));
        let ended = Event::Finished { outcome: Ok(Value::Null), at: Duration::ZERO };
        watchers.told_before = 1;
        watchers.show(&ended);
        assert_eq!(count.load(Ordering::Relaxed), 0, "an earlier execution told of it");
        watchers.show(&ended);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
