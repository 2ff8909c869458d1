use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time of a run. It stands still while the run does.
///
/// Everything is in whole microseconds since the run began, which is what a record keeps.
pub(crate) struct Clock {
    began: SystemTime,
    /// When the run would have begun if it had never stood still.
    zero: Instant,
    paused: Option<Instant>,
    /// The time of a durable run, which passes only with the outcomes of its steps: another
    /// execution is to see the same times.
    steps: Option<Duration>,
}

impl Clock {
    /// A clock that starts now, at a time of the run.
    pub(crate) fn at(elapsed: Duration) -> Self {
        let now = Instant::now();
        Self {
            began: SystemTime::now(),
            zero: now.checked_sub(elapsed).unwrap_or(now),
            paused: None,
            steps: None,
        }
    }

    /// The clock of a durable run that began then. It is moved by [`Clock::move_to`] alone.
    pub(crate) fn of_steps(began: SystemTime) -> Self {
        Self { began, zero: Instant::now(), paused: None, steps: Some(Duration::ZERO) }
    }

    /// When the run began.
    pub(crate) fn began(&self) -> SystemTime {
        self.began
    }

    /// The time of the run.
    pub(crate) fn now(&self) -> Duration {
        if let Some(now) = self.steps {
            return now;
        }
        let until = self.paused.unwrap_or_else(Instant::now);
        let micros = until.saturating_duration_since(self.zero).as_micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// How much of the world's time has passed since a durable run began.
    pub(crate) fn elapsed(&self) -> Duration {
        let elapsed = SystemTime::now().duration_since(self.began).unwrap_or_default();
        Duration::from_micros(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX))
    }

    /// How much of the world's time passes until a time of a durable run.
    pub(crate) fn until(&self, at: Duration) -> Duration {
        at.saturating_sub(self.elapsed())
    }

    /// Moves a durable run to a time. Time never goes back, whatever the clocks of two machines say.
    pub(crate) fn move_to(&mut self, at: Duration) {
        if let Some(now) = &mut self.steps {
            *now = at.max(*now);
        }
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

/// A time in milliseconds since 1970.
pub(crate) fn to_millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
