//! The state of a run and the three ways it moves: an action is taken, an outcome comes back, time
//! passes.

mod ahead;
mod allowance;
mod checks;
mod children;
mod detached;
mod ending;
mod failing;
mod flow;
mod following;
mod holding;
mod patience;
mod pausing;
mod steps;
mod timers;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Body, Graph, Limits, NodeIx, Tool};
use mcpgraph_value::Value;

use self::allowance::Allowance;
use self::children::Children;
use self::detached::Detached;
pub use self::failing::Failing;
pub use self::flow::Flow;
pub use self::holding::Held;
use self::holding::Holding;
use self::patience::Patience;
pub use self::pausing::{NotChanged, Upcoming};
use self::timers::Timers;
use crate::{
    Action, ErrorKind, Event, Given, Outcome, Place, RunError, ScopeView, StepId, StepPath, TaskId,
};

/// One execution of a tool.
pub struct Run {
    graph: Arc<Graph>,
    limits: Limits,
    // In boxes: a map keeps room for many more than the one or two that most runs have.
    scopes: BTreeMap<ScopeId, Box<LiveScope>>,
    steps: BTreeMap<TaskId, Box<LiveStep>>,
    /// Calls that nothing waits for.
    detached: BTreeMap<TaskId, Detached>,
    /// Nodes that may begin.
    ready: VecDeque<(ScopeId, NodeIx)>,
    actions: VecDeque<Action>,
    timers: Timers,
    events: Vec<Event>,
    next_scope: ScopeId,
    next_task: u64,
    next_step: StepId,
    context_bytes: usize,
    is_paused: bool,
    /// Steps that are looked at when they end, if any are.
    holding: Option<Box<Holding>>,
    given: Given,
    /// How long it has stood still, in all.
    waited: Duration,
    /// Waiting for people, which does not count as its time.
    patience: Patience,
    /// What tools that were called inside it may use, where that is less than the run may.
    allowances: Vec<Allowance>,
    /// What it came to, which is final while detached calls are still under way.
    answer: Option<Result<Value, RunError>>,
    outcome: Option<Result<Value, RunError>>,
    /// The step whose failure nothing has taken care of.
    failing: Option<Box<Failing>>,
    /// Where that is.
    place: Option<Box<Place>>,
}

type ScopeId = u64;

/// A body that is being executed.
struct LiveScope {
    /// The step this is a part of, and which part; none for the tool that was called.
    parent: Option<(TaskId, usize)>,
    /// Set where the body is a whole tool, whose result must fit its `outputSchema`.
    tool: Option<Arc<Tool>>,
    body: Arc<Body>,
    view: ScopeView,
    /// The arguments of a tool, which its entry node passes on.
    input: Value,
    /// The last output that is data: what exit returns.
    result: Value,
    /// The node that gave it.
    result_of: Option<NodeIx>,
    /// The path of the steps in here, without their own position.
    prefix: Vec<u32>,
    next_position: u32,
    /// How many `graph` calls lead here.
    depth: usize,
    /// What its outputs hold in memory.
    bytes: usize,
}

/// A node that is being executed.
struct LiveStep {
    scope: ScopeId,
    node: NodeIx,
    path: StepPath,
    state: State,
    /// Retries so far.
    attempt: u32,
    /// When the attempt must be over.
    deadline: Option<Duration>,
    /// What it works on, once evaluated. A retry uses it again.
    input: Option<Value>,
    /// When it began.
    began: Duration,
    /// Its number, once its `StepStarted` is out. A step that is stopped while its input is still
    /// being evaluated has done nothing and is never told of.
    number: Option<StepId>,
}

enum State {
    /// Nothing is under way: it has just begun, has just been answered, or waits for its retry.
    Idle,
    /// An expression is being evaluated.
    Evaluating,
    /// Something outside is being called.
    Calling,
    /// A person is being asked.
    Asking,
    /// Bodies inside it are being executed.
    Containing(Children),
}

impl Run {
    /// Begins a run of a tool. Arguments that do not fit its schema end it at once.
    pub fn start(graph: Arc<Graph>, tool: &Arc<Tool>, input: Value, given: Given) -> Self {
        let mut run = Self {
            limits: tool.limits,
            graph,
            scopes: BTreeMap::new(),
            steps: BTreeMap::new(),
            detached: BTreeMap::new(),
            ready: VecDeque::new(),
            actions: VecDeque::new(),
            timers: Timers::default(),
            events: Vec::new(),
            next_scope: 0,
            next_task: 0,
            next_step: 0,
            context_bytes: 0,
            is_paused: false,
            holding: None,
            given,
            waited: Duration::ZERO,
            patience: Patience::default(),
            allowances: Vec::new(),
            answer: None,
            outcome: None,
            failing: None,
            place: None,
        };
        let input = tool.input.with_defaults(&input);
        run.events.push(Event::Started {
            tool: Arc::clone(&tool.name),
            digest: tool.digest,
            input: input.clone(),
            given,
        });
        match checks::check_input(tool, &input) {
            Ok(()) => {
                run.enter_tool(tool, input, None, Vec::new(), 0);
            }
            Err(error) => run.finish(Err(error), Duration::ZERO),
        }
        run
    }

    /// The next thing to do; none while outcomes are awaited, when the run has ended, and while it
    /// is paused, where only what is no longer wanted is stopped.
    pub fn poll(&mut self, now: Duration) -> Option<Action> {
        loop {
            if let Some(action) = self.next_action() {
                return Some(action);
            }
            if !self.begin_next(now) {
                return None;
            }
        }
    }

