//! Runs from their order to their record: begun, guarded against our own faults, ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{OptionFuture, ready};
use mcpgraph_durable::Stopped;
use mcpgraph_engine::{ErrorKind, Event, Given, Run, RunError};
use mcpgraph_expr::Budget;
use mcpgraph_graph::Tool;
use mcpgraph_journal::{NewRun, Origin, RunId, RunRecorder};
use tracing::{Instrument as _, Span, field};

use crate::clock::{Clock, to_millis};
use crate::debugging::Debugging;
use crate::drive::Drive;
use crate::durable::{self, Durably};
use crate::evaluate::Evaluator;
use crate::live::Entered;
use crate::observe::trace_id;
use crate::watch::Watchers;
use crate::work::Work;
use crate::{
    Asker, DurableRuns, Effects, Execution, Finished, Instruments, Observer, Questions, RunStart,
};

/// Executes runs. One serves any number of them at once; they share nothing but it. A clone is the
/// same one.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) effects: Arc<dyn Effects>,
    pub(crate) evaluator: Evaluator,
    instruments: Instruments,
}

impl Runtime {
    /// A runtime whose runs have these effects.
    pub fn new(effects: Arc<dyn Effects>) -> Self {
        let evaluator = Evaluator::new(Budget::default());
        Self { effects, evaluator, instruments: Instruments::default() }
    }

    /// The same runtime, whose runs are recorded and watched.
    #[must_use]
    pub fn with(mut self, instruments: Instruments) -> Self {
        self.instruments = instruments;
        self
    }

    /// The same runtime, with another observer of its runs.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.instruments.observers.push(observer);
        self
    }

    /// Whether its runs are recorded.
    pub fn is_recorded(&self) -> bool {
        self.instruments.journal.is_some()
    }

    /// Who sees its runs.
    pub fn observers(&self) -> &[Arc<dyn Observer>] {
        &self.instruments.observers
    }

    /// Where its runs ask people; none where they are not recorded.
    pub fn questions(&self) -> Option<Questions> {
        self.instruments.journal.as_ref().map(|journal| Questions::new(Arc::clone(journal)))
    }

    /// Its durable runs; none where there are none.
    pub fn durable(&self) -> Option<&Arc<DurableRuns>> {
        self.instruments.durable.as_ref().filter(|durable| durable.is_serving())
    }

    /// Executes a run to its end. A panic in it is its error and nobody else's.
    pub async fn execute(&self, execution: Execution) -> Finished {
        match &self.instruments.durable {
            Some(durable) if execution.is_durable() && durable.is_serving() => {
                Box::pin(durable.execute(self, execution)).await
            }
            _ => self.until_the_end(execution, None).await,
        }
    }

    /// Executes a durable run, as far as this process may.
    pub(crate) fn drive_durably<'a>(
        &'a self,
        execution: Execution,
        durably: Durably<'a>,
    ) -> impl Future<Output = Result<Finished, Stopped>> + Send + 'a {
        self.guarded(execution, None, Some(durably))
    }

    /// Drives a run on that has done something already.
    pub(crate) async fn go_on(&self, execution: Execution, begun: Begun) -> Finished {
        self.until_the_end(execution, Some(begun)).await
    }

    fn until_the_end(
        &self,
        execution: Execution,
        begun: Option<Begun>,
    ) -> impl Future<Output = Finished> + Send {
        let run = execution.id;
        // Only a durable run is stopped before it has ended.
        self.guarded(execution, begun, None).map(move |ended| ended.unwrap_or_else(|_| fault(run)))
    }

    /// The run itself is in memory of its own, which is free again while its record is waited for.
    fn guarded<'a>(
        &'a self,
        execution: Execution,
        begun: Option<Begun>,
        durably: Option<Durably<'a>>,
    ) -> impl Future<Output = Result<Finished, Stopped>> + Send + 'a {
        let run = execution.id;
        let driven = AssertUnwindSafe(Box::pin(self.drive(execution, begun, durably)));
        driven.catch_unwind().then(move |driven| match driven {
            Ok(Ok(ended)) => ended.committed().left_future(),
            Ok(Err(stopped)) => ready(Err(stopped)).right_future(),
            Err(_) => ready(Ok(fault(run))).right_future(),
        })
    }

    async fn drive(
        &self,
        execution: Execution,
        begun: Option<Begun>,
        durably: Option<Durably<'_>>,
    ) -> Result<Ended<impl Future<Output = bool> + Send>, Stopped> {
        let Execution {
            id,
            graph,
            tool,
            input,
            origin,
            caller,
            cancel,
            meta,
            debug,
            wrapped,
            answer,
            durable: _,
            given: own,
        } = execution;
        let own = own.unwrap_or_else(given);
        let clock = match &durably {
            Some(_) => Clock::of_steps(durable::began(own.clock)),
            None => Clock::at(begun.as_ref().map_or(Duration::ZERO, |begun| begun.now)),
        };
        let Instruments { journal, observers, live, durable } = &self.instruments;
        let start = RunStart {
            id,
            graph: Some(&graph),
            tool: &tool.name,
            digest: tool.digest,
            origin: &origin,
            at: clock.began(),
            // Without a store it ends with this process like all others.
            is_durable: durably.is_some()
                && durable.as_ref().is_some_and(|durable| durable.engine().is_lasting()),
        };
        let observers = observers.iter().filter_map(|observer| observer.begin(&start)).collect();
        let recorder = match journal {
            Some(journal) => {
                let new = NewRun {
                    id,
                    tool: Arc::clone(&tool.name),
                    digest: tool.digest,
                    definition: Some(Arc::clone(&graph.text)),
                    origin: origin.clone(),
                    started: clock.began(),
                };
                Some(match &durably {
                    Some(durably) => durable::record(journal, new, durably.is_again).await?,
                    None => journal.begin(new),
                })
            }
            None => None,
        };
        let asker = journal
            .as_ref()
            .map(|journal| Asker::new(journal, id, &tool.name, origin.principal.clone()));
        let mut watchers = Watchers::new(observers, recorder, caller);
        let span = log_span(id, &tool, &origin, &watchers);
        let mut run = match begun {
            Some(begun) => {
                let mut events = begun.events;
                for event in &events {
                    watchers.show(event);
                }
                watchers.record(&mut events);
                begun.run
            }
            None => Run::start(graph, &tool, input, own),
        };
        let debugging = Debugging::new(debug, &mut run);
        // Whoever debugs decides what comes next, which nobody could repeat.
        let entered =
            live.as_ref().map(|live| live.enter(id, durably.is_none(), wrapped.is_some(), &cancel));
        let cancel = entered.as_ref().map_or(cancel, |entered| entered.cancel.clone());
        let mut drive = Drive {
            runtime: self,
            id,
            run,
            clock,
            watchers,
            debugging,
            entered,
            durably,
            cancel,
            meta,
            wrapped,
            asker,
            answer,
            around: origin.around.and_then(|around| Some((around, live.clone()?))),
            standing: None,
            work: Work::default(),
            happened: Vec::new(),
        };
        let came_to = drive.until_it_ends().instrument(span).await;
        if let (Ok(_), Some(asker)) = (&came_to, &drive.asker) {
            asker.ended().await;
        }
        let is_kept = drive.durably.is_some() && came_to.is_ok();
        if is_kept {
            drive.kept().await?;
        }
        Ok(drive.end(came_to, is_kept))
    }
}

