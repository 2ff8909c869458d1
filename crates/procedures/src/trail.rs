//! A walk as the events of a run: where its record is, and what is to be added to it.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_engine::{Event, LogLevel, RunError, StepId, StepPath};
use mcpgraph_journal::RunId;
use mcpgraph_sop::Walk;
use mcpgraph_value::{Map, Value};

use crate::noted::unanswered;
use crate::tools::TODO;

/// The type of a step that calls a tool.
pub(crate) const CALL: &str = "mcp";

/// How far the record of a walk is. A node is a step; a tool called there is a step inside it.
#[derive(Clone, Debug)]
pub(crate) struct Trail {
    /// The run.
    pub(crate) run: RunId,
    /// When it began.
    pub(crate) began: SystemTime,
    /// When the latest event happened, since then.
    at: Duration,
    next: StepId,
    /// How many nodes were come to.
    nodes: u32,
    here: Option<Here>,
    /// The calls that have no answer yet, at this node or at one before it.
    open: Vec<StepId>,
    /// What happened and is not in the record yet.
    events: Vec<Event>,
}

/// The step that is the current node.
#[derive(Clone, Debug)]
struct Here {
    step: StepId,
    position: u32,
    tools: Vec<Value>,
}

impl Trail {
    /// The trail of a walk that begins.
    pub(crate) fn new(run: RunId, began: SystemTime) -> Self {
        let at = Duration::ZERO;
        Self { run, began, at, next: 0, nodes: 0, here: None, open: Vec::new(), events: Vec::new() }
    }

    /// What happened since it was last asked.
    pub(crate) fn take(&mut self) -> Vec<Event> {
        mem::take(&mut self.events)
    }

    /// The walk has come to a node.
    pub(crate) fn arrived(&mut self, walk: &Walk) {
        let Some(node) = walk.current() else { return };
        let node = walk.node(node);
        self.leave(Some(Arc::clone(&node.id)));
        let (step, position, at) = (self.next, self.nodes, self.now());
        self.next += 1;
        self.nodes += 1;
        self.here = Some(Here { step, position, tools: Vec::new() });
        self.events.push(Event::StepStarted {
            step,
            path: StepPath::new(&[position]),
            node: Arc::clone(&node.id),
            kind: node.shape,
            input: None,
            item_name: None,
            began: at,
            at,
        });
    }

    /// The plan of the conversation is another one: all of it, and how many todos of each status.
    pub(crate) fn planned(&mut self, todos: Value, summary: Value) {
        let (step, at) = (self.next, self.now());
        let path = match &mut self.here {
            Some(here) => here.inside(TODO.into()),
            // A plan that is made before the first node is a step of its own.
            None => {
                self.nodes += 1;
                StepPath::new(&[self.nodes - 1])
            }
        };
        self.next += 1;
        self.events.push(Event::StepStarted {
            step,
            path,
            node: TODO.into(),
            kind: TODO,
            input: Some(todos),
            item_name: None,
            began: at,
            at,
        });
        self.events.push(Event::StepFinished { step, output: summary, edge: None, at });
    }

    /// Something worth knowing happened at the current node.
    pub(crate) fn note(&mut self, level: LogLevel, message: &str) {
        let Some(step) = self.here.as_ref().map(|here| here.step) else { return };
        let at = self.now();
        self.events.push(Event::Log { step, level, message: message.into(), at });
    }

    /// A tool is called at the current node; none if the walk has not begun.
    pub(crate) fn called(&mut self, tool: &Arc<str>, arguments: Value) -> Option<StepId> {
        let (step, at) = (self.next, self.now());
        let path = self.here.as_mut()?.inside(Arc::clone(tool));
        self.next += 1;
        self.open.push(step);
        self.events.push(Event::StepStarted {
            step,
            path,
            node: Arc::clone(tool),
            kind: CALL,
            input: Some(arguments),
            item_name: None,
            began: at,
            at,
        });
        Some(step)
    }

    /// What came of a call, wherever the walk is by now.
    pub(crate) fn answered(&mut self, step: StepId, output: Result<Value, RunError>) {
        let Some(place) = self.open.iter().position(|open| *open == step) else { return };
        self.open.remove(place);
        let at = self.now();
        self.events.push(match output {
            Ok(output) => Event::StepFinished { step, output, edge: None, at },
            Err(error) => Event::StepFailed { step, error, edge: None, at },
        });
    }

    /// The walk has ended, with this result.
    pub(crate) fn end(&mut self, result: Option<Value>) {
        for step in mem::take(&mut self.open) {
            let (error, at) = (unanswered(), self.now());
            self.events.push(Event::StepFailed { step, error, edge: None, at });
        }
        self.leave(None);
        let (outcome, at) = (Ok(result.unwrap_or_default()), self.now());
        self.events.push(Event::Finished { outcome, at });
    }

    fn leave(&mut self, edge: Option<Arc<str>>) {
        let Some(here) = self.here.take() else { return };
        let output = Map::from_iter([("tools", Value::from(here.tools))]).into();
        let at = self.now();
        self.events.push(Event::StepFinished { step: here.step, output, edge, at });
    }

    /// How long it has been going on. Another process may have another clock, but nothing happens
    /// before what has happened.
    fn now(&mut self) -> Duration {
        let since = self.began.elapsed().unwrap_or_default();
        // Records keep microseconds.
        let since = Duration::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX));
        self.at = self.at.max(since);
        self.at
    }

    /// Everything about it but the run and what is not in the record yet.
    pub(crate) fn to_value(&self) -> Value {
        let here = self.here.as_ref().map_or(Value::Null, |here| {
            let tools = Value::array(here.tools.clone());
            Value::array(vec![here.step.into(), u64::from(here.position).into(), tools])
        });
        let at = u64::try_from(self.at.as_micros()).unwrap_or(u64::MAX);
        let open = Value::array(self.open.iter().map(|step| (*step).into()).collect());
        Value::array(vec![at.into(), self.next.into(), u64::from(self.nodes).into(), here, open])
    }

    /// What [`Trail::to_value`] was asked for.
    pub(crate) fn from_value(run: RunId, began: SystemTime, saved: &Value) -> Option<Self> {
        let number = |value: Option<&Value>| u64::try_from(value?.as_i64()?).ok();
        let Value::Array(saved) = saved else { return None };
        let here = match saved.get(3)? {
            Value::Array(here) => Some(Here {
                step: number(here.first())?,
                position: u32::try_from(number(here.get(1))?).ok()?,
                tools: match here.get(2)? {
                    Value::Array(tools) => tools.iter().cloned().collect(),
                    _ => return None,
                },
            }),
            _ => None,
        };
        let open = match saved.get(4) {
            Some(Value::Array(open)) => {
                open.iter().map(|step| number(Some(step))).collect::<Option<_>>()?
            }
            // Calls were once noted with their answers only.
            _ => Vec::new(),
        };
        Some(Self {
            run,
            began,
            at: Duration::from_micros(number(saved.first())?),
            next: number(saved.get(1))?,
            nodes: u32::try_from(number(saved.get(2))?).ok()?,
            here,
            open,
            events: Vec::new(),
        })
    }
}

impl Here {
    /// The path of a tool that was called here.
    fn inside(&mut self, tool: Arc<str>) -> StepPath {
        let position = u32::try_from(self.tools.len()).unwrap_or(u32::MAX);
        self.tools.push(tool.into());
        StepPath::new(&[self.position, 0, position])
    }
}

/// A time as milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
