//! The life of a step: it begins, is evaluated, called or filled with bodies, and ends.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Kind, Node, NodeIx, Schema, Target, Tool};
use mcpgraph_value::{MAX_DEPTH, Value};

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
    fn attempt(&mut self, id: TaskId, now: Duration) {
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

    /// A step has its output and goes on to the node's `next`.
    pub(super) fn succeed(&mut self, id: TaskId, output: Value, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let next = self.node(step).next;
        self.leave(id, output, next, now);
    }

    /// A step has its output and goes on to a given node, or ends its body.
    fn leave(&mut self, id: TaskId, output: Value, next: Option<NodeIx>, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let (scope_id, number) = (step.scope, step.number.unwrap_or_default());
        let Some(scope) = self.scopes.get(&scope_id) else { return };
        let body = Arc::clone(&scope.body);
        let step_node = step.node;
        let node = &body.nodes[step_node];
        let bytes = scope.view.added_bytes(&output);
        if let Some(error) = check_payload("output", &output, bytes, self.limits.payload_bytes) {
            self.fail(id, error, now);
            return;
        }
        if let Err(error) = self.hold(bytes) {
            self.give_up(error.at(&node.id), Some((scope_id, step_node)), now);
            return;
        }
        let Some(scope) = self.scopes.get_mut(&scope_id) else { return };
        scope.bytes += bytes;

        let is_exit = matches!(node.kind, Kind::Exit);
        if node.kind.carries_data() {
            scope.result = output.clone();
            scope.result_of = Some(step_node);
        }
        scope.view.push(&node.id, output.clone());
        let edge = next.map(|next| Arc::clone(&body.nodes[next].id));
        self.events.push(Event::StepFinished { step: number, output, edge, at: now });
        self.drop_step(id, now);
        match next {
            Some(next) if !is_exit => self.ready.push_back((scope_id, next)),
            _ => self.close_scope(scope_id, now),
        }
    }

    /// A step failed: it is tried again, or its `onError` takes over, or its body fails.
    pub(super) fn fail(&mut self, id: TaskId, error: RunError, now: Duration) {
        let number = self.announce(id, None, now);
        let Some(step) = self.steps.get(&id) else { return };
        let scope_id = step.scope;
        let Some(scope) = self.scopes.get(&scope_id) else { return };
        let body = Arc::clone(&scope.body);
        let node = &body.nodes[step.node];
        let error = error.at(&node.id);
        if let Some(retry) = &node.retry
            && step.attempt < retry.times
            && error.kind.is_retried(retry.on)
        {
            self.forget_failing();
            self.retry_later(id, number, node, error, now);
            return;
        }
        let handler = handler(node, error.kind);
        let failed = step.node;
        self.drop_step(id, now);
        self.events.push(Event::StepFailed {
            step: number,
            error: error.clone(),
            edge: handler.map(|handler| Arc::clone(&body.nodes[handler].id)),
            at: now,
        });
        match handler {
            Some(handler) => {
                self.forget_failing();
                if let Some(scope) = self.scopes.get_mut(&scope_id) {
                    scope.view.set("error".into(), error.to_value());
                }
                self.ready.push_back((scope_id, handler));
            }
            None => {
                self.keep_failing(number, scope_id);
                self.keep_place(scope_id, failed);
                self.fail_scope(scope_id, error, now);
            }
        }
    }

    fn retry_later(
        &mut self,
        id: TaskId,
        number: StepId,
        node: &Node,
        error: RunError,
        now: Duration,
    ) {
        self.stop_work(id, now);
        let Some(step) = self.steps.get_mut(&id) else { return };
        step.attempt += 1;
        let delay = node.backoff(step.attempt);
        let due = now + delay;
        step.deadline = Some(due);
        self.timers.set(due, id);
        self.events.push(Event::Retrying {
            step: number,
            attempt: step.attempt,
            delay,
            error,
            at: now,
        });
    }

    /// A step's timer is due: its retry begins, or its attempt took too long.
    pub(super) fn timer_fired(&mut self, id: TaskId, now: Duration) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        step.deadline = None;
        if matches!(step.state, State::Idle) {
            self.attempt(id, now);
            return;
        }
        let node = self.node(&self.steps[&id]);
        let limit = node.timeout.unwrap_or_default();
        let asks = matches!(&node.kind, Kind::Call { target: Target::Ask(_), .. });
        let is_asking = asks && matches!(self.steps[&id].state, State::Asking);
        self.stop_work(id, now);
        let error = if is_asking {
            RunError::unanswered(limit)
        } else {
            let limit = limit.as_millis();
            let message = format!("the node took longer than its timeoutMs ({limit} ms)");
            RunError::new(ErrorKind::Timeout, message)
        };
        self.fail(id, error, now);
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

    /// Counts `bytes` more in memory, unless that is more than the run may hold.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), RunError> {
        let limit = self.limits.context_bytes;
        let held = self.context_bytes.saturating_add(bytes);
        if held > limit {
            return Err(RunError::new(
                ErrorKind::Limit,
                format!(
                    "the outputs of the run are larger than maxContextBytes ({limit} bytes); raise \
                     the limit in executionLimits, or pass on less"
                ),
            ));
        }
        self.context_bytes = held;
        Ok(())
    }

    /// Stops what is under way for a step, which may begin again.
    pub(super) fn stop_work(&mut self, id: TaskId, now: Duration) {
        let Some(step) = self.steps.get_mut(&id) else { return };
        self.timers.clear(step.deadline.take(), id);
        match std::mem::replace(&mut step.state, State::Idle) {
            State::Evaluating | State::Calling => self.take_back(id),
            State::Asking => {
                self.patience.ends(now);
                self.take_back(id);
            }
            State::Containing(children) => self.drop_children(&children, now),
            State::Idle => {}
        }
    }

    /// Takes back the action of a step: it is never handed out, or is to be aborted if it was.
    pub(super) fn take_back(&mut self, id: TaskId) {
        let before = self.actions.len();
        self.actions.retain(|action| match action {
            Action::Evaluate(evaluation) => evaluation.task != id,
            Action::Call(call) => call.task != id,
            Action::Abort(_) => true,
        });
        if self.actions.len() == before {
            self.actions.push_back(Action::Abort(id));
        }
    }

    /// Ends a step for a reason that is not its own.
    pub(super) fn stop_step(&mut self, id: TaskId, error: &RunError, now: Duration) {
        let number = self.steps.get(&id).and_then(|step| step.number);
        self.drop_step(id, now);
        if let Some(step) = number {
            let error = error.clone();
            self.events.push(Event::StepFailed { step, error, edge: None, at: now });
        }
    }

    /// Forgets a step and stops what is under way for it.
    pub(super) fn drop_step(&mut self, id: TaskId, now: Duration) {
        self.stop_work(id, now);
        self.steps.remove(&id);
    }

    pub(super) fn node(&self, step: &LiveStep) -> &Node {
        &self.scopes[&step.scope].body.nodes[step.node]
    }
}

