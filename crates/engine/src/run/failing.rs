//! Where a run fails.

use std::sync::Arc;

use mcpgraph_graph::NodeIx;

use super::{Run, ScopeId, State};
use crate::{Place, PlaceNode, ScopeView, StepId};

/// The step at which a run failed: the innermost one that nothing took care of.
pub struct Failing {
    /// Its number; none if the run ended before it began.
    pub step: Option<StepId>,
    /// What it saw.
    pub view: ScopeView,
}

impl Run {
    /// The step at which the run failed, if it did and at a step.
    pub fn failing(&self) -> Option<&Failing> {
        self.failing.as_deref()
    }

    /// The node at which the run failed, if it did and at a node.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    /// Remembers where the run fails, unless it is failing already for something further inside.
    pub(super) fn keep_failing(&mut self, step: Option<StepId>, scope: ScopeId) {
        if self.failing.is_none()
            && let Some(scope) = self.scopes.get(&scope)
        {
            self.failing = Some(Box::new(Failing { step, view: scope.view.clone() }));
        }
    }

    /// The same for the node.
    pub(super) fn keep_place(&mut self, scope: ScopeId, node: NodeIx) {
        if self.place.is_none() {
            self.place = self.place_of(scope, node).map(Box::new);
        }
    }

    /// Something took care of what failed.
    pub(super) fn forget_failing(&mut self) {
        self.failing = None;
        self.place = None;
    }

    /// How the run came to a node of a body.
    pub(super) fn place_of(&self, scope: ScopeId, node: NodeIx) -> Option<Place> {
        let mut nodes = Vec::new();
        let (mut scope, mut node) = (self.scopes.get(&scope)?, node);
        let mut items = Vec::new();
        let mut id = Arc::clone(&scope.body.nodes[node].id);
        loop {
            let parent = scope.parent.and_then(|(task, part)| Some((self.steps.get(&task)?, part)));
            if let Some(tool) = &scope.tool {
                let tool = Arc::clone(&tool.name);
                nodes.push(PlaceNode { tool, node: id, items: std::mem::take(&mut items) });
                let Some((step, _)) = parent else { break };
                (scope, node) = (self.scopes.get(&step.scope)?, step.node);
                id = Arc::clone(&scope.body.nodes[node].id);
                continue;
            }
            let (step, part) = parent?;
            (scope, node) = (self.scopes.get(&step.scope)?, step.node);
            if matches!(&step.state, State::Containing(children) if children.are_items()) {
                items.push((Arc::clone(&scope.body.nodes[node].id), part));
            }
        }
        let mut nodes = nodes.into_iter();
        Some(Place { node: nodes.next()?, called_by: nodes.collect() })
    }
}
