use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{OptionFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _};
use mcpgraph_durable::Stopped;
use mcpgraph_engine::{Action, ErrorKind, Event, Given, Outcome, Run, RunError};
use mcpgraph_expr::Budget;
use mcpgraph_graph::{Graph, Target, Tool};
use mcpgraph_journal::{NewRun, Origin, RunId, RunRecorder};
use mcpgraph_upstream::Raw;
use mcpgraph_value::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span, field};

use crate::clock::{Clock, to_millis};
use crate::debugging::Debugging;
use crate::durable::{self, Durably};
use crate::ending;
use crate::evaluate::Evaluator;
use crate::lines;
use crate::live::Entered;
use crate::observe::trace_id;
use crate::watch::Watchers;
use crate::work::Work;
use crate::{
    Asker, Caller, DebugSession, DurableRuns, EffectCall, Effects, Finished, Instruments, Observer,
    Questions, RunStart, Silent, Wrapped,
};

/// Executes runs. One serves any number of them at once; they share nothing but it. A clone is the
/// same one.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) effects: Arc<dyn Effects>,
    pub(crate) evaluator: Evaluator,
    instruments: Instruments,
}

/// What is to be run, for whom.
pub struct Execution {
    /// The run it becomes.
    pub id: RunId,
    /// The graph the tool belongs to; the run keeps it to the end.
    pub graph: Arc<Graph>,
    /// The tool.
    pub tool: Arc<Tool>,
    /// The arguments.
    pub input: Value,
    /// Where the call comes from.
    pub origin: Origin,
    /// Who asks.
    pub caller: Arc<dyn Caller>,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
    /// Entries of `_meta` to send along with every upstream call.
    pub meta: Vec<(String, Raw)>,
    /// The debugger that controls the run.
    pub debug: Option<DebugSession>,
    /// What the run of a workflow is put around.
    pub wrapped: Option<Arc<dyn Wrapped>>,
    /// Told what the run came to before it has ended, where calls that nothing waits for are still
    /// under way then. From there on nobody can cancel it.
    pub answer: Option<oneshot::Sender<Finished>>,
    /// Whether the run is to survive this process though its tool does not ask for it.
    pub durable: bool,
    /// What it is given from outside; the time and something random where there is nothing.
    pub given: Option<Given>,
}

/// After how many steps in a row a run lets others have their turn.
const STEPS_PER_TURN: u32 = 32;

impl Execution {
    /// A call that nobody watches, with nothing special about it.
    pub fn new(graph: Arc<Graph>, tool: Arc<Tool>, input: Value) -> Self {
        Self {
            id: RunId::new(),
            graph,
            tool,
            input,
            origin: Origin::default(),
            caller: Arc::new(Silent),
            cancel: CancellationToken::new(),
            meta: Vec::new(),
            debug: None,
            wrapped: None,
            answer: None,
            durable: false,
            given: None,
        }
    }

