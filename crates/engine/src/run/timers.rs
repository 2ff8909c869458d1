use std::collections::BTreeSet;
use std::time::Duration;

use crate::TaskId;

/// When which step is to be looked at; a step has one timer at most.
#[derive(Default)]
pub(super) struct Timers(BTreeSet<(Duration, TaskId)>);

impl Timers {
    pub(super) fn set(&mut self, at: Duration, step: TaskId) {
        self.0.insert((at, step));
    }

    pub(super) fn clear(&mut self, at: Option<Duration>, step: TaskId) {
        if let Some(at) = at {
            self.0.remove(&(at, step));
        }
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.0.first().map(|(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Duration) -> Option<TaskId> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(_, step)| step)
    }

    /// What is due by a time, the first first.
    pub(super) fn due(&self, by: Duration) -> impl Iterator<Item = (Duration, TaskId)> {
        self.0.iter().copied().take_while(move |(at, _)| *at <= by)
    }
}