/// A run that has ended, and what is left of it while its record is written.
///
/// Many wait for one commit. What they hold meanwhile is taken out of the caches by the others, so
/// everything else of a run is gone by then.
pub(crate) struct Ended<C> {
    pub(crate) came_to: Result<Finished, Stopped>,
    /// Waits until the record is in the store, but not for ever; none where there is no record.
    pub(crate) committing: Option<C>,
    /// Until then the run counts as one that is at work.
    pub(crate) recorder: Option<RunRecorder>,
    pub(crate) entered: Option<Entered>,
}

impl<C: Future<Output = bool>> Ended<C> {
    /// What the run came to, once that may be told.
    fn committed(self) -> impl Future<Output = Result<Finished, Stopped>> {
        let Self { came_to, committing, recorder, entered } = self;
        // A loss is counted and logged where it happens; it is no reason to fail a call.
        OptionFuture::from(committing).map(move |_| {
            drop((recorder, entered));
            came_to
        })
    }
}

/// A run that has done something already, and what it did.
pub(crate) struct Begun {
    pub(crate) run: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) now: Duration,
}

/// What a run is given where nobody says what.
pub(crate) fn given() -> Given {
    Given { seed: fastrand::u64(..), clock: to_millis(SystemTime::now()) }
}

/// What a run came to in which we failed.
fn fault(run: RunId) -> Finished {
    let fault = "the run failed by a fault of mcpgraph";
    Finished::failed(run, RunError::new(ErrorKind::Internal, fault))
}

/// What log lines of a run carry. It is there for warnings too, so it cannot be a lesser span.
fn log_span(id: RunId, tool: &Tool, origin: &Origin, watchers: &Watchers) -> Span {
    let span = tracing::warn_span!("run", run = %id, tool = &*tool.name, trace_id = field::Empty);
    if !span.is_disabled() {
        let traced = watchers.trace_context(None);
        let trace = traced.as_ref().or(origin.trace.as_ref());
        if let Some(trace) = trace {
            watchers.caller.traced(trace);
            span.record("trace_id", trace_id(trace));
        }
    }
    span
}
