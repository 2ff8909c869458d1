//! Where a run stands after any of its events: the open steps, and which event gave each output
//! that can be seen. A snapshot of it makes what a step saw cheap to find.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpgraph_engine::{StepId, StepPath};
use mcpgraph_value::{Map, Value};

use crate::codec::{self, Outline, names};
use crate::{JournalError, StoredEvent};

/// How many retries and log lines of a step are remembered: the latest.
const MAX_BETWEEN: usize = 64;

/// See the module. It takes any events, sensible or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tracker {
    /// Every step below this one has begun.
    pub(crate) begun: StepId,
    pub(crate) open: BTreeMap<StepId, OpenStep>,
    /// By the path of their steps without the steps' own position.
    pub(crate) scopes: BTreeMap<StepPath, ScopeOutputs>,
}

/// A step that has begun and not ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenStep {
    pub(crate) path: StepPath,
    pub(crate) node: Arc<str>,
    pub(crate) kind: Arc<str>,
    /// The event that says that it began.
    pub(crate) seq: u64,
    /// Its retries and log lines.
    pub(crate) between: Vec<u64>,
}

/// The outputs of a body that is being executed, as numbers of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScopeOutputs {
    /// The latest of each node, in the order of the nodes' first.
    pub(crate) latest: Vec<(Arc<str>, u64)>,
    /// The failure that was caught last.
    pub(crate) error: Option<u64>,
}

impl Tracker {
    /// Goes on by an event of the run.
    pub(crate) fn apply(&mut self, seq: u64, event: &StoredEvent) {
        match event {
            StoredEvent::StepStarted { step, path, node, kind, .. } => {
                self.begin(*step, path.clone(), Arc::clone(node), Arc::clone(kind), seq);
            }
            StoredEvent::StepFinished { step, edge, .. } => {
                self.finish(*step, edge.is_some(), seq);
            }
            StoredEvent::StepFailed { step, edge, .. } => self.fail(*step, edge.is_some(), seq),
            StoredEvent::Retrying { step, .. } => self.retry(*step, seq),
            StoredEvent::Log { step, .. } => self.remark(*step, seq),
            StoredEvent::OutputChanged { scope, node, .. } => self.change(scope, node, seq),
            StoredEvent::Started { .. }
            | StoredEvent::Paused { .. }
            | StoredEvent::Resumed { .. }
            | StoredEvent::Finished { .. } => {}
        }
    }

    /// The same, for an event whose payloads were not looked at.
    pub(crate) fn apply_outline(&mut self, seq: u64, event: &Outline) -> Result<(), JournalError> {
        let (step, has_edge) = (event.step, event.edge.is_some());
        match event.name.as_str() {
            names::STEP => {
                let path = event.path()?;
                self.begin(step, path, event.node.as_str().into(), event.kind.as_str().into(), seq);
            }
            names::DONE => self.finish(step, has_edge, seq),
            names::FAILED => self.fail(step, has_edge, seq),
            names::RETRY => self.retry(step, seq),
            names::LOG => self.remark(step, seq),
            names::CHANGED => self.change(&event.path()?, &event.node, seq),
            _ => {}
        }
        Ok(())
    }

    /// How large a snapshot of it is, in entries.
    pub(crate) fn weight(&self) -> usize {
        let outputs: usize = self.scopes.values().map(|scope| scope.latest.len() + 1).sum();
        let open: usize = self.open.values().map(|step| step.between.len() + 1).sum();
        outputs + open
    }

    /// The open step at a path.
    pub(crate) fn step_at(&self, path: &[u32]) -> Option<&OpenStep> {
        self.open.values().find(|step| step.path.positions() == path)
    }

    fn begin(&mut self, step: StepId, path: StepPath, node: Arc<str>, kind: Arc<str>, seq: u64) {
        self.begun = self.begun.max(step.saturating_add(1));
        self.open.insert(step, OpenStep { path, node, kind, seq, between: Vec::new() });
    }

    fn finish(&mut self, step: StepId, goes_on: bool, seq: u64) {
        let Some(ended) = self.end(step) else { return };
        let scope = scope_of(&ended.path);
        if goes_on {
            self.scopes.entry(scope).or_default().set(&ended.node, seq);
        } else if !ended.may_be_alone() {
            // The body is at its end, and nobody sees into it any more.
            self.scopes.remove(&scope);
        }
    }

