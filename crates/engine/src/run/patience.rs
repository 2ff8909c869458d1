use std::time::Duration;

/// The time that a run waits for people. It is not the run's: nobody can promise how long another
/// thinks.
#[derive(Default)]
pub(super) struct Patience {
    /// How many questions wait, and since when one does.
    waiting: usize,
    since: Duration,
    /// How long there was one, before that.
    spent: Duration,
}

impl Patience {
    /// A question is asked.
    pub(super) fn begins(&mut self, now: Duration) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
    }

    /// A question is answered, or no longer asked.
    pub(super) fn ends(&mut self, now: Duration) {
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting == 0 {
            self.spent += now.saturating_sub(self.since);
        }
    }

    /// Whether a question waits.
    pub(super) fn is_needed(&self) -> bool {
        self.waiting > 0
    }

    /// How long the run has waited for people by now, though it may still do.
    pub(super) fn so_far(&self, now: Duration) -> Duration {
        let waiting =
            if self.is_needed() { now.saturating_sub(self.since) } else { Duration::ZERO };
        self.spent + waiting
    }

    /// How long the run has waited for people; none while it does.
    pub(super) fn spent(&self) -> Option<Duration> {
        (!self.is_needed()).then_some(self.spent)
    }
}
