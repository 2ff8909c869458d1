use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use mcpgraph_engine::{Action, ErrorKind, Outcome, Run, RunError, StepId};
use mcpgraph_expr::Budget;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_upstream::Raw;
use mcpgraph_value::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::evaluate::Evaluator;
use crate::{Caller, Observer, RunObserver, RunStart, ToolCall, Tools};

/// Executes runs. One serves any number of them at once; they share nothing but it.
pub struct Runtime {
    tools: Arc<dyn Tools>,
    evaluator: Evaluator,
    observers: Vec<Arc<dyn Observer>>,
}

/// What is to be run, for whom.
pub struct Execution {
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
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The run.
    pub run: RunId,
    /// Its result or its error.
    pub outcome: Result<Value, RunError>,
}

/// After how many steps in a row a run lets others have their turn.
const STEPS_PER_TURN: u32 = 32;

impl Runtime {
    /// A runtime whose `mcp` nodes call these tools.
    pub fn new(tools: Arc<dyn Tools>) -> Self {
        Self { tools, evaluator: Evaluator::new(Budget::default()), observers: Vec::new() }
    }

    /// The same runtime, with another observer of its runs.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Executes a run to its end. A panic in it is its error and nobody else's.
    pub async fn execute(&self, execution: Execution) -> Finished {
        let run = RunId::new();
        let driven = AssertUnwindSafe(self.drive(run, execution)).catch_unwind().await;
        let outcome = driven.unwrap_or_else(|_| {
            Err(RunError::new(ErrorKind::Internal, "the run failed by a fault of mcpgraph"))
        });
        Finished { run, outcome }
    }

    async fn drive(&self, id: RunId, execution: Execution) -> Result<Value, RunError> {
        let Execution { graph, tool, input, origin, caller, cancel, meta } = execution;
        let begun = RunStart { id, tool: &tool, origin: &origin, at: SystemTime::now() };
        let mut watchers = Watchers {
            observers: self.observers.iter().filter_map(|all| all.begin(&begun)).collect(),
            caller,
        };
        let start = Instant::now();
        let mut run = Run::start(graph, &tool, input);
        let mut work = Work { running: FuturesUnordered::new(), stops: HashMap::new() };
        let mut steps = 0;
        loop {
            while let Some(action) = run.poll(start.elapsed()) {
                match action {
                    Action::Evaluate(evaluation) => {
                        let step = evaluation.step();
                        match self.evaluator.try_now(&evaluation) {
                            Some(outcome) => {
                                // It shares the run's history, which is then changed in place.
                                drop(evaluation);
                                run.apply(step, outcome, start.elapsed());
                            }
                            None => work.add(step, |_| self.evaluator.slowly(evaluation)),
                        }
                    }
                    Action::Call(call) => {
                        let step = call.step;
                        let trace = watchers.trace_context(step);
                        let call = |stop| {
                            let (caller, meta) = (Arc::clone(&watchers.caller), meta.clone());
                            self.call(ToolCall { call, cancel: stop, caller, meta, trace })
                        };
                        work.add(step, call);
                    }
                    Action::Abort(step) => work.stop(step),
                }
                watchers.publish(&mut run);
                steps += 1;
                if steps % STEPS_PER_TURN == 0 {
                    tokio::task::yield_now().await;
                    run.tick(start.elapsed());
                    if cancel.is_cancelled() {
                        run.cancel("the caller cancelled the call", start.elapsed());
                    }
                }
            }
            watchers.publish(&mut run);
            if let Some(outcome) = run.outcome() {
                return outcome.clone();
            }
            let deadline = run.next_deadline().unwrap_or(Duration::MAX);
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    run.cancel("the caller cancelled the call", start.elapsed());
                }
                Some((step, outcome)) = work.running.next(), if !work.running.is_empty() => {
                    // What was stopped says nothing; the step may be at its next attempt by now.
                    if let Some(outcome) = outcome {
                        work.stop(step);
                        run.apply(step, outcome, start.elapsed());
                    }
                }
                () = tokio::time::sleep(deadline.saturating_sub(start.elapsed())) => {
                    run.tick(start.elapsed());
                }
            }
        }
    }

    fn call(&self, call: ToolCall) -> impl Future<Output = Outcome> + Send {
        async move { Outcome::Called(self.tools.call(call).await) }
    }
}

/// Everyone who sees a run.
struct Watchers {
    observers: Vec<Box<dyn RunObserver>>,
    caller: Arc<dyn Caller>,
}

impl Watchers {
    fn publish(&mut self, run: &mut Run) {
        for event in run.take_events() {
            for observer in &mut self.observers {
                observer.event(&event);
            }
            self.caller.event(&event);
        }
    }

    /// What the calls of a step carry of the trace, if somebody traces.
    fn trace_context(&self, step: StepId) -> Option<TraceContext> {
        self.observers.iter().find_map(|observer| observer.trace_context(step))
    }
}

/// What is under way for a run. Dropping it stops all of it.
struct Work<'a> {
    running: FuturesUnordered<BoxFuture<'a, (StepId, Option<Outcome>)>>,
    stops: HashMap<StepId, DropGuard>,
}

impl<'a> Work<'a> {
    /// Begins something for a step; it is given the token that stops it.
    fn add<W>(&mut self, step: StepId, begin: impl FnOnce(CancellationToken) -> W)
    where
        W: Future<Output = Outcome> + Send + 'a,
    {
        let stop = CancellationToken::new();
        self.stops.insert(step, stop.clone().drop_guard());
        let work = begin(stop.clone());
        self.running.push(
            async move {
                tokio::select! {
                    biased;
                    // It is looked at once more when it is stopped, and must not answer then.
                    outcome = work => (step, (!stop.is_cancelled()).then_some(outcome)),
                    () = stop.cancelled() => (step, None),
                }
            }
            .boxed(),
        );
    }

    /// Stops what is under way for a step; nothing if nothing is.
    fn stop(&mut self, step: StepId) {
        drop(self.stops.remove(&step));
    }
}
