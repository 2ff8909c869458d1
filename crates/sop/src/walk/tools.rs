//! Which tools may be called, and what came of those that were.

use std::collections::VecDeque;
use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_value::{Map, Value};

use super::{Mode, Walk};
use crate::NodeId;

/// How many calls of tools a path may have.
pub const MAX_CALLS: usize = 10_000;

/// How much of what tools gave is kept for guards, in memory; the oldest results go first: 4 MiB.
pub const MAX_KEPT_BYTES: usize = 4 << 20;

/// A call that is allowed and noted. It belongs to the node at which it was asked for, also when
/// the walk has moved on before the tool answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit(Option<Place>);

/// Where a call is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    path: u64,
    step: usize,
    /// Which of the calls at that step.
    number: usize,
}

/// Why a tool may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The current node does not name it.
    NotHere,
    /// There were [`MAX_CALLS`] calls on this path.
    TooMany,
}

/// A tool that was called at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// Its name.
    pub tool: Arc<str>,
    /// SHA-256 of its arguments.
    pub arguments: String,
    /// SHA-256 of its result; none if there is none, or none is known.
    pub result: Option<String>,
    /// Whether the result was an error, or an error came in its place.
    pub failed: bool,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// SHA-256 of the result; none if an error came in its place.
    pub result: Option<String>,
    /// What guards see of it; none if the call failed.
    pub value: Option<Value>,
}

impl ToolUse {
    /// Whether nobody knows what came of the call, or not yet.
    pub fn is_unanswered(&self) -> bool {
        self.result.is_none() && !self.failed
    }
}

impl Walk {
    /// Notes a call of a tool, if it may be called now. Only a procedure that binds says no.
    /// `arguments` is the SHA-256 of what it is called with.
    pub fn permit(&mut self, tool: &Arc<str>, arguments: &str) -> Result<Permit, Denied> {
        if self.mode == Mode::Enforced {
            if !self.allowed().any(|allowed| allowed == *tool) {
                return Err(Denied::NotHere);
            }
            if self.calls >= MAX_CALLS {
                return Err(Denied::TooMany);
            }
        }
        let is_full = self.calls >= MAX_CALLS;
        let Some(step) = self.steps.last_mut().filter(|_| !is_full) else {
            return Ok(Permit(None));
        };
        self.calls += 1;
        let (tool, arguments) = (Arc::clone(tool), arguments.to_owned());
        step.uses.push(ToolUse { tool, arguments, result: None, failed: false });
        let number = step.uses.len() - 1;
        Ok(Permit(Some(Place { path: self.paths, step: self.steps.len() - 1, number })))
    }

    /// The tools of the current node, and those that may be called everywhere.
    pub fn allowed(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        let here = self.current().map_or(&[][..], |node| &self.node(node).tools);
        let always = self.procedure.front.always_tools.iter().map(Text::to_arc);
        here.iter().cloned().chain(always)
    }

    /// Notes what came of a call.
    pub fn answered(&mut self, permit: Permit, answer: Answer) {
        let Some(place) = permit.0.filter(|place| place.path == self.paths) else { return };
        let Some(step) = self.steps.get_mut(place.step) else { return };
        let node = step.node;
        let noted = step.uses.get_mut(place.number).filter(|noted| noted.is_unanswered());
        let Some(noted) = noted else { return };
        noted.result = answer.result;
        noted.failed = answer.value.is_none();
        let tool = Arc::clone(&noted.tool);
        let since = &self.steps[place.step + 1..];
        // Whoever has come to the node again asks there again.
        let is_latest = !since.iter().any(|step| step.node == node);
        if let Some(value) = answer.value.filter(|_| self.mode == Mode::Enforced && is_latest) {
            let is_here = since.is_empty();
            let id = Arc::clone(&self.node(node).id);
            self.kept.keep(Given { node, id, tool, value, is_here });
        }
    }
}

/// The latest results of tools, for guards.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    results: VecDeque<Given>,
    bytes: usize,
}

/// What a tool gave at a node.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) node: NodeId,
    pub(super) id: Arc<str>,
    pub(super) tool: Arc<str>,
    pub(super) value: Value,
    /// Whether the walk has not left the node since.
    pub(super) is_here: bool,
}

impl Kept {
    /// These results, oldest first.
    pub(super) fn of(results: VecDeque<Given>) -> Self {
        let bytes = results.iter().map(|given| given.value.approximate_bytes()).sum();
        Self { results, bytes }
    }

    /// The results, oldest first.
    pub(super) fn results(&self) -> impl Iterator<Item = &Given> {
        self.results.iter()
    }

    fn keep(&mut self, result: Given) {
        self.forget(|old| old.node == result.node && old.tool == result.tool);
        self.bytes += result.value.approximate_bytes();
        self.results.push_back(result);
        while self.bytes > MAX_KEPT_BYTES
            && let Some(oldest) = self.results.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.value.approximate_bytes());
        }
    }

    /// The walk goes to a node. What tools gave there before says nothing about this time.
    pub(super) fn enter(&mut self, node: NodeId) {
        self.forget(|old| old.node == node);
        for result in &mut self.results {
            result.is_here = false;
        }
    }

    fn forget(&mut self, is_old: impl Fn(&Given) -> bool) {
        self.results.retain(|result| {
            let is_old = is_old(result);
            if is_old {
                self.bytes = self.bytes.saturating_sub(result.value.approximate_bytes());
            }
            !is_old
        });
    }

    /// The tools with a result at the current node.
    pub(super) fn here(&self) -> impl Iterator<Item = &Arc<str>> {
        self.results.iter().filter(|result| result.is_here).map(|result| &result.tool)
    }

    /// What a guard sees: the results at the current node by the names of their tools, and under
    /// `nodes` the results of the latest visit of every node on the path.
    pub(super) fn scope(&self) -> Value {
        let (mut here, mut nodes) = (Map::new(), Map::new());
        for Given { id, tool, value, is_here, .. } in &self.results {
            if *is_here {
                here.insert(Arc::clone(tool), value.clone());
            }
            if let Some(Value::Object(members)) = nodes.get_mut(id) {
                members.make_mut().insert(Arc::clone(tool), value.clone());
            } else {
                let first = Map::from_iter([(Arc::clone(tool), value.clone())]);
                nodes.insert(Arc::clone(id), first);
            }
        }
        here.insert("nodes", nodes);
        here.into()
    }
}