    /// Whether it is executed by the engine of durable runs, if there is one. Whoever debugs a run
    /// controls the execution, and a workflow is a part of the request it is put around.
    pub fn is_durable(&self) -> bool {
        (self.durable || self.tool.durable) && self.debug.is_none() && self.wrapped.is_none()
    }
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
        let start = RunStart {
            id,
            graph: Some(&graph),
            tool: &tool.name,
            digest: tool.digest,
            origin: &origin,
            at: clock.began(),
        };
        let Instruments { journal, observers, live, durable: _ } = &self.instruments;
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
        let run = match begun {
            Some(begun) => {
                let mut events = begun.events;
                events.iter().for_each(|event| watchers.show(event));
                watchers.record(&mut events);
                begun.run
            }
            None => Run::start(graph, &tool, input, own),
        };
        let mut drive = Drive {
            runtime: self,
            id,
            run,
            clock,
            watchers,
            debugging: Debugging::new(debug),
            // Whoever debugs decides what comes next, which nobody could repeat.
            entered: live.as_ref().map(|live| live.enter(id, durably.is_none())),
            durably,
            cancel,
            meta,
            wrapped,
            asker,
            answer,
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
struct Ended<C> {
    came_to: Result<Finished, Stopped>,
    /// Waits until the record is in the store, but not for ever; none where there is no record.
    committing: Option<C>,
    /// Until then the run counts as one that is at work.
    recorder: Option<RunRecorder>,
    entered: Option<Entered>,
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

/// A run that has done something already, and what it did.
pub(crate) struct Begun {
    pub(crate) run: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) now: Duration,
}

/// A run under way.
pub(crate) struct Drive<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) clock: Clock,
    pub(crate) watchers: Watchers,
    debugging: Debugging,
    /// The place where debuggers may join.
    entered: Option<Entered>,
    pub(crate) cancel: CancellationToken,
    pub(crate) meta: Vec<(String, Raw)>,
    wrapped: Option<Arc<dyn Wrapped>>,
    pub(crate) asker: Option<Asker>,
    answer: Option<oneshot::Sender<Finished>>,
    pub(crate) work: Work<'a>,
    /// What it has besides if it is durable.
    pub(crate) durably: Option<Durably<'a>>,
    /// Room for what happened in a step.
    happened: Vec<Event>,
}

