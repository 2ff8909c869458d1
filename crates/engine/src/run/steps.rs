//! The life of a step: it begins and is evaluated, called or filled with bodies. How it ends is in
//! `ending`.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Kind, Node, NodeIx, Target};
use mcpgraph_value::Value;

use super::checks::check_payload;
use super::{LiveStep, Run, ScopeId, State};
use crate::{
    Action, Call, ErrorKind, Evaluated, Evaluation, Event, RunError, StepId, StepPath, TaskId,
};

impl Run {
    /// Executes a node for the first time.
    pub(super) fn begin(&mut self, scope_id: ScopeId, node: NodeIx, now: Duration) {
        if let Err(error) = self.count_execution(scope_id) {
            let Some(scope) = self.scopes.get(&scope_id) else { return };
            let error = error.at(&scope.body.nodes[node].id);
            self.give_up(error, Some((scope_id, node)), now);
            return;
        }
        let Some(scope) = self.scopes.get_mut(&scope_id) else { return };
        let mut path = scope.prefix.clone();
        path.push(scope.next_position);
        scope.next_position += 1;
        let task = TaskId(self.next_task);
        self.next_task += 1;
        let step = LiveStep {
            scope: scope_id,
            node,
            path: StepPath(path.into()),
            state: State::Idle,
            attempt: 0,
            deadline: None,
            input: None,
            began: now,
            number: None,
        };
        self.steps.insert(task, Box::new(step));
        self.attempt(task, now);
    }

    /// Begins an attempt; a retry goes on with the input the first one evaluated.
    pub(super) fn attempt(&mut self, id: TaskId, now: Duration) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        let node = &scope.body.nodes[step.node];
        if let Some(timeout) = node.timeout {
            let deadline = now + timeout;
            step.deadline = Some(deadline);
            self.timers.set(deadline, id);
        }
        match &node.kind {
            Kind::Entry => {
                let input = scope.input.clone();
                self.announce(id, None, now);
                self.succeed(id, input, now);
            }
            Kind::Exit => {
                let result = scope.result.clone();
                self.announce(id, None, now);
                self.succeed(id, result, now);
            }
            Kind::Parallel { .. } => {
                self.announce(id, None, now);
                self.open_branches(id, now);
            }
            Kind::Start => self.start_flow(id, now),
            Kind::End => self.end_flow(id, now),
            Kind::Wrapped => self.call_wrapped(id, now),
            Kind::Hook(hook) => {
                let hook = Arc::clone(hook);
                self.call_hook(id, &hook, now);
            }
            Kind::Transform(_) | Kind::Switch { .. } => {
                self.announce(id, None, now);
                self.evaluate(id);
            }
            Kind::Call { .. } | Kind::Foreach { .. } | Kind::Graph { .. } => {
                match step.input.clone() {
                    Some(input) => self.with_input(id, input, now),
                    None => self.evaluate(id),
                }
            }
        }
    }

    pub(super) fn evaluate(&mut self, id: TaskId) {
        let Some(told) = self.steps.get(&id).map(|step| self.told(step.began)) else { return };
        let Some(step) = self.steps.get_mut(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        step.state = State::Evaluating;
        self.actions.push_back(Action::Evaluate(Evaluation {
            task: id,
            body: Arc::clone(&scope.body),
            node: step.node,
            scope: Arc::new(scope.view.clone()),
            path: step.path.clone(),
            told,
            seed: self.given.seed,
        }));
    }

    /// A node's expressions have their values.
    pub(super) fn evaluated(&mut self, id: TaskId, evaluated: Evaluated, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        match (evaluated, &self.node(step).kind) {
            (Evaluated::Route(Some(target)), _) => {
                let output = self.scopes[&step.scope].body.nodes[target].id.clone();
                self.leave(id, output.into(), Some(target), now);
            }
            (Evaluated::Route(None), _) => {
                let error = RunError::new(
                    ErrorKind::NoRoute,
                    "no condition of the switch holds and it has no default; add a condition \
                     without a rule, or a `next`",
                );
                self.fail(id, error, now);
            }
            (Evaluated::Value(value), Kind::Transform(_)) => {
                self.computed(id, value.unwrap_or_default(), now);
            }
            (Evaluated::Value(value), _) => {
                self.with_input(id, value.unwrap_or_default(), now);
            }
        }
    }

    /// A node that works on an evaluated input has it.
    pub(super) fn with_input(&mut self, id: TaskId, input: Value, now: Duration) {
        let number = self.announce(id, Some(input.clone()), now);
        let Some(step) = self.steps.get_mut(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        let bytes = scope.view.added_bytes(&input);
        if let Some(error) = check_payload("input", &input, bytes, self.limits.payload_bytes) {
            self.fail(id, error, now);
            return;
        }
        step.input = Some(input.clone());
        let node = &scope.body.nodes[step.node];
        match &node.kind {
            Kind::Call { target, .. } => {
                let target = target.clone();
                self.call(id, number, target, input, now);
            }
            Kind::Wrapped => self.call(id, number, Target::Wrapped, input, now),
            Kind::Foreach { .. } => self.open_items(id, &input, now),
            Kind::Graph { tool, .. } => {
                let tool = Arc::clone(tool);
                self.open_tool(id, &tool, &input, now);
            }
            Kind::Entry
            | Kind::Exit
            | Kind::Transform(_)
            | Kind::Switch { .. }
            | Kind::Parallel { .. }
            | Kind::Start
            | Kind::End
            | Kind::Hook(_) => {}
        }
    }

    /// Has something outside of the run called for a step.
    pub(super) fn call(
        &mut self,
        id: TaskId,
        number: StepId,
        target: Target,
        args: Value,
        now: Duration,
    ) {
        let told = self.told(now);
        let Some(step) = self.steps.get_mut(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        step.state = if target.is_patient() {
            self.patience.begins(now);
            State::Asking
        } else {
            State::Calling
        };
        let node = &scope.body.nodes[step.node];
        self.actions.push_back(Action::Call(Call {
            task: id,
            step: number,
            path: step.path.clone(),
            node: Arc::clone(&node.id),
            attempt: step.attempt,
            may_repeat: node.retry.is_some(),
            told,
            target,
            args,
            timeout: step.deadline.map(|deadline| deadline.saturating_sub(now)),
        }));
    }

    /// Tells that a step began, once, and gives the number it is told under.
    pub(super) fn announce(&mut self, id: TaskId, input: Option<Value>, now: Duration) -> StepId {
        let Some(step) = self.steps.get_mut(&id) else { return self.next_step };
        if let Some(number) = step.number {
            return number;
        }
        let number = self.next_step;
        let Some(scope) = self.scopes.get(&step.scope) else { return number };
        self.next_step += 1;
        step.number = Some(number);
        let node = &scope.body.nodes[step.node];
        self.events.push(Event::StepStarted {
            step: number,
            path: step.path.clone(),
            node: Arc::clone(&node.id),
            kind: node.kind.name(),
            input,
            item_name: match &node.kind {
                Kind::Foreach { item_name, .. } => Some(Arc::clone(item_name)),
                _ => None,
            },
            began: step.began,
            at: now,
        });
        number
    }

    pub(super) fn node(&self, step: &LiveStep) -> &Node {
        &self.scopes[&step.scope].body.nodes[step.node]
    }
}
