//! What leads to the next event of a record.
//!
//! A record does not tell everything: that an input is being evaluated, that a retry has begun, that
//! a step which was held is no longer. Of these, a replay lets happen what the next event needs, as
//! late as it can be.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::ExprError;

use super::Replay;
use crate::{
    Action, ErrorKind, Evaluated, Evaluation, Event, Outcome, PauseReason, RunError, StepId,
    StepPath, TaskId,
};

/// How expressions are evaluated.
pub(super) type Evaluate<'e> = &'e mut dyn FnMut(&Evaluation) -> Result<Evaluated, ExprError>;

/// What became of an attempt to answer a step.
enum Answer {
    /// It has its answer.
    Given,
    /// It waits, but what the record tells did not come from what it waits for.
    NotItsOwn,
    /// It waits for nothing.
    NotAwaited,
}

impl<'r> Replay<'r> {
    /// Lets happen what follows from a step that is held, unless the run stood still for it; false if
    /// nothing is to be released.
    pub(super) fn release(&mut self) -> bool {
        let Some(held) = self.run.held().filter(|_| !self.run.is_paused()) else { return false };
        let is_looked_at = match self.record.get(self.position) {
            Some(Event::Paused { why: PauseReason::After(node), .. }) => node == held.node,
            _ => false,
        };
        if is_looked_at && !held.was_seen {
            self.jumps |= self.run.holds_two_alike();
            return false;
        }
        self.run.release(self.now());
        true
    }

    /// The same while the run stands still: in older records, what followed from the end of a step
    /// did not wait for that.
    fn release_early(&mut self, now: Duration) -> bool {
        let is_held = self.run.is_paused() && self.run.held().is_some_and(|held| !held.was_seen);
        if is_held {
            self.run.release(now);
        }
        is_held
    }

    /// Does what leads to the next event of the record; false if nothing does.
    pub(super) fn follow(&mut self, next: &Event, evaluate: Evaluate<'_>) -> bool {
        let now = next.at();
        if let Some(error) = self.stopped_by(next) {
            // Whatever could have begun by then did not.
            let rest = self.record.get(self.position..).unwrap_or_default();
            let stopped: Vec<StepId> = rest.iter().filter_map(failed).collect();
            self.run.abort_in_order(error.clone(), &stopped, now);
            return self.run.has_events();
        }
        match next {
            Event::Started { .. } => return false,
            Event::Paused { why, .. } => self.run.pause(why.clone(), now),
            Event::Resumed { waited, .. } => self.run.resume(*waited, now),
            Event::OutputChanged { scope, node, output, .. } => {
                return self.run.set_output(Some(scope), node, output.clone(), now).is_ok();
            }
            Event::Log { step, level, message, .. } => {
                self.run.log(*step, *level, Arc::clone(message), now);
            }
            Event::Finished { outcome, .. } => {
                return self.begin_more()
                    || self.release_early(now)
                    || self.end(outcome.as_ref().err(), now);
            }
            Event::StepStarted { step, path, began, .. } => {
                let error = self.failure(next);
                return match self.answer(*step, error, next, evaluate) {
                    Answer::Given => true,
                    Answer::NotItsOwn => self.end(error, now) || self.begin_more(),
                    Answer::NotAwaited => {
                        self.begin(path, *began)
                            || self.open_container(path, now, evaluate)
                            || self.release_early(now)
                            || self.begin_more()
                            || self.end(error, now)
                    }
                };
            }
            Event::StepFinished { step, .. }
            | Event::StepFailed { step, .. }
            | Event::Retrying { step, .. } => {
                let error = self.failure(next);
                return match self.answer(*step, error, next, evaluate) {
                    Answer::Given => true,
                    Answer::NotItsOwn => {
                        self.stop_container(now) || self.end(error, now) || self.begin_more()
                    }
                    Answer::NotAwaited => {
                        self.stop_container(now)
                            || self.fire(*step, error, now)
                            || self.begin_more()
                            || self.release_early(now)
                            || self.end(error, now)
                    }
                };
            }
        }
        true
    }