/// The node that takes a failure over. Where nobody answered there may be one for just that.
fn handler(node: &Node, kind: ErrorKind) -> Option<NodeIx> {
    let own = match (&node.kind, kind) {
        (Kind::Call { target: Target::Ask(ask), .. }, ErrorKind::Declined) => ask.on_decline,
        (Kind::Call { target: Target::Ask(ask), .. }, ErrorKind::Unanswered) => ask.on_timeout,
        _ => None,
    };
    own.or_else(|| node.on_error.filter(|_| kind.is_catchable()))
}

/// Whether arguments fit a tool.
pub(super) fn check_input(tool: &Tool, input: &Value) -> Result<(), RunError> {
    check_schema(&tool.input, input).map_err(|violations| {
        RunError::new(
            ErrorKind::InvalidInput,
            format!("the arguments of `{}` do not fit its inputSchema: {violations}", tool.name),
        )
    })
}

/// Whether a result fits a tool.
pub(super) fn check_output(tool: &Tool, output: &Value) -> Result<(), RunError> {
    let Some(schema) = &tool.output else { return Ok(()) };
    check_schema(schema, output).map_err(|violations| {
        RunError::new(
            ErrorKind::InvalidOutput,
            format!("the result of `{}` does not fit its outputSchema: {violations}", tool.name),
        )
    })
}

fn check_schema(schema: &Schema, value: &Value) -> Result<(), String> {
    let violations = schema.violations(value);
    if violations.is_empty() {
        return Ok(());
    }
    Err(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Whether an input or output is small and flat enough. One that adds no bytes has been looked at.
pub(super) fn check_payload(
    what: &str,
    value: &Value,
    bytes: usize,
    limit: usize,
) -> Option<RunError> {
    if bytes > limit {
        return Some(RunError::new(
            ErrorKind::Limit,
            format!(
                "the {what} is larger than maxPayloadBytes ({bytes} of {limit} bytes); raise the \
                 limit in executionLimits, or ask for less"
            ),
        ));
    }
    (bytes > 0 && value.is_deeper_than(MAX_DEPTH)).then(|| {
        RunError::new(
            ErrorKind::Limit,
            format!("the {what} nests deeper than {MAX_DEPTH} levels, the limit for JSON values"),
        )
    })
}
