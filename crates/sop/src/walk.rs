//! The walk of one conversation through a procedure.
//!
//! Nothing here depends on how many nodes there are: a move looks at the edges of one node, and
//! everything else at what the conversation did.

mod guards;
mod saved;
mod todos;
mod tools;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub use self::todos::{MAX_TODO_BYTES, MAX_TODOS, NotAccepted, Status, Summary, Todo, TodoDraft};
use self::tools::Kept;
pub use self::tools::{Answer, Denied, MAX_CALLS, MAX_KEPT_BYTES, Permit, ToolUse};
use crate::{Chart, Edge, Node, NodeId, Procedure};

/// How many steps a path may have; going to the entry begins a new one.
pub const MAX_STEPS: usize = 10_000;

/// How strictly a procedure is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Any node can be gone to; the answer says that it was not legal.
    Lenient,
    /// Only legal moves are made.
    Strict,
    /// The procedure binds: guards have to hold, and only the current node's tools can be called.
    Enforced,
}

impl Mode {
    /// Each with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("lenient", Self::Lenient), ("strict", Self::Strict), ("enforced", Self::Enforced)];

    /// What it is called in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Strict => "strict",
            Self::Enforced => "enforced",
        }
    }
}

/// A walk: the path so far, the plan, and what tools gave.
#[derive(Clone, Debug)]
pub struct Walk {
    procedure: Arc<Procedure>,
    mode: Mode,
    steps: Vec<Step>,
    /// How many paths were begun; a tool's result belongs to the path it was called on.
    paths: u64,
    /// Whether the hub is on the path: whoever begins a new one has to come to it again.
    has_hub: bool,
    todos: Vec<Todo>,
    calls: usize,
    kept: Kept,
}

/// One node of the path.
#[derive(Clone, Debug)]
pub struct Step {
    /// The node.
    pub node: NodeId,
    /// When it was come to, in milliseconds since 1970.
    pub entered: u64,
    /// The tools that were called there, in the order of the calls.
    pub uses: Vec<ToolUse>,
}

/// What came of asking for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// The walk is at the node now.
    Legal(NodeId),
    /// The walk is at the node now although no way leads there.
    Lenient(NodeId, Refusal),
    /// The walk is where it was.
    Refused(Refusal),
}

/// Why a move is not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such node.
    UnknownNode,
    /// No way leads there.
    NoWay(NodeId),
    /// The rule of the way there does not hold.
    Guarded(Guarded),
    /// The path has [`MAX_STEPS`] steps.
    PathFull,
}

/// A guard that keeps a walk from moving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// Where the edge leads.
    pub to: NodeId,
    /// Its label.
    pub condition: Option<Arc<str>>,
    /// The rule, as JSON.
    pub rule: Arc<str>,
    /// Why the rule could not be evaluated, if it could not.
    pub error: Option<String>,
    /// The tools with a result at the node.
    pub results: Vec<Arc<str>>,
}

impl Walk {
    /// A walk that has not begun.
    pub fn new(procedure: Arc<Procedure>, mode: Mode) -> Self {
        Self {
            procedure,
            mode,
            steps: Vec::new(),
            paths: 0,
            has_hub: false,
            todos: Vec::new(),
            calls: 0,
            kept: Kept::default(),
        }
    }

    /// What is walked.
    pub fn procedure(&self) -> &Arc<Procedure> {
        &self.procedure
    }

    /// How strictly.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The path, from the entry on.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The names of the nodes on the path.
    pub fn path(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.steps.iter().map(|step| &self.chart().nodes[step.node].id)
    }

    /// Where the walk is; nowhere before the first move.
    pub fn current(&self) -> Option<NodeId> {
        self.steps.last().map(|step| step.node)
    }

    /// A node of the procedure.
    pub fn node(&self, number: NodeId) -> &Node {
        &self.chart().nodes[number]
    }

    /// Whether nothing leads on from a node.
    pub fn is_terminal(&self, number: NodeId) -> bool {
        self.node(number).is_terminal(number)
    }

