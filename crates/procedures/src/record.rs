//! A walk as a run: the same events as a graph's, in the same record and for the same observers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, Given, LogLevel, RunError, StepId, StepPath};
use mcpgraph_journal::{Digest, NewRun, Origin, RunId, RunRecorder};
use mcpgraph_runtime::{Instruments, RunObserver, RunStart};
use mcpgraph_sop::{Mode, Procedure, Walk};
use mcpgraph_upstream::NodeOutput;
use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;

use crate::Key;
use crate::tools::TODO;

/// The records of the walks under way.
pub(crate) struct Records {
    instruments: Instruments,
    open: Mutex<HashMap<Key, Record>>,
}

/// The record of one walk. A node is a step; a tool called there is a step inside it.
struct Record {
    observers: Vec<Box<dyn RunObserver>>,
    recorder: Option<RunRecorder>,
    began: Instant,
    next: StepId,
    /// How many nodes were come to.
    nodes: u32,
    here: Option<Here>,
}

/// The step that is the current node.
struct Here {
    step: StepId,
    position: u32,
    tools: Vec<Value>,
}

impl Records {
    pub(crate) fn new(instruments: Instruments) -> Self {
        Self { instruments, open: Mutex::default() }
    }

    /// A walk begins; the one that the conversation had before has ended.
    pub(crate) fn begin(
        &self,
        key: &Key,
        procedure: &Procedure,
        mode: Mode,
        file: &str,
        origin: Origin,
    ) {
        let Instruments { journal, observers, .. } = &self.instruments;
        if journal.is_none() && observers.is_empty() {
            return;
        }
        let id = RunId::new();
        let tool: Arc<str> = procedure.agent().into();
        let digest = Digest::of(procedure.source.text());
        let at = SystemTime::now();
        let start = RunStart { id, graph: None, tool: &tool, digest, origin: &origin, at };
        let observers = observers.iter().filter_map(|observer| observer.begin(&start)).collect();
        let recorder = journal.as_ref().map(|journal| {
            journal.begin(NewRun {
                id,
                tool: Arc::clone(&tool),
                digest,
                definition: Some(procedure.source.text().into()),
                origin: origin.clone(),
                started: at,
            })
        });
        let began = Instant::now();
        let mut record = Record { observers, recorder, began, next: 0, nodes: 0, here: None };
        let input = Map::from_iter([("sop_file", file), ("mode", mode.name())]).into();
        let given = Given { seed: 0, clock: millis(at) };
        record.tell(Event::Started { tool, digest, input, given });
        let before = self.open.lock().insert(key.clone(), record);
        if let Some(before) = before {
            before.end(None);
        }
    }

    /// The walk has come to a node.
    pub(crate) fn arrived(&self, key: &Key, walk: &Walk) {
        let mut open = self.open.lock();
        let (Some(record), Some(node)) = (open.get_mut(key), walk.current()) else { return };
        let node = walk.node(node);
        record.leave(Some(Arc::clone(&node.id)));
        let (step, position, at) = (record.next, record.nodes, record.now());
        record.next += 1;
        record.nodes += 1;
        record.here = Some(Here { step, position, tools: Vec::new() });
        record.tell(Event::StepStarted {
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
    pub(crate) fn planned(&self, key: &Key, todos: Value, summary: Value) {
        let mut open = self.open.lock();
        let Some(record) = open.get_mut(key) else { return };
        let (step, at) = (record.next, record.now());
        let path = match &mut record.here {
            Some(here) => here.inside(TODO.into()),
            // A plan that is made before the first node is a step of its own.
            None => {
                record.nodes += 1;
                StepPath::new(&[record.nodes - 1])
            }
        };
        record.next += 1;
        record.tell(Event::StepStarted {
            step,
            path,
            node: TODO.into(),
            kind: TODO,
            input: Some(todos),
            item_name: None,
            began: at,
            at,
        });
        record.tell(Event::StepFinished { step, output: summary, edge: None, at });
    }

    /// Something worth knowing happened at the current node.
    pub(crate) fn note(&self, key: &Key, level: LogLevel, message: &str) {
        let mut open = self.open.lock();
        let Some(record) = open.get_mut(key) else { return };
        let Some(step) = record.here.as_ref().map(|here| here.step) else { return };
        let at = record.now();
        record.tell(Event::Log { step, level, message: message.into(), at });
    }

    /// A tool was called at the current node.
    pub(crate) fn used(
        &self,
        key: &Key,
        tool: &Arc<str>,
        arguments: Value,
        took: Duration,
        output: &NodeOutput,
    ) {
        let mut open = self.open.lock();
        let Some(record) = open.get_mut(key) else { return };
        let at = record.now();
        let step = record.next;
        let Some(here) = &mut record.here else { return };
        let path = here.inside(Arc::clone(tool));
        record.next += 1;
        record.tell(Event::StepStarted {
            step,
            path,
            node: Arc::clone(tool),
            kind: "mcp",
            input: Some(arguments),
            item_name: None,
            began: at.saturating_sub(took),
            at: at.saturating_sub(took),
        });
        record.tell(match output {
            NodeOutput::Value(value) => {
                Event::StepFinished { step, output: value.clone(), edge: None, at }
            }
            NodeOutput::Error { text, .. } => {
                let error = RunError::new(ErrorKind::ToolError, text.as_str());
                Event::StepFailed { step, error, edge: None, at }
            }
        });
    }

    /// The walk of a conversation has ended, with this result.
    pub(crate) fn end(&self, key: &Key, result: Option<Value>) {
        let record = self.open.lock().remove(key);
        if let Some(record) = record {
            record.end(result);
        }
    }

    /// Waits, but not for ever, until what happened in a conversation is in the record: what an
    /// agent has heard of is never lost.
    pub(crate) async fn committed(&self, key: &Key) {
        let commit = {
            let mut open = self.open.lock();
            open.get_mut(key).and_then(|record| Some(record.recorder.as_mut()?.committed()))
        };
        if let Some(commit) = commit {
            // A loss is counted and logged where it happens; it is no reason to fail a call.
            commit.await;
        }
    }

    /// The conversations whose walks are under way.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.open.lock().keys().cloned().collect()
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

impl Record {
    fn now(&self) -> Duration {
        // Records keep microseconds.
        Duration::from_micros(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Tells everyone of an event. It can be read at once: who knows when the agent goes on.
    fn tell(&mut self, event: Event) {
        for observer in &mut self.observers {
            observer.event(&event);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.record(event);
            recorder.hand_over();
        }
    }

    fn leave(&mut self, edge: Option<Arc<str>>) {
        let Some(here) = self.here.take() else { return };
        let output = Map::from_iter([("tools", Value::from(here.tools))]).into();
        let at = self.now();
        self.tell(Event::StepFinished { step: here.step, output, edge, at });
    }

    fn end(mut self, result: Option<Value>) {
        self.leave(None);
        let outcome = Ok(result.unwrap_or_default());
        let at = self.now();
        self.tell(Event::Finished { outcome, at });
    }
}

/// A time as milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
