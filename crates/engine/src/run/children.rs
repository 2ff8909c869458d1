//! Steps that contain bodies: items of a loop, branches, another tool.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Body, Kind, Tool};
use mcpgraph_value::{Map, Value};

use super::checks::{check_input, check_output};
use super::{LiveScope, Run, ScopeId, State};
use crate::{ErrorKind, RunError, ScopeView, TaskId};

/// The bodies inside a step.
///
/// Results stand at the position of their item or branch, so that the outcome does not depend on
/// which one was faster.
pub(super) struct Children {
    results: Vec<Option<Value>>,
    /// The next one to begin.
    next: usize,
    finished: usize,
    running: BTreeSet<ScopeId>,
    max_parallel: usize,
    /// What the results hold in memory while others are awaited.
    bytes: usize,
    parts: Parts,
}

enum Parts {
    Items { body: Arc<Body>, item_name: Arc<str>, items: Value },
    Branches(Vec<(Arc<str>, Arc<Body>)>),
    Tool,
}

impl Run {
    /// Begins the body of a whole tool.
    pub(super) fn enter_tool(
        &mut self,
        tool: &Arc<Tool>,
        input: Value,
        parent: Option<(TaskId, usize)>,
        prefix: Vec<u32>,
        depth: usize,
    ) -> ScopeId {
        self.enter(LiveScope {
            parent,
            tool: Some(Arc::clone(tool)),
            body: Arc::clone(&tool.body),
            view: ScopeView::default(),
            input,
            result: Value::Null,
            result_of: None,
            prefix,
            next_position: 0,
            depth,
            bytes: 0,
        })
    }

    fn enter(&mut self, scope: LiveScope) -> ScopeId {
        let id = self.next_scope;
        self.next_scope += 1;
        self.ready.push_back((id, scope.body.start));
        self.scopes.insert(id, Box::new(scope));
        id
    }

    pub(super) fn open_items(&mut self, id: TaskId, items: &Value, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let Kind::Foreach { item_name, body, max_parallel, .. } = &self.node(step).kind else {
            return;
        };
        // JSONata gives a single match as itself and no match as nothing; a loop means a list.
        let items = match items {
            Value::Array(_) => items.clone(),
            Value::Null => Value::array(Vec::new()),
            single => Value::array(vec![single.clone()]),
        };
        let count = items.as_array().map_or(0, |items| items.len());
        let parts = Parts::Items { body: body.clone(), item_name: item_name.clone(), items };
        self.contain(id, parts, count, *max_parallel);
        self.fill(id, now);
    }

    pub(super) fn open_branches(&mut self, id: TaskId, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let Kind::Parallel { branches, max_parallel } = &self.node(step).kind else { return };
        let count = branches.len();
        self.contain(id, Parts::Branches(branches.clone()), count, *max_parallel);
        self.fill(id, now);
    }

    pub(super) fn open_tool(&mut self, id: TaskId, name: &str, input: &Value, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let Some(tool) = self.graph.tool(name).cloned() else {
            let message = format!("there is no tool `{name}` in this file");
            self.fail(id, RunError::new(ErrorKind::Internal, message), now);
            return;
        };
        let limit = self.limits.depth;
        let depth = self.scopes[&step.scope].depth + 1;
        if depth > limit {
            let message = format!("`graph` nodes call each other deeper than maxDepth ({limit})");
            let place = (step.scope, step.node);
            let error = RunError::new(ErrorKind::Limit, message).at(&self.node(step).id);
            self.give_up(error, Some(place), now);
            return;
        }
        let mut prefix = step.path.0.to_vec();
        prefix.push(0);
        let input = tool.input.with_defaults(input);
        if let Err(error) = check_input(&tool, &input) {
            self.fail(id, error, now);
            return;
        }
        self.contain(id, Parts::Tool, 1, 1);
        let scope = self.enter_tool(&tool, input, Some((id, 0)), prefix, depth);
        self.allow(scope, &tool, now);
        if let Some(children) = self.children(id) {
            children.next = 1;
            children.running.insert(scope);
        }
    }

    fn contain(&mut self, id: TaskId, parts: Parts, count: usize, max_parallel: usize) {
        if let Some(step) = self.steps.get_mut(&id) {
            step.state = State::Containing(Children {
                results: vec![None; count],
                next: 0,
                finished: 0,
                running: BTreeSet::new(),
                max_parallel,
                bytes: 0,
                parts,
            });
        }
    }

    fn children(&mut self, id: TaskId) -> Option<&mut Children> {
        match &mut self.steps.get_mut(&id)?.state {
            State::Containing(children) => Some(children),
            _ => None,
        }
    }

    /// Begins as many of a step's bodies as may run at once; ends the step when all are done.
    fn fill(&mut self, id: TaskId, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let State::Containing(children) = &step.state else { return };
        if children.finished == children.results.len() {
            let output = children.output();
            // The results are counted again as the output of the step.
            self.stop_work(id, now);
            self.succeed(id, output, now);
            return;
        }
        let Some(outer) = self.scopes.get(&step.scope) else { return };
        let view = Arc::new(outer.view.clone());
        let last = outer.result.clone();
        let depth = outer.depth;
        let path = step.path.0.to_vec();
        loop {
            let Some(children) = self.children(id) else { return };
            if children.running.len() >= children.max_parallel
                || children.next >= children.results.len()
            {
                return;
            }
            let index = children.next;
            children.next += 1;
            let Some((body, view)) = children.parts.part(index, &view, &last) else { return };
            let mut prefix = path.clone();
            prefix.push(u32::try_from(index).unwrap_or(u32::MAX));
            let scope = self.enter(LiveScope {
                parent: Some((id, index)),
                tool: None,
                body,
                view,
                input: Value::Null,
                result: Value::Null,
                result_of: None,
                prefix,
                next_position: 0,
                depth,
                bytes: 0,
            });
            if let Some(children) = self.children(id) {
                children.running.insert(scope);
            }
        }
    }

