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

/// A call that is allowed. It belongs to the node at which it was asked for, also when the walk
/// has moved on before the tool answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    path: u64,
    step: usize,
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
    /// SHA-256 of its result.
    pub result: String,
    /// Whether the result was an error.
    pub failed: bool,
}

impl Walk {
    /// Whether a tool may be called now. Only a procedure that binds says no.
    pub fn permit(&self, tool: &str) -> Result<Permit, Denied> {
        if self.mode == Mode::Enforced {
            if !self.allowed().any(|allowed| *allowed == *tool) {
                return Err(Denied::NotHere);
            }
            if self.calls >= MAX_CALLS {
                return Err(Denied::TooMany);
            }
        }
        Ok(Permit { path: self.paths, step: self.steps.len().saturating_sub(1) })
    }

    /// The tools of the current node, and those that may be called everywhere.
    pub fn allowed(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        let here = self.current().map_or(&[][..], |node| &self.node(node).tools);
        let always = self.procedure.front.always_tools.iter().map(Text::to_arc);
        here.iter().cloned().chain(always)
    }

    /// Notes what came of a call; `value` is what guards see of it, if it succeeded.
    pub fn used(&mut self, permit: Permit, done: ToolUse, value: Option<Value>) {
        let is_current = permit.path == self.paths;
        let Some(step) = self.steps.get_mut(permit.step).filter(|_| is_current) else { return };
        if self.calls >= MAX_CALLS {
            return;
        }
        self.calls += 1;
        let (node, tool) = (step.node, Arc::clone(&done.tool));
        step.uses.push(done);
        if let Some(value) = value.filter(|_| self.mode == Mode::Enforced) {
            let is_here = permit.step + 1 == self.steps.len();
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
        self.results.retain(|old| {
            let is_same = old.node == result.node && old.tool == result.tool;
            if is_same {
                self.bytes = self.bytes.saturating_sub(old.value.approximate_bytes());
            }
            !is_same
        });
        self.bytes += result.value.approximate_bytes();
        self.results.push_back(result);
        while self.bytes > MAX_KEPT_BYTES
            && let Some(oldest) = self.results.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.value.approximate_bytes());
        }
    }

    /// The walk goes to another node.
    pub(super) fn leave(&mut self) {
        for result in &mut self.results {
            result.is_here = false;
        }
    }

    /// The tools with a result at the current node.
    pub(super) fn here(&self) -> impl Iterator<Item = &Arc<str>> {
        self.results.iter().filter(|result| result.is_here).map(|result| &result.tool)
    }

    /// What a guard sees: the results at the current node by the names of their tools, and under
    /// `nodes` the latest results of every node on the path.
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
