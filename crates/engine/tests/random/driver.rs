//! Drives a run by hand, with a clock and an order of its own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{
    Action, Call, ErrorKind, Event, Given, Outcome, PauseReason, Run, RunError, StepId, StepPath,
};
use mcpgraph_expr::Env;
use mcpgraph_graph::Graph;
use mcpgraph_value::{Map, Value};

/// Which of the actions under way is answered next.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// The oldest.
    InTurn,
    /// Any, by chance that can be repeated; now and then time passes first.
    Seeded(u64),
}

/// How a run ended and what it told.
pub(crate) struct Finished {
    pub(crate) outcome: Result<Value, RunError>,
    pub(crate) events: Vec<Event>,
    pub(crate) was_cancelled: bool,
}

pub(crate) struct Drive {
    pub(crate) run: Run,
    pub(crate) now: Duration,
    /// Handed out and not answered yet.
    pub(crate) under_way: Vec<Action>,
    events: Vec<Event>,
    paths: HashMap<StepId, StepPath>,
    attempts: HashMap<StepId, u32>,
    /// Decides which calls fail, by where they stand.
    luck: u64,
    pub(crate) order: Order,
}

/// No graph of these tests needs more moves; a run that does has no end.
pub(crate) const MAX_MOVES: usize = 500_000;

impl Order {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded(seed)
    }

    /// A number below `count`.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        match self {
            Self::InTurn => 0,
            Self::Seeded(state) => {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                usize::try_from(*state >> 33).unwrap() % count
            }
        }
    }
}

impl Drive {
    pub(crate) fn new(graph: &Arc<Graph>, luck: u64, order: Order) -> Self {
        let tool = graph.tool("main").expect("the tool");
        let input = Value::object(Map::from_iter([("n", 1)]));
        Self {
            run: Run::start(Arc::clone(graph), tool, input, Given { seed: luck, clock: 0 }),
            now: Duration::ZERO,
            under_way: Vec::new(),
            events: Vec::new(),
            paths: HashMap::new(),
            attempts: HashMap::new(),
            luck,
            order,
        }
    }

    pub(crate) fn until_it_ends(mut self) -> Finished {
        for _ in 0..MAX_MOVES {
            if self.is_over() {
                return self.finished(false);
            }
            self.step();
        }
        panic!("the run does not end");
    }

    pub(crate) fn cancelled_after(mut self, moves: usize) -> Finished {
        for _ in 0..moves {
            if self.is_over() {
                return self.finished(false);
            }
            self.step();
        }
        if self.is_over() {
            return self.finished(false);
        }
        self.run.cancel("enough", self.now);
        assert!(self.is_over(), "a cancelled run is over");
        self.finished(true)
    }

    /// As a debugger stops a run that stands still: what could begin never does.
    pub(crate) fn stopped_after(mut self, moves: usize) -> Finished {
        for _ in 0..moves {
            if self.is_over() {
                return self.finished(false);
            }
            self.step();
        }
        if self.run.outcome().is_none() {
            self.run.pause(PauseReason::Asked, self.now);
            self.run.resume(Duration::from_secs(9), self.now);
            self.run.cancel("enough", self.now);
        }
        assert!(self.is_over(), "a stopped run is over");
        self.finished(true)
    }

    /// Drives a run that has already begun.
    pub(crate) fn on(run: Run, record: &[Event], now: Duration, luck: u64) -> Self {
        let paths = record.iter().filter_map(|event| match event {
            Event::StepStarted { step, path, .. } => Some((*step, path.clone())),
            _ => None,
        });
        Self {
            run,
            now,
            under_way: Vec::new(),
            events: Vec::new(),
            paths: paths.collect(),
            attempts: HashMap::new(),
            luck,
            order: Order::InTurn,
        }
    }

    /// Takes all actions there are; whether the run has ended.
    fn is_over(&mut self) -> bool {
        while let Some(action) = self.run.poll(self.now) {
            self.listen();
            self.take(action);
        }
        self.listen();
        self.run.outcome().is_some()
    }

    /// Begins an action, or stops one.
    pub(crate) fn take(&mut self, action: Action) {
        match action {
            Action::Abort(step) => {
                let before = self.under_way.len();
                self.under_way.retain(|action| action.task() != step);
                assert_eq!(self.under_way.len() + 1, before, "abort of what is not under way");
            }
            action => {
                assert!(self.run.outcome().is_none(), "work after the end");
                let step = action.task();
                assert!(
                    self.under_way.iter().all(|other| other.task() != step),
                    "a step does two things at once"
                );
                self.under_way.push(action);
            }
        }
    }

    pub(crate) fn listen(&mut self) {
        for event in self.run.take_events() {
            if let Event::StepStarted { step, path, .. } = &event {
                self.paths.insert(*step, path.clone());
            }
            self.events.push(event);
        }
    }

    /// Answers one action, or lets time pass until something happens by itself.
    pub(crate) fn step(&mut self) {
        if self.under_way.is_empty() || self.order.pick(8) == 7 {
            let deadline = self.run.next_deadline().expect("a run that waits has a deadline");
            self.now = if self.under_way.is_empty() { self.now.max(deadline) } else { self.now };
            // Whoever keeps the time looks at it too late now and then.
            let late = self.order.pick(3) as u64;
            self.now += Duration::from_millis(late.max(u64::from(!self.under_way.is_empty())));
            if self.is_due() {
                self.run.tick(self.now);
            }
            return;
        }
        self.answer_one();
    }

    /// Whether something happens by itself now.
    pub(crate) fn is_due(&self) -> bool {
        self.run.next_deadline().is_some_and(|deadline| deadline <= self.now)
    }

    /// Answers one of the actions under way, of which there is one.
    pub(crate) fn answer_one(&mut self) {
        let index = self.order.pick(self.under_way.len());
        self.answer_at(index);
    }

    pub(crate) fn answer_at(&mut self, index: usize) {
        let action = self.under_way.remove(index);
        let step = action.task();
        let outcome = match action {
            Action::Evaluate(evaluation) => {
                Outcome::Evaluated(evaluation.run(&Env::at(evaluation.told_time())))
            }
            Action::Call(call) => Outcome::Called(self.answer(&call)),
            Action::Abort(_) => unreachable!("aborts are never under way"),
        };
        self.run.apply(step, outcome, self.now);
    }

    /// Most calls succeed. Where one fails depends on its place and attempt, never on the order.
    fn answer(&mut self, call: &Call) -> Result<Value, RunError> {
        let attempt = self.attempts.entry(call.step).or_default();
        *attempt += 1;
        let mut hasher = DefaultHasher::new();
        (self.luck, &self.paths[&call.step], *attempt).hash(&mut hasher);
        match hasher.finish() % 8 {
            0 => Err(RunError::new(ErrorKind::ToolError, "the tool failed")),
            1 => Err(RunError::new(ErrorKind::Unavailable, "the server is away")),
            _ => Ok(call.args.clone()),
        }
    }

    pub(crate) fn finished(mut self, was_cancelled: bool) -> Finished {
        assert!(self.under_way.is_empty(), "something is under way after the end");
        assert!(self.run.poll(self.now).is_none());
        assert!(self.run.next_deadline().is_none());
        let outcome = self.run.outcome().cloned().expect("an outcome");
        Finished { outcome, events: self.events, was_cancelled }
    }
}
