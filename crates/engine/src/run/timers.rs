use std::collections::BTreeSet;
use std::time::Duration;

use crate::StepId;

/// When which step is to be looked at; a step has one timer at most.
#[derive(Default)]
pub(super) struct Timers(BTreeSet<(Duration, StepId)>);

impl Timers {
    pub(super) fn set(&mut self, at: Duration, step: StepId) {
        self.0.insert((at, step));
    }

    pub(super) fn clear(&mut self, at: Option<Duration>, step: StepId) {
        if let Some(at) = at {
            self.0.remove(&(at, step));
        }
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.0.first().map(|(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Duration) -> Option<StepId> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(_, step)| step)
    }
}