    /// A body came to its end.
    pub(super) fn close_scope(&mut self, scope_id: ScopeId, now: Duration) {
        let Some(scope) = self.scopes.remove(&scope_id) else { return };
        self.disallow(scope_id);
        self.context_bytes = self.context_bytes.saturating_sub(scope.bytes);
        let checked = match &scope.tool {
            Some(tool) => check_output(tool, &scope.result),
            None => Ok(()),
        };
        match (scope.parent, checked) {
            (None, checked) => {
                let result = scope.result.clone();
                self.conclude(checked.map(|()| result), now);
            }
            (Some((parent, _)), Err(error)) => self.fail(parent, error, now),
            (Some((parent, index)), Ok(())) => {
                if let Err(error) = self.keep(parent, index, &scope.result) {
                    let place = self.steps.get(&parent).map(|step| (step.scope, step.node));
                    self.give_up(error, place, now);
                    return;
                }
                if let Some(children) = self.children(parent) {
                    children.running.remove(&scope_id);
                }
                self.fill(parent, now);
            }
        }
    }

    /// Keeps the result of a body until those beside it have theirs.
    fn keep(&mut self, id: TaskId, index: usize, result: &Value) -> Result<(), RunError> {
        let Some(step) = self.steps.get(&id) else { return Ok(()) };
        let node = Arc::clone(&self.node(step).id);
        let bytes = self.scopes[&step.scope].view.added_bytes(result);
        self.hold(bytes).map_err(|error| error.at(&node))?;
        if let Some(children) = self.children(id) {
            children.results[index] = Some(result.clone());
            children.finished += 1;
            children.bytes += bytes;
        }
        Ok(())
    }

    /// A body failed, and with it the step that contains it.
    pub(super) fn fail_scope(&mut self, scope_id: ScopeId, error: RunError, now: Duration) {
        let Some(scope) = self.scopes.get(&scope_id) else { return };
        let Some((parent, _)) = scope.parent else {
            self.conclude(Err(error), now);
            return;
        };
        self.drop_scope(scope_id, now);
        self.stop_work(parent, now);
        self.fail(parent, error, now);
    }

    /// Stops the bodies inside a step and forgets the results of those that ended.
    pub(super) fn drop_children(&mut self, children: &Children, now: Duration) {
        for scope in &children.running {
            self.drop_scope(*scope, now);
        }
        self.context_bytes = self.context_bytes.saturating_sub(children.bytes);
    }

    /// Forgets a body and stops what is under way in it.
    fn drop_scope(&mut self, scope_id: ScopeId, now: Duration) {
        let under_way: Vec<TaskId> = self
            .steps
            .iter()
            .filter(|(_, step)| step.scope == scope_id)
            .map(|(id, _)| *id)
            .collect();
        let error = RunError::new(ErrorKind::Cancelled, "stopped: what contains it has failed");
        for step in under_way {
            self.stop_step(step, &error, now);
        }
        self.disallow(scope_id);
        if let Some(scope) = self.scopes.remove(&scope_id) {
            self.context_bytes = self.context_bytes.saturating_sub(scope.bytes);
        }
        self.ready.retain(|(ready, _)| *ready != scope_id);
        self.drop_held(Some(scope_id));
    }
}

// === impl Children ===

impl Children {
    pub(super) fn running(&self) -> impl Iterator<Item = ScopeId> {
        self.running.iter().copied()
    }

    /// Whether the bodies begin with the data so far, as branches do, and not with an item.
    pub(super) fn begin_with_last(&self) -> bool {
        matches!(self.parts, Parts::Branches(_))
    }

    /// Whether the bodies are those of a loop.
    pub(super) fn are_items(&self) -> bool {
        matches!(self.parts, Parts::Items { .. })
    }

    fn output(&self) -> Value {
        let mut results = self.results.iter().map(|result| result.clone().unwrap_or_default());
        match &self.parts {
            Parts::Items { .. } => results.collect::<Vec<_>>().into(),
            Parts::Branches(branches) => {
                branches.iter().map(|(name, _)| name.clone()).zip(results).collect::<Map>().into()
            }
            Parts::Tool => results.next().unwrap_or_default(),
        }
    }
}

// === impl Parts ===

impl Parts {
    /// The body at `index` and what it sees: a loop's its item, a branch the data so far.
    fn part(
        &self,
        index: usize,
        outer: &Arc<ScopeView>,
        last: &Value,
    ) -> Option<(Arc<Body>, ScopeView)> {
        match self {
            Self::Items { body, item_name, items } => {
                let item = items.at(index).cloned().unwrap_or_default();
                let mut view = ScopeView::inside(Arc::clone(outer), item.clone());
                view.set(Arc::clone(item_name), item);
                view.set("index".into(), index.into());
                Some((Arc::clone(body), view))
            }
            Self::Branches(branches) => {
                let view = ScopeView::inside(Arc::clone(outer), last.clone());
                Some((Arc::clone(&branches[index].1), view))
            }
            // A tool is entered by itself and sees nothing of its caller.
            Self::Tool => None,
        }
    }
}