impl Drive<'_> {
    /// Gives the last of the record to be written, unless it is in the store, and keeps nothing but
    /// what has to wait for that.
    fn end(
        mut self,
        came_to: Result<Finished, Stopped>,
        is_kept: bool,
    ) -> Ended<impl Future<Output = bool> + Send + use<>> {
        let mut recorder = self.watchers.recorder.take();
        let entered = self.entered.take();
        let committing = recorder.as_mut().filter(|_| !is_kept).map(RunRecorder::committed);
        match committing {
            Some(committing) if came_to.is_ok() && self.watchers.caller.keeps_back() => {
                let over = committing.map(move |_| drop((recorder, entered)));
                self.watchers.caller.keep_back(over.boxed());
                Ended { came_to, committing: None, recorder: None, entered: None }
            }
            committing => Ended { came_to, committing, recorder, entered },
        }
    }

    async fn until_it_ends(&mut self) -> Result<Finished, Stopped> {
        let mut steps = 0;
        loop {
            self.tell();
            while self.advance() {
                self.tell();
                steps += 1;
                if steps % STEPS_PER_TURN == 0 {
                    tokio::task::yield_now().await;
                    self.run.tick(self.clock.now());
                    self.look_up();
                }
            }
            self.tell();
            if self.run.outcome().is_some()
                && let Some(finished) = Finished::of(self.id, &self.run)
            {
                return Ok(finished);
            }
            self.watchers.pause();
            if self.debugging.has_news() {
                self.watchers.committed().await;
                self.debugging.tell(&self.run);
            }
            self.answer_early();
            if self.durably.is_none() {
                self.wait().await;
                continue;
            }
            if self.watchers.are_refused() {
                return Err(Stopped::Elsewhere);
            }
            self.wait_durably().await;
            if let Some(stopped) = self.durably.as_mut().and_then(|durably| durably.stopped.take())
            {
                return Err(stopped);
            }
        }
    }

    /// Does the next thing there is to do; false if everything is under way.
    fn advance(&mut self) -> bool {
        let Some(action) = self.run.next_action() else {
            let evaluator = &self.runtime.evaluator;
            return !self.debugging.stops(&mut self.run, &mut self.clock, evaluator)
                && self.run.begin_next(self.clock.now());
        };
        match action {
            Action::Evaluate(evaluation) => {
                let task = evaluation.task();
                match self.runtime.evaluator.try_now(&evaluation) {
                    Some(outcome) => {
                        // It shares the run's history, which is then changed in place.
                        drop(evaluation);
                        self.run.apply(task, outcome, self.clock.now());
                    }
                    None => {
                        let evaluator = &self.runtime.evaluator;
                        self.work.add(task, |_| evaluator.slowly(evaluation));
                    }
                }
            }
            Action::Call(call) if self.durably.is_some() => self.fly(call),
            Action::Call(call) => {
                let task = call.task;
                let trace = self.watchers.trace_context(Some(call.step));
                let caller = Arc::clone(&self.watchers.caller);
                let meta = self.meta.clone();
                let effects = &self.runtime.effects;
                let said = self.work.listen(task, call.step);
                let wrapped = self.wrapped.clone();
                let asker = self.asker.clone();
                self.work.add(task, |cancel| async move {
                    Outcome::Called(match (&call.target, wrapped) {
                        (Target::Wrapped, Some(wrapped)) => {
                            wrapped.call(call.args, trace, cancel).await
                        }
                        _ => {
                            let call =
                                EffectCall { call, cancel, caller, meta, trace, said, asker };
                            effects.call(call).await
                        }
                    })
                });
            }
            Action::Abort(task) => {
                self.work.stop(task);
                self.ground(task);
            }
        }
        true
    }

    /// Sees whether somebody wants something of a run that has a lot to do.
    fn look_up(&mut self) {
        if self.cancel.is_cancelled() {
            self.run.cancel(ending::why_cancelled(), self.clock.now());
        }
        if let Some(entered) = &mut self.entered
            && let Ok(session) = entered.joining.try_recv()
        {
            self.debugging.join(session, &mut self.run, &mut self.clock);
        }
        while let Some(command) = self.debugging.take_command() {
            self.debugging.obey(Some(command), &mut self.run, &mut self.clock);
        }
    }

    /// Waits for whatever comes first: an outcome, a deadline, the caller, the debugger.
    async fn wait(&mut self) {
        let deadline = self.run.next_deadline().unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.clock.now());
        let (work, debugging, entered) = (&mut self.work, &mut self.debugging, &mut self.entered);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                self.run.cancel(ending::why_cancelled(), self.clock.now());
            }
            Some((task, outcome)) = work.running.next(), if !work.running.is_empty() => {
                // What was stopped says nothing; the step may be at its next attempt by now.
                if let Some(outcome) = outcome {
                    let now = self.clock.now();
                    for (step, level, line) in work.heard(task) {
                        self.run.log(step, level, line, now);
                    }
                    work.stop(task);
                    self.run.apply(task, outcome, self.clock.now());
                }
            }
            // Before the commands: the debugger that is replaced goes away, which releases the run.
            Some(session) = joining(entered) => {
                debugging.join(session, &mut self.run, &mut self.clock);
            }
            command = debugging.next_command() => {
                debugging.obey(command, &mut self.run, &mut self.clock);
            }
            () = tokio::time::sleep(left), if !self.run.is_paused() => {
                self.run.tick(self.clock.now());
            }
        }
    }

    /// Tells whoever waits what the run came to, if only calls that nothing waits for go on.
    fn answer_early(&mut self) {
        if self.answer.is_some()
            && let Some(finished) = Finished::of(self.id, &self.run)
            && let Some(answer) = self.answer.take()
        {
            // Nobody may wait any more.
            drop(answer.send(finished));
            self.cancel = CancellationToken::new();
        }
    }

    /// Tells everyone what happened.
    pub(crate) fn tell(&mut self) {
        let mut happened = mem::take(&mut self.happened);
        self.run.take_events_into(&mut happened);
        for event in &happened {
            let evaluator = &self.runtime.evaluator;
            self.debugging.saw(event, &mut self.run, &mut self.clock, evaluator);
            lines::write(event);
            self.watchers.show(event);
        }
        self.watchers.record(&mut happened);
        self.happened = happened;
    }
}

/// The next debugger that joins; waits for ever where none can.
async fn joining(entered: &mut Option<Entered>) -> Option<DebugSession> {
    match entered {
        Some(entered) => entered.joining.recv().await,
        None => std::future::pending().await,
    }
}
