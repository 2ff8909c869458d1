//! When to start a server again, and when to leave it alone.
//!
//! Pure: the time is passed in, so that the rules can be tested without waiting.

use std::time::{Duration, Instant};

/// The pauses after failures.
#[derive(Clone, Copy, Debug)]
pub struct HealthOptions {
    /// The pause before the second start in a row; it doubles from then on.
    pub first_pause: Duration,
    /// The longest pause before a start.
    pub longest_pause: Duration,
    /// How many failures in a row open the circuit: dead transports and timeouts, never a tool
    /// that says it failed.
    pub failures_to_open: u32,
    /// How long the circuit stays open at first; it doubles with every failed trial.
    pub first_rest: Duration,
    /// The longest it stays open.
    pub longest_rest: Duration,
}

/// A server that lived this long was started well, whether or not it was called.
const GOOD_LIFE: Duration = Duration::from_secs(10);

/// The health of one server.
#[derive(Debug)]
pub(crate) struct Health {
    options: HealthOptions,
    /// Starts that failed, and deaths soon after a start, in a row.
    failed_starts: u32,
    not_before: Option<Instant>,
    /// When it was started last, as long as it lives.
    since: Option<Instant>,
    /// Whether the server has answered a call since its start.
    is_proved: bool,
    /// Dead transports and timeouts in a row.
    failures: u32,
    circuit: Circuit,
    rests: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Circuit {
    Closed,
    Open {
        until: Instant,
    },
    /// One call is let through to see whether the server is well again.
    Trial,
}

/// Whether a call may go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Yes.
    Go,
    /// Not before this much time has passed.
    Resting(Duration),
}

/// How a call went, as far as the server's health is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server answered a call, whatever it said.
    Answered,
    /// It told what it has, as it is asked to after every start. One that dies in every call does
    /// that too, so that it says nothing about calls.
    Told,
    /// Its transport died, or it did not answer in time.
    Failed,
    /// Nothing was learnt: the call was cancelled or never reached it.
    Unknown,
}

impl Default for HealthOptions {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(30),
            failures_to_open: 5,
            first_rest: Duration::from_secs(5),
            longest_rest: Duration::from_mins(1),
        }
    }
}

impl Health {
    pub(crate) fn new(options: HealthOptions) -> Self {
        Self {
            options,
            failed_starts: 0,
            not_before: None,
            since: None,
            is_proved: false,
            failures: 0,
            circuit: Circuit::Closed,
            rests: 0,
        }
    }

    /// Asks for one call. Whoever is let through reports with [`Self::report`].
    pub(crate) fn admit(&mut self, now: Instant) -> Admission {
        match self.circuit {
            Circuit::Closed => Admission::Go,
            Circuit::Open { until } if until > now => Admission::Resting(until - now),
            Circuit::Open { .. } => {
                self.circuit = Circuit::Trial;
                Admission::Go
            }
            Circuit::Trial => Admission::Resting(self.options.first_rest),
        }
    }

    /// Whether the server is left alone.
    pub(crate) fn is_resting(&self, now: Instant) -> bool {
        matches!(self.circuit, Circuit::Open { until } if until > now)
    }

    /// Reports how an admitted call went.
    pub(crate) fn report(&mut self, outcome: Outcome, now: Instant) {
        match outcome {
            Outcome::Answered => {
                self.start_proved();
                self.failures = 0;
                self.rests = 0;
                self.circuit = Circuit::Closed;
            }
            Outcome::Failed => {
                self.failures = self.failures.saturating_add(1);
                let is_trial = self.circuit == Circuit::Trial;
                if is_trial || self.failures >= self.options.failures_to_open {
                    let rest =
                        doubled(self.options.first_rest, self.rests, self.options.longest_rest);
                    self.rests = self.rests.saturating_add(1);
                    self.circuit = Circuit::Open { until: now + rest };
                }
            }
            // A trial that taught nothing is tried again at once.
            Outcome::Told | Outcome::Unknown => {
                if self.circuit == Circuit::Trial {
                    self.circuit = Circuit::Open { until: now };
                }
            }
        }
    }

    /// How long to wait before the next start.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        self.not_before.map_or(Duration::ZERO, |instant| instant.saturating_duration_since(now))
    }

    /// A start failed.
    pub(crate) fn start_failed(&mut self, now: Instant) {
        let pause =
            doubled(self.options.first_pause, self.failed_starts, self.options.longest_pause);
        self.failed_starts = self.failed_starts.saturating_add(1);
        self.not_before = Some(now + pause);
    }

    /// A start succeeded; whether it was of use is not known yet.
    pub(crate) fn started(&mut self, now: Instant) {
        self.is_proved = false;
        self.since = Some(now);
    }

    /// What was started died. If that was soon and before it was of use, the start counts as one
    /// that failed.
    pub(crate) fn died(&mut self, now: Instant) {
        let lived = self.since.take().map_or(Duration::ZERO, |since| now.duration_since(since));
        if !self.is_proved && lived < GOOD_LIFE {
            self.start_failed(now);
        } else {
            self.start_proved();
        }
    }

    /// The server was of use since its start: the next start needs no pause.
    fn start_proved(&mut self) {
        self.is_proved = true;
        self.failed_starts = 0;
        self.not_before = None;
    }
}

/// `first * 2^times`, at most `longest`.
fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(times)).min(longest)
}

#[cfg(test)]
mod tests;
