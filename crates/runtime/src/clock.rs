use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time of a run. It stands still while the run does.
///
/// Everything is in whole microseconds since the run began, which is what a record keeps.
pub(crate) struct Clock {
    began: SystemTime,
    /// When the run would have begun if it had never stood still.
    zero: Instant,
    paused: Option<Instant>,
}

impl Clock {
    /// A clock that starts now, at a time of the run.
    pub(crate) fn at(elapsed: Duration) -> Self {
        let now = Instant::now();
        Self {
            began: SystemTime::now(),
            zero: now.checked_sub(elapsed).unwrap_or(now),
            paused: None,
        }
    }

    /// When the run began.
    pub(crate) fn began(&self) -> SystemTime {
        self.began
    }

    /// When the run began, in milliseconds since 1970.
    pub(crate) fn began_millis(&self) -> u64 {
        to_millis(self.began)
    }

    /// The time of the run.
    pub(crate) fn now(&self) -> Duration {
        let until = self.paused.unwrap_or_else(Instant::now);
        let micros = until.saturating_duration_since(self.zero).as_micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    pub(crate) fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    /// Goes on; how long it stood still.
    pub(crate) fn resume(&mut self) -> Duration {
        let Some(paused) = self.paused.take() else { return Duration::ZERO };
        let waited = paused.elapsed();
        self.zero += waited;
        Duration::from_micros(u64::try_from(waited.as_micros()).unwrap_or(u64::MAX))
    }
}

fn to_millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
