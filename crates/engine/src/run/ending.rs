//! How a step ends: with an output, by a failure that is tried again, handled or passed on, or
//! because it is no longer wanted.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Kind, Node, NodeIx, Target};
use mcpgraph_value::Value;

use super::checks::check_payload;
use super::holding::Then;
use super::{Run, State};
use crate::{Action, ErrorKind, Event, RunError, StepId, TaskId};

impl Run {
    /// A step has its output and goes on to the node's `next`.
    pub(super) fn succeed(&mut self, id: TaskId, output: Value, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        let next = self.node(step).next;
        self.leave(id, output, next, now);
    }

    /// A step has its output and goes on to a given node, or ends its body.
    pub(super) fn leave(&mut self, id: TaskId, output: Value, next: Option<NodeIx>, now: Duration) {
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
        let then = next.filter(|_| !is_exit).map_or(Then::Close, Then::Begin);
        self.ended(scope_id, &node.id, then, now);
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
        let then = match handler {
            Some(handler) => {
                self.forget_failing();
                if let Some(scope) = self.scopes.get_mut(&scope_id) {
                    scope.view.set("error".into(), error.to_value());
                }
                Then::Begin(handler)
            }
            None => {
                self.keep_failing(Some(number), scope_id);
                self.keep_place(scope_id, failed);
                Then::Fail(error)
            }
        };
        self.ended(scope_id, &node.id, then, now);
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
