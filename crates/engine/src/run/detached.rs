//! Calls that nothing waits for: they neither delay the run's answer nor change it, and the run has
//! ended when the last of them has.

use std::sync::Arc;
use std::time::Duration;

use super::Run;
use crate::{Event, Outcome, RunError, StepId, TaskId};

/// A call under way that nothing waits for.
pub(super) struct Detached {
    number: StepId,
    node: Arc<str>,
}

impl Run {
    /// Lets what follows a step begin while its call is under way.
    pub(super) fn detach(&mut self, id: TaskId, number: StepId, now: Duration) {
        let Some(step) = self.steps.remove(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        let node = &scope.body.nodes[step.node];
        self.detached.insert(id, Detached { number, node: Arc::clone(&node.id) });
        match node.next {
            Some(next) => self.ready.push_back((step.scope, next)),
            None => self.close_scope(step.scope, now),
        }
    }

    /// Such a call ended; an outcome nobody knows of is dropped.
    pub(super) fn detached_ended(&mut self, id: TaskId, outcome: Outcome, now: Duration) {
        let Outcome::Called(outcome) = outcome else { return };
        let Some(Detached { number: step, node }) = self.detached.remove(&id) else { return };
        self.events.push(match outcome {
            Ok(output) => Event::StepFinished { step, output, edge: None, at: now },
            Err(error) => Event::StepFailed { step, error: error.at(&node), edge: None, at: now },
        });
        if self.detached.is_empty()
            && let Some(answer) = self.answer.take()
        {
            self.finish(answer, now);
        }
    }

    /// Stops all of them.
    pub(super) fn stop_detached(&mut self, error: &RunError, now: Duration) {
        for (id, Detached { number: step, .. }) in std::mem::take(&mut self.detached) {
            self.take_back(id);
            let error = error.clone();
            self.events.push(Event::StepFailed { step, error, edge: None, at: now });
        }
    }
}