    /// The error with which somebody ended the whole run, if that is what an event tells of: the
    /// record then ends with it, at the same time. So it is where too many nodes were executed: how
    /// many had begun whose input was not there yet, the record does not tell.
    fn stopped_by(&self, event: &Event) -> Option<&'r RunError> {
        let (Event::StepFailed { error: told, at, .. }
        | Event::Finished { outcome: Err(told), at }) = event
        else {
            return None;
        };
        let Some(Event::Finished { outcome: Err(error), at: end }) = self.record.last() else {
            return None;
        };
        let is_it = error == told
            && end == at
            && (self.run.ended_from_outside(error, *at) || self.run.is_out_of_executions(error));
        is_it.then_some(error)
    }

    /// The error that an event of the record tells of.
    fn failure(&self, event: &Event) -> Option<&'r RunError> {
        // A step that fails before it has its input is told of only then.
        let ahead = usize::from(matches!(event, Event::StepStarted { input: None, .. }));
        match self.record.get(self.position + ahead) {
            Some(Event::StepFailed { error, .. } | Event::Retrying { error, .. }) => Some(error),
            _ => None,
        }
    }

    /// Whether the record ends where a step is told of that failed before it had its input.
    fn breaks_off_at(&self, event: &Event) -> bool {
        self.position + 1 == self.record.len()
            && matches!(event, Event::StepStarted { input: None, .. })
    }

    /// Answers what a step waits for, with what the record says of it.
    fn answer(
        &mut self,
        step: StepId,
        error: Option<&RunError>,
        next: &Event,
        evaluate: Evaluate<'_>,
    ) -> Answer {
        let now = next.at();
        let task = self.paths.get(&step).and_then(|path| self.tasks.get(path)).copied();
        let Some((task, action)) = task.and_then(|task| self.pending.get_key_value(&task)) else {
            return Answer::NotAwaited;
        };
        let task = *task;
        let is_anothers = |error: &RunError| {
            // A limit that is reached at one node ends everything that is under way elsewhere.
            error.kind == ErrorKind::Limit && error.node.as_ref() != action.node()
        };
        if error.is_some_and(|error| self.run.ended_from_outside(error, now) || is_anothers(error))
        {
            return Answer::NotItsOwn;
        }
        let outcome = match (action, error, next) {
            (Action::Evaluate(evaluation), error, _) => {
                if (is_timeout(error) || self.breaks_off_at(next)) && self.run.fire(task, now) {
                    return Answer::Given;
                }
                Outcome::Evaluated(evaluate(evaluation))
            }
            (Action::Call(_), Some(error), _) => Outcome::Called(Err(error.clone())),
            (Action::Call(_), None, Event::StepFinished { output, .. }) => {
                Outcome::Called(Ok(output.clone()))
            }
            (Action::Call(_) | Action::Abort(_), ..) => return Answer::NotAwaited,
        };
        self.pending.remove(&task);
        self.run.apply(task, outcome, now);
        Answer::Given
    }

    /// Lets the retry of a step begin, or its time be up, where one of them is due and leads to
    /// what the record tells of it.
    fn fire(&mut self, step: StepId, error: Option<&RunError>, now: Duration) -> bool {
        let task = self.paths.get(&step).and_then(|path| self.run.step_at(path.positions()));
        let Some(task) = task else { return false };
        match self.run.retry_of(task) {
            // One that was stopped while it waited for its retry is not tried again.
            Some(_) if error.is_some_and(|error| error.kind == ErrorKind::Cancelled) => false,
            // A container that is tried again may come to its end at once. If it is told of for
            // another reason, the time it is given begins with the retry.
            Some(_) if self.run.is_container(task) && !is_timeout(error) => {
                self.run.fire(task, now)
            }
            Some(due) => due <= now && self.run.fire(task, due),
            None => is_timeout(error) && self.run.fire(task, now),
        }
    }

    /// Lets the time be up of the container for which steps inside it were stopped, if that is what
    /// the record tells next.
    fn stop_container(&mut self, now: Duration) -> bool {
        let rest = self.record.get(self.position..).unwrap_or_default();
        let stopped = rest.iter().take_while(|event| is_stop(event)).filter_map(failed);
        let stopped: Vec<&StepPath> = stopped.filter_map(|step| self.paths.get(&step)).collect();
        let Some(first) = stopped.first() else { return false };
        // What stopped them is told after them. If the record breaks off before, it was the first
        // whose time was up.
        let cause = match rest.iter().find(|event| !is_stop(event)) {
            Some(Event::StepFailed { step, error, .. } | Event::Retrying { step, error, .. })
                if is_timeout(Some(error)) =>
            {
                let path = self.paths.get(step).filter(|path| first.is_inside(path));
                path.and_then(|path| self.run.step_at(path.positions()))
            }
            Some(_) => None,
            None => {
                let around = containers(first)
                    .filter(|around| stopped.iter().all(|path| is_around(around, path)));
                let tasks: Vec<TaskId> =
                    around.filter_map(|around| self.run.step_at(around)).collect();
                self.run.first_due(&tasks, now)
            }
        };
        cause.is_some_and(|task| self.run.fire(task, now))
    }

    /// Lets a container go on in which a step is the next to begin: where it failed and is tried
    /// again, the record tells of it only by what then happens inside.
    fn open_container(&mut self, path: &StepPath, now: Duration, evaluate: Evaluate<'_>) -> bool {
        for container in containers(path) {
            let Some(task) = self.run.step_at(container) else { return false };
            let in_line = self.run.in_line();
            if let Some(due) = self.run.retry_of(task) {
                if due > now {
                    return false;
                }
                self.run.fire(task, due);
            } else if matches!(self.pending.get(&task), Some(Action::Evaluate(_))) {
                let Some(Action::Evaluate(evaluation)) = self.pending.remove(&task) else {
                    return false;
                };
                self.run.apply(task, Outcome::Evaluated(evaluate(&evaluation)), now);
            } else {
                continue;
            }
            // It went on before this, and what it opened is in line before what came since. What
            // came earlier has begun, or the record would not tell of this first.
            self.run.put_first_since(in_line);
            return true;
        }
        false
    }

    /// Lets begin what leads to the beginning of a step that is in line; false if it is not.
    fn begin(&mut self, path: &StepPath, began: Duration) -> bool {
        // While a run stands still, only what had begun before that is told of.
        if self.jumps || self.run.is_paused() {
            return self.run.begin_at(path, began);
        }
        self.run.is_ready(path) && self.begin_more()
    }

    /// Lets the next step begin; false if none can.
    fn begin_more(&mut self) -> bool {
        let Some(upcoming) = self.run.upcoming() else { return false };
        let now = self.began(&upcoming.path).unwrap_or_else(|| self.now());
        self.run.begin_next(now)
    }

    /// When the next step at a place began.
    fn began(&mut self, path: &StepPath) -> Option<Duration> {
        let all = self.began.get_mut(path)?;
        while all.front().is_some_and(|(position, _)| *position < self.position) {
            all.pop_front();
        }
        all.front().map(|(_, began)| *began)
    }

    /// Lets a step, at which the run is to be left, be the next to begin; false if something else
    /// has to happen before.
    pub(super) fn arrive(
        &mut self,
        path: &StepPath,
        now: Duration,
        evaluate: Evaluate<'_>,
    ) -> bool {
        self.run.put_first(path) || !self.open_container(path, now, evaluate)
    }

    /// Takes everything the run wants done.
    pub(super) fn take_actions(&mut self) {
        while let Some(action) = self.run.any_action() {
            self.take(action);
        }
    }

    fn take(&mut self, action: Action) {
        match action {
            Action::Abort(task) => {
                self.pending.remove(&task);
            }
            action => {
                let path = match &action {
                    Action::Evaluate(evaluation) => Some(evaluation.path()),
                    // A call without an expression before it has been told of as a step.
                    Action::Call(call) => self.paths.get(&call.step),
                    Action::Abort(_) => None,
                };
                if let Some(path) = path {
                    self.tasks.insert(path.clone(), action.task());
                }
                self.pending.insert(action.task(), action);
            }
        }
    }

    /// Nothing that is told leads further: what was to be tried again was, or somebody ended the run.
    fn end(&mut self, error: Option<&RunError>, now: Duration) -> bool {
        if let Some((due, task)) = self.run.first_retry(now) {
            return self.run.fire(task, due);
        }
        match error {
            Some(error) if self.run.ended_from_outside(error, now) => {
                self.run.abort(error.clone(), now);
                self.run.has_events()
            }
            _ => false,
        }
    }
}

/// The places of the steps around a place, the outermost first: every other position is that of an
/// item or a branch.
fn containers(path: &StepPath) -> impl Iterator<Item = &[u32]> {
    let positions = path.positions();
    (1..positions.len()).step_by(2).filter_map(|end| positions.get(..end))
}

fn is_around(container: &[u32], path: &StepPath) -> bool {
    path.positions().len() > container.len() && path.positions().starts_with(container)
}

/// The step that an event says has failed.
fn failed(event: &Event) -> Option<StepId> {
    match event {
        Event::StepFailed { step, .. } => Some(*step),
        _ => None,
    }
}

/// Whether an event tells of a step that was stopped because of something around it.
fn is_stop(event: &Event) -> bool {
    matches!(event, Event::StepFailed { error, .. }
        if error.kind == ErrorKind::Cancelled && error.node.is_none())
}

fn is_timeout(error: Option<&RunError>) -> bool {
    error.is_some_and(|error| error.kind == ErrorKind::Timeout)
}