    /// Goes to a node, if that is legal. `now` is in milliseconds since 1970.
    pub fn go(&mut self, id: &str, now: u64) -> Move {
        let Some(to) = self.chart().find(id) else { return Move::Refused(Refusal::UnknownNode) };
        let refusal = self.refusal(to, now);
        match (refusal, self.mode) {
            (Some(refusal @ Refusal::NoWay(_)), Mode::Lenient) if !self.is_full(to) => {
                self.enter(to, now);
                Move::Lenient(to, refusal)
            }
            (Some(refusal), _) => Move::Refused(refusal),
            (None, _) => {
                self.enter(to, now);
                Move::Legal(to)
            }
        }
    }

    /// Goes where a record says that the walk went; whether that was legal has been decided then.
    /// False if there is no such node.
    pub fn follow(&mut self, id: &str, entered: u64) -> bool {
        let Some(to) = self.chart().find(id).filter(|to| !self.is_full(*to)) else { return false };
        self.enter(to, entered);
        true
    }

    /// The nodes that can be gone to next: those that edges lead to, or, where none does, the
    /// entry and the hub. Guards that do not hold leave theirs out.
    pub fn next(&self, now: u64) -> Vec<NodeId> {
        let edges = self.current().map_or(&[][..], |node| &self.node(node).edges);
        let mut next: Vec<NodeId> = Vec::with_capacity(edges.len());
        for edge in edges {
            if self.failing(edge, now).is_none() {
                next.push(edge.to);
            }
        }
        if self.current().is_none_or(|node| self.is_terminal(node)) {
            next.push(self.procedure.entry);
            next.extend(self.procedure.hub.filter(|hub| self.may_jump(*hub)));
        }
        let mut seen = std::collections::HashSet::new();
        next.retain(|node| seen.insert(*node));
        next
    }

    fn chart(&self) -> &Chart {
        &self.procedure.chart
    }

    /// Why a move is not legal; none if it is.
    fn refusal(&self, to: NodeId, now: u64) -> Option<Refusal> {
        if self.is_full(to) {
            return Some(Refusal::PathFull);
        }
        let edges = self.current().map_or(&[][..], |node| &self.node(node).edges);
        let mut failing = None;
        for edge in edges.iter().filter(|edge| edge.to == to) {
            match self.failing(edge, now) {
                None => return None,
                Some(guarded) => failing = Some(guarded),
            }
        }
        match failing {
            _ if to == self.procedure.entry => None,
            // A guard counts at the hub too: else every way there could be left out.
            Some(guarded) => Some(Refusal::Guarded(guarded)),
            None if self.may_jump(to) => None,
            None => Some(Refusal::NoWay(to)),
        }
    }

    /// Whether a node can be gone to from everywhere. A procedure that binds lets nobody jump
    /// ahead: its hub has to be come to along an edge first.
    fn may_jump(&self, to: NodeId) -> bool {
        Some(to) == self.procedure.hub && (self.mode != Mode::Enforced || self.has_hub)
    }

    fn is_full(&self, to: NodeId) -> bool {
        self.steps.len() >= MAX_STEPS && to != self.procedure.entry
    }

    fn enter(&mut self, to: NodeId, now: u64) {
        if to == self.procedure.entry {
            self.steps.clear();
            self.paths += 1;
            self.calls = 0;
            self.kept = Kept::default();
            self.has_hub = false;
        }
        self.has_hub |= Some(to) == self.procedure.hub;
        self.kept.enter(to);
        self.steps.push(Step { node: to, entered: now, uses: Vec::new() });
    }

    /// The guard of an edge, if it does not hold.
    fn failing(&self, edge: &Edge, now: u64) -> Option<Guarded> {
        let guard = edge.guard.as_ref().filter(|_| self.mode == Mode::Enforced)?;
        let verdict = guards::verdict(guard, self.kept.scope(), now);
        match verdict {
            Ok(true) => None,
            outcome => Some(Guarded {
                to: edge.to,
                condition: edge.condition.clone(),
                rule: Arc::clone(&guard.text),
                error: outcome.err(),
                results: self.kept.here().cloned().collect(),
            }),
        }
    }
}

/// SHA-256 in hexadecimal, as receipts have it.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes.as_ref()) {
        // Writing to a text does not fail.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests;
