//! Steps that somebody looks at when they have ended, before anything follows from it.
//!
//! A step that is the last of its body takes the body with it, and one that fails may end the run:
//! whoever wants to see what was there, or to change it, has to be asked before. While a run stands
//! still, nothing follows from the end of any step.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::NodeIx;

use super::{Run, ScopeId};
use crate::{PauseReason, RunError, ScopeView};

/// The nodes that are looked at, and their steps that wait for that.
#[derive(Default)]
pub(super) struct Holding {
    nodes: HashSet<Arc<str>>,
    steps: VecDeque<Step>,
}

struct Step {
    scope: ScopeId,
    node: Arc<str>,
    /// The run stood still for it.
    was_seen: bool,
    /// None where a node may begin next: it has its turn among others, and does not begin while the
    /// run stands still.
    then: Option<Then>,
}

/// What follows from the end of a step.
pub(super) enum Then {
    /// Another node of the body may begin.
    Begin(NodeIx),
    /// The body is over.
    Close,
    /// The body fails.
    Fail(RunError),
}

/// A step that has ended, and nothing has followed from it yet.
pub struct Held<'a> {
    /// Its node.
    pub node: &'a Arc<str>,
    /// What its body has now.
    pub view: &'a ScopeView,
    /// The run stood still for it already.
    pub was_seen: bool,
    /// What its body is about to fail with.
    pub error: Option<&'a RunError>,
}

impl Holding {
    /// The nodes whose steps are held, and not looked at yet.
    pub(super) fn nodes_held(&self) -> impl Iterator<Item = &Arc<str>> {
        self.steps.iter().filter(|step| !step.was_seen).map(|step| &step.node)
    }
}

impl Run {
    /// Steps of these nodes are held when they end, until [`Run::release`].
    pub fn hold_after(&mut self, nodes: impl Iterator<Item = Arc<str>>) {
        let nodes: HashSet<Arc<str>> = nodes.collect();
        if self.holding.is_some() || !nodes.is_empty() {
            self.holding.get_or_insert_default().nodes = nodes;
        }
    }

    /// The first step that is held.
    pub fn held(&self) -> Option<Held<'_>> {
        let Step { scope, node, was_seen, then } = self.holding.as_ref()?.steps.front()?;
        let view = &self.scopes.get(scope)?.view;
        let error = match then {
            Some(Then::Fail(error)) => Some(error),
            _ => None,
        };
        Some(Held { node, view, was_seen: *was_seen, error })
    }

    /// Lets happen what follows from the first step that is held.
    pub fn release(&mut self, now: Duration) {
        let first = self.holding.as_mut().and_then(|holding| holding.steps.pop_front());
        if let Some(Step { scope, then: Some(then), .. }) = first {
            self.go_on(scope, then, now);
        }
    }

    /// A step of a node has ended: what follows happens, or waits for whoever looks at it.
    pub(super) fn ended(&mut self, scope: ScopeId, node: &Arc<str>, then: Then, now: Duration) {
        // Those that are held go on in the order they ended in.
        let holds = |holding: &Holding| !holding.steps.is_empty() || holding.nodes.contains(node);
        let is_held = self.is_paused || self.holding.as_deref().is_some_and(holds);
        let then = match then {
            Then::Close | Then::Fail(_) if is_held => Some(then),
            then => {
                self.go_on(scope, then, now);
                None
            }
        };
        if is_held {
            let step = Step { scope, node: Arc::clone(node), was_seen: false, then };
            self.holding.get_or_insert_default().steps.push_back(step);
        }
    }

    fn go_on(&mut self, scope: ScopeId, then: Then, now: Duration) {
        match then {
            Then::Begin(node) => self.ready.push_back((scope, node)),
            Then::Close => self.close_scope(scope, now),
            Then::Fail(error) => self.fail_scope(scope, error, now),
        }
    }

    /// The run stands still; for the first step that is held, if that is why.
    pub(super) fn see_held(&mut self, why: &PauseReason) {
        let PauseReason::After(node) = why else { return };
        let first = self.holding.as_mut().and_then(|holding| holding.steps.front_mut());
        if let Some(first) = first.filter(|first| first.node == *node) {
            first.was_seen = true;
        }
    }

    /// The body of the first step that is held.
    pub(super) fn held_scope(&self) -> Option<ScopeId> {
        self.holding.as_ref()?.steps.front().map(|step| step.scope)
    }

    /// Forgets the steps of a body that are held, or all.
    pub(super) fn drop_held(&mut self, of: Option<ScopeId>) {
        if let Some(holding) = &mut self.holding {
            holding.steps.retain(|step| of.is_some_and(|scope| step.scope != scope));
        }
    }
}