    fn fail(&mut self, step: StepId, is_caught: bool, seq: u64) {
        let Some(ended) = self.end(step) else { return };
        let scope = scope_of(&ended.path);
        if is_caught {
            self.scopes.entry(scope).or_default().error = Some(seq);
        } else if !ended.may_be_alone() {
            self.scopes.remove(&scope);
        }
    }

    /// A step is no longer open, nor is anything inside it.
    fn end(&mut self, step: StepId) -> Option<OpenStep> {
        let ended = self.open.remove(&step)?;
        self.forget_inside(&ended.path);
        Some(ended)
    }

    fn retry(&mut self, step: StepId, seq: u64) {
        self.remark(step, seq);
        if let Some(path) = self.open.get(&step).map(|open| open.path.clone()) {
            self.forget_inside(&path);
        }
    }

    fn remark(&mut self, step: StepId, seq: u64) {
        if let Some(open) = self.open.get_mut(&step) {
            if open.between.len() == MAX_BETWEEN {
                open.between.remove(0);
            }
            open.between.push(seq);
        }
    }

    fn change(&mut self, scope: &StepPath, node: &str, seq: u64) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.set(&Arc::from(node), seq);
        }
    }

    fn forget_inside(&mut self, path: &StepPath) {
        let inside: Vec<StepPath> = self
            .scopes
            .range(path.clone()..)
            .map(|(scope, _)| scope)
            .take_while(|scope| scope.positions().starts_with(path.positions()))
            .cloned()
            .collect();
        for scope in inside {
            self.scopes.remove(&scope);
        }
    }

    /// What a snapshot keeps; [`Tracker::begun`] stands beside it.
    pub(crate) fn to_json(&self) -> String {
        let open = self.open.iter().map(|(step, open)| {
            Value::array(vec![
                (*step).into(),
                open.path.to_string().into(),
                Value::String(Arc::clone(&open.node)),
                Value::String(Arc::clone(&open.kind)),
                open.seq.into(),
                Value::array(open.between.iter().map(|seq| (*seq).into()).collect()),
            ])
        });
        let scopes = self.scopes.iter().map(|(path, scope)| {
            let latest = scope.latest.iter().map(|(node, seq)| {
                Value::array(vec![Value::String(Arc::clone(node)), (*seq).into()])
            });
            Value::array(vec![
                path.to_string().into(),
                Value::array(latest.collect()),
                scope.error.into(),
            ])
        });
        let members =
            [("open", Value::array(open.collect())), ("scopes", Value::array(scopes.collect()))];
        Value::object(Map::from_iter(members)).to_json()
    }

    /// Reads what [`Tracker::to_json`] wrote.
    pub(crate) fn from_json(begun: StepId, json: &str) -> Result<Self, JournalError> {
        let damaged = || JournalError::Damaged("a snapshot cannot be read".to_owned());
        let state: Snapshot = serde_json::from_str(json).map_err(|_| damaged())?;
        let mut tracker = Self { begun, ..Self::default() };
        for (step, path, node, kind, seq, between) in state.open {
            let path = codec::path(&path)?;
            tracker.open.insert(
                step,
                OpenStep { path, node: node.into(), kind: kind.into(), seq, between },
            );
        }
        for (path, latest, error) in state.scopes {
            let latest = latest.into_iter().map(|(node, seq)| (node.into(), seq)).collect();
            tracker.scopes.insert(codec::path(&path)?, ScopeOutputs { latest, error });
        }
        Ok(tracker)
    }
}

/// Nodes with the events that gave their latest outputs.
type Latest = Vec<(String, u64)>;

#[derive(serde::Deserialize)]
struct Snapshot {
    open: Vec<(StepId, String, String, String, u64, Vec<u64>)>,
    scopes: Vec<(String, Latest, Option<u64>)>,
}

impl OpenStep {
    /// Whether a body may go on without it: hooks that nothing waits for lead nowhere, and end when
    /// they end.
    fn may_be_alone(&self) -> bool {
        &*self.kind == "hook"
    }
}

impl ScopeOutputs {
    fn set(&mut self, node: &Arc<str>, seq: u64) {
        match self.latest.iter_mut().find(|(known, _)| known == node) {
            Some((_, latest)) => *latest = seq,
            None => self.latest.push((Arc::clone(node), seq)),
        }
    }
}

/// The body a step belongs to.
pub(crate) fn scope_of(path: &StepPath) -> StepPath {
    let positions = path.positions();
    StepPath::new(&positions[..positions.len().saturating_sub(1)])
}