    /// What has to be done for the steps that have begun: the first half of [`Run::poll`].
    pub fn next_action(&mut self) -> Option<Action> {
        if self.is_paused { self.next_abort() } else { self.any_action() }
    }

    /// Lets the next step begin, the one that [`Run::upcoming`] tells of; false if none can. The
    /// second half of [`Run::poll`].
    pub fn begin_next(&mut self, now: Duration) -> bool {
        if self.is_paused {
            return false;
        }
        let Some((scope, node)) = self.ready.pop_front() else { return false };
        self.begin(scope, node, now);
        true
    }

    /// Takes the outcome of an action. An outcome nobody waits for any more is dropped.
    pub fn apply(&mut self, step: TaskId, outcome: Outcome, now: Duration) {
        let Some(live) = self.steps.get_mut(&step) else {
            self.detached_ended(step, outcome, now);
            return;
        };
        match (&live.state, outcome) {
            (State::Evaluating, Outcome::Evaluated(outcome)) => {
                live.state = State::Idle;
                match outcome {
                    Ok(evaluated) => self.evaluated(step, evaluated, now),
                    Err(error) => self.fail(step, error.into(), now),
                }
            }
            (State::Calling | State::Asking, Outcome::Called(outcome)) => {
                if matches!(std::mem::replace(&mut live.state, State::Idle), State::Asking) {
                    self.patience.ends(now);
                }
                match outcome {
                    Ok(output) => self.called(step, output, now),
                    Err(error) => self.fail(step, error, now),
                }
            }
            _ => {}
        }
    }

    /// When [`Run::tick`] wants to be called, if nothing happens before.
    pub fn next_deadline(&self) -> Option<Duration> {
        if self.outcome.is_some() {
            return None;
        }
        match self.time_limit() {
            Some(run) => Some(self.timers.next().map_or(run, |timer| timer.min(run))),
            None => self.timers.next(),
        }
    }

    /// Lets time pass: nodes that took too long fail, retries that are due begin. While the run
    /// stands still, its time does, too.
    pub fn tick(&mut self, now: Duration) {
        if self.is_paused || self.outcome.is_some() {
            return;
        }
        if self.is_out_of_time(now) {
            let (error, place) = self.out_of_time();
            self.give_up(error, place, now);
            return;
        }
        // What follows from the end of one that is held may be that another does not matter any more.
        while self.held_scope().is_none()
            && let Some(step) = self.timers.pop_due(now)
        {
            self.timer_fired(step, now);
        }
    }

    /// The caller has gone; everything stops.
    pub fn cancel(&mut self, reason: &str, now: Duration) {
        if self.outcome.is_none() {
            self.give_up(RunError::new(ErrorKind::Cancelled, reason), None, now);
        }
    }

    /// Ends the run for a reason that no node may handle.
    pub fn abort(&mut self, error: RunError, now: Duration) {
        if self.outcome.is_none() {
            self.give_up(error, None, now);
        }
    }

    /// What happened since this was last asked.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The same, added to a list that is used again and again.
    pub fn take_events_into(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.events);
    }

    /// What it came to, once it did; calls that nothing waits for may still be under way.
    pub fn answer(&self) -> Option<&Result<Value, RunError>> {
        self.answer.as_ref().or(self.outcome.as_ref())
    }

    /// The result, once the run has ended.
    pub fn outcome(&self) -> Option<&Result<Value, RunError>> {
        self.outcome.as_ref()
    }

    /// What the outputs of the run hold in memory, about.
    pub fn context_bytes(&self) -> usize {
        self.context_bytes
    }

    /// Stops everything that is under way and ends the run, for something at a node if it was.
    fn give_up(&mut self, error: RunError, at: Option<(ScopeId, NodeIx)>, now: Duration) {
        if self.answer.is_none() {
            self.place = at.and_then(|(scope, node)| self.place_of(scope, node)).map(Box::new);
        }
        if let Some(place) = at
            && !self.has_begun(place)
        {
            self.keep_failing(None, place.0);
        }
        // In the order of their numbers, which a replay knows: of what is evaluated for long, nobody
        // can tell afterwards when it began among others.
        let mut under_way: Vec<_> = self.steps.iter().map(|(id, s)| (s.number, *id)).collect();
        under_way.sort_unstable();
        for (_, id) in under_way.into_iter().rev() {
            if let Some((number, scope)) =
                self.steps.get(&id).and_then(|s| Some((s.number?, s.scope)))
            {
                self.keep_failing(Some(number), scope);
            }
            self.stop_step(id, &error, now);
        }
        self.stop_detached(&error, now);
        let outcome = self.answer.take().unwrap_or(Err(error));
        self.finish(outcome, now);
    }

    /// Whether a node of a body is under way, and was told of.
    fn has_begun(&self, place: (ScopeId, NodeIx)) -> bool {
        let mut here = self.steps.values().filter(|step| (step.scope, step.node) == place);
        here.any(|step| step.number.is_some())
    }

    /// The run came to something. It has ended when nothing is under way any more.
    fn conclude(&mut self, outcome: Result<Value, RunError>, now: Duration) {
        if self.detached.is_empty() {
            self.finish(outcome, now);
        } else {
            self.forget_bodies();
            self.answer = Some(outcome);
        }
    }

    fn finish(&mut self, outcome: Result<Value, RunError>, now: Duration) {
        self.forget_bodies();
        self.context_bytes = 0;
        self.events.push(Event::Finished { outcome: outcome.clone(), at: now });
        self.outcome = Some(outcome);
    }

    fn forget_bodies(&mut self) {
        self.drop_held(None);
        self.ready.clear();
        self.scopes.clear();
        self.allowances.clear();
    }
}
