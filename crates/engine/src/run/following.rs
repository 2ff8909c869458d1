//! What a replay asks of a run: what was decided from outside, and what the record tells only by
//! what followed from it, is made to happen here as it did then.

use std::time::Duration;

use mcpgraph_graph::{Kind, NodeIx};

use super::{Run, ScopeId, State};
use crate::{Action, ErrorKind, RunError, StepId, StepPath, TaskId};

impl Run {
    /// Whether something happened that nobody has heard of yet.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether there is something to hand out or to begin.
    pub(crate) fn has_work(&self) -> bool {
        !self.actions.is_empty() || !self.ready.is_empty()
    }

    /// What there is to do, whether the run stands still or not.
    pub(crate) fn any_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether an error is none of a step's own: the caller left, or the time was up.
    pub(crate) fn ended_from_outside(&self, error: &RunError, now: Duration) -> bool {
        match error.kind {
            ErrorKind::Cancelled | ErrorKind::Internal => true,
            ErrorKind::Limit => self.is_out_of_time(now),
            _ => false,
        }
    }

    /// Ends the run as [`Run::abort`] does, and what is under way in the order in which these steps
    /// are named: in older records it is another than that of their numbers.
    pub(crate) fn abort_in_order(&mut self, error: RunError, steps: &[StepId], now: Duration) {
        for number in steps {
            let is_it = |step: &super::LiveStep| step.number == Some(*number);
            let task = self.steps.iter().find(|(_, step)| is_it(step)).map(|(task, _)| *task);
            if let Some(task) = task {
                self.stop_step(task, &error, now);
            }
        }
        self.abort(error, now);
    }

    /// Whether the step that will stand at a place may begin.
    pub(crate) fn is_ready(&self, path: &StepPath) -> bool {
        self.place_in_line(path).is_some()
    }

    /// Lets the step begin that will stand at a place, although others are before it or the run
    /// stands still; false if there is none.
    pub(crate) fn begin_at(&mut self, path: &StepPath, now: Duration) -> bool {
        let place = self.place_in_line(path);
        let Some((scope, node)) = place.and_then(|place| self.ready.remove(place)) else {
            return false;
        };
        self.begin(scope, node, now);
        true
    }

    /// Lets the step that will stand at a place be the next to begin; false if there is none.
    pub(crate) fn put_first(&mut self, path: &StepPath) -> bool {
        let place = self.place_in_line(path);
        let step = place.and_then(|place| self.ready.remove(place));
        step.map(|step| self.ready.push_front(step)).is_some()
    }

    /// How many steps may begin.
    pub(crate) fn in_line(&self) -> usize {
        self.ready.len()
    }

    /// Lets those that may begin since there were so many be the next.
    pub(crate) fn put_first_since(&mut self, count: usize) {
        let by = self.ready.len().saturating_sub(count);
        self.ready.rotate_right(by);
    }

    fn place_in_line(&self, path: &StepPath) -> Option<usize> {
        let (position, prefix) = path.positions().split_last()?;
        let is_it = |(scope, _): &(ScopeId, NodeIx)| {
            let scope = self.scopes.get(scope);
            scope.is_some_and(|it| it.next_position == *position && it.prefix == prefix)
        };
        self.ready.iter().position(is_it)
    }

    /// The step that stands at a place.
    pub(crate) fn step_at(&self, path: &[u32]) -> Option<TaskId> {
        self.steps.iter().find(|(_, step)| step.path.positions() == path).map(|(task, _)| *task)
    }

    /// Whether a step is one that contains others.
    pub(crate) fn is_container(&self, id: TaskId) -> bool {
        let kind = self.steps.get(&id).map(|step| &self.node(step).kind);
        matches!(kind, Some(Kind::Foreach { .. } | Kind::Parallel { .. } | Kind::Graph { .. }))
    }

    /// When a step is to be tried again, if it waits for that.
    pub(crate) fn retry_of(&self, id: TaskId) -> Option<Duration> {
        let step = self.steps.get(&id)?;
        step.deadline.filter(|_| matches!(step.state, State::Idle))
    }

    /// The first step that was to be tried again by a time, and when.
    pub(crate) fn first_retry(&self, by: Duration) -> Option<(Duration, TaskId)> {
        self.timers.due(by).find(|(_, id)| self.retry_of(*id).is_some())
    }

    /// The first of these steps whose time was up by a time.
    pub(crate) fn first_due(&self, of: &[TaskId], by: Duration) -> Option<TaskId> {
        self.timers.due(by).map(|(_, id)| id).find(|id| of.contains(id))
    }

    /// Lets a step's time be up, or its retry begin; false if that is not due by now.
    pub(crate) fn fire(&mut self, id: TaskId, now: Duration) -> bool {
        let due = self.steps.get(&id).and_then(|step| step.deadline).filter(|due| *due <= now);
        if due.is_some() {
            self.timers.clear(due, id);
            self.timer_fired(id, now);
        }
        due.is_some()
    }

    /// Whether the first step that is held is followed by another of the same node.
    pub(crate) fn holds_two_alike(&self) -> bool {
        let mut steps = self.holding.iter().flat_map(|holding| holding.nodes_held());
        let first = steps.next();
        steps.any(|node| Some(node) == first)
    }

    /// Hands out once more what was handed out and never answered.
    pub(crate) fn hand_out_again(&mut self, actions: impl Iterator<Item = Action>) {
        for action in actions {
            let task = action.task();
            let is_unwanted = |other: &Action| matches!(other, Action::Abort(of) if *of == task);
            if let Some(abort) = self.actions.iter().position(is_unwanted) {
                self.actions.remove(abort);
                continue;
            }
            match action {
                // The outputs it sees may have been changed since.
                Action::Evaluate(_) => self.evaluate(task),
                action => self.actions.push_back(action),
            }
        }
    }
}
