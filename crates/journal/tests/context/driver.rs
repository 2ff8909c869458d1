//! Drives a run by hand and looks at what the steps see when they are evaluated.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Action, ErrorKind, Event, Given, Outcome, Run, RunError, StepId, StepPath};
use mcpgraph_expr::{Env, Scope as _};
use mcpgraph_graph::Graph;
use mcpgraph_value::{Map, Value};

/// What a run told, and what its steps saw.
pub(crate) struct Driven {
    pub(crate) events: Vec<Event>,
    pub(crate) seen: BTreeMap<StepId, Value>,
}

struct Driver {
    run: Run,
    driven: Driven,
    under_way: Vec<Action>,
    /// The steps that are open, by their place.
    open: HashMap<StepPath, StepId>,
    /// What steps saw that are told of when their input is there.
    unnamed: HashMap<StepPath, Value>,
    chance: u64,
}

/// Runs the tool `main` to its end.
pub(crate) fn drive(graph: &Arc<Graph>, luck: u64) -> Driven {
    let tool = graph.tool("main").unwrap();
    let input = Value::object(Map::from_iter([("n", 1)]));
    let mut driver = Driver {
        run: Run::start(Arc::clone(graph), tool, input, Given { seed: luck, clock: 0 }),
        driven: Driven { events: Vec::new(), seen: BTreeMap::new() },
        under_way: Vec::new(),
        open: HashMap::new(),
        unnamed: HashMap::new(),
        chance: luck,
    };
    let mut now = Duration::ZERO;
    while driver.run.outcome().is_none() {
        while let Some(action) = driver.run.poll(now) {
            driver.listen();
            driver.take(action);
        }
        driver.listen();
        if driver.run.outcome().is_some() {
            break;
        }
        if driver.under_way.is_empty() || driver.pick(8) == 7 {
            now = match driver.run.next_deadline() {
                Some(deadline) if driver.under_way.is_empty() => now.max(deadline),
                _ => now + Duration::from_millis(1),
            };
            driver.run.tick(now);
        } else {
            driver.answer(now);
        }
    }
    driver.listen();
    driver.driven
}

impl Driver {
    fn pick(&mut self, count: usize) -> usize {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.chance >> 33).unwrap() % count
    }

    fn listen(&mut self) {
        for event in self.run.take_events() {
            match &event {
                Event::StepStarted { step, path, .. } => {
                    self.open.insert(path.clone(), *step);
                    if let Some(seen) = self.unnamed.remove(path) {
                        self.driven.seen.insert(*step, seen);
                    }
                }
                Event::StepFinished { step, .. } | Event::StepFailed { step, .. } => {
                    self.open.retain(|_, open| open != step);
                }
                _ => {}
            }
            self.driven.events.push(event);
        }
    }

    fn take(&mut self, action: Action) {
        match &action {
            Action::Abort(task) => {
                self.under_way.retain(|other| other.task() != *task);
                return;
            }
            Action::Evaluate(evaluation) => {
                let path = evaluation.path();
                let (_, scope) = path.positions().split_last().unwrap();
                let view = self.run.view(Some(&StepPath::new(scope))).unwrap();
                match self.open.get(path) {
                    Some(step) => drop(self.driven.seen.insert(*step, view.context())),
                    None => drop(self.unnamed.insert(path.clone(), view.context())),
                }
            }
            Action::Call(_) => {}
        }
        self.under_way.push(action);
    }

    fn answer(&mut self, now: Duration) {
        let index = self.pick(self.under_way.len());
        let action = self.under_way.remove(index);
        let task = action.task();
        let outcome = match action {
            Action::Evaluate(evaluation) => Outcome::Evaluated(evaluation.run(&Env::at(0))),
            Action::Call(call) => Outcome::Called(match self.pick(6) {
                0 => Err(RunError::new(ErrorKind::ToolError, "the tool failed")),
                _ => Ok(call.args),
            }),
            Action::Abort(_) => unreachable!("aborts are never under way"),
        };
        self.run.apply(task, outcome, now);
    }
}
