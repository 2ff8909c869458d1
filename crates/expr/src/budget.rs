use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{ExprError, Limit, code};

/// What one evaluation may spend. Exceeding any of it is an error that names the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How long it may take: 5 seconds.
    pub time: Duration,
    /// How deep calls may nest: 5,000 levels, of which a recursive call takes about three.
    pub depth: usize,
    /// How many bytes it may allocate in all, those it frees again included: 256 MiB.
    pub bytes: usize,
    /// How many items a sequence may have: one million.
    pub sequence: usize,
}

/// What an evaluation is given from outside, besides the data.
#[derive(Clone, Debug)]
pub struct Env {
    /// What it may spend.
    pub budget: Budget,
    /// The time that `$now()` and `$millis()` tell, in milliseconds since 1970.
    pub now: i64,
    /// What `$random()` and `$shuffle()` draw from.
    pub chance: Chance,
    /// Stops it from another thread.
    pub cancel: Cancel,
}

/// What random functions draw from: true chance, or a sequence that can be repeated.
#[derive(Debug, Default)]
pub struct Chance(Option<AtomicU64>);

/// A switch that stops evaluations; its clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Counts what an evaluation has spent.
pub(crate) struct Meter<'a> {
    pub(crate) env: &'a Env,
    deadline: Instant,
    bytes: Cell<usize>,
}

/// How many bytes are built between two looks at the clock.
const BETWEEN_LOOKS: usize = 64 * 1024;

impl Default for Budget {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            depth: 5_000,
            bytes: 256 * 1024 * 1024,
            sequence: 1_000_000,
        }
    }
}

impl Env {
    /// The default budget at a given time, in milliseconds since 1970.
    pub fn at(now: i64) -> Self {
        Self {
            budget: Budget::default(),
            now,
            chance: Chance::default(),
            cancel: Cancel::default(),
        }
    }
}

impl Chance {
    /// The sequence that begins here.
    pub fn seeded(seed: u64) -> Self {
        Self(Some(AtomicU64::new(seed)))
    }

    /// A seed for the next expression: two of them in one place must not draw the same.
    pub(crate) fn next_seed(&self) -> Option<u64> {
        /// An odd number without a pattern, so that all seeds of a sequence differ.
        const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0.as_ref().map(|next| next.fetch_add(STRIDE, Ordering::Relaxed))
    }
}

impl Clone for Chance {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|next| AtomicU64::new(next.load(Ordering::Relaxed))))
    }
}

impl Cancel {
    /// A switch nobody has used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every evaluation that holds this switch, for ever.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been used.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl<'a> Meter<'a> {
    pub(crate) fn start(env: &'a Env) -> Self {
        let now = Instant::now();
        // A budget so large that the clock cannot hold it is as good as a year.
        let deadline = now
            .checked_add(env.budget.time)
            .unwrap_or_else(|| now + Duration::from_hours(365 * 24));
        Self { env, deadline, bytes: Cell::new(0) }
    }

    /// The time that is left; none if the evaluation has to stop.
    pub(crate) fn remaining(&self) -> Result<Duration, ExprError> {
        if self.env.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.out_of_time()) } else { Ok(left) }
    }

    /// Counts `bytes` that are about to be built, and looks at the clock now and then.
    pub(crate) fn spend(&self, bytes: usize) -> Result<(), ExprError> {
        let before = self.bytes.get();
        let spent = before.saturating_add(bytes);
        self.bytes.set(spent);
        if spent / BETWEEN_LOOKS > before / BETWEEN_LOOKS {
            self.remaining()?;
        }
        if spent > self.env.budget.bytes {
            Err(out_of_bytes(self.env.budget.bytes))
        } else {
            Ok(())
        }
    }

    pub(crate) fn out_of_time(&self) -> ExprError {
        let limit = self.env.budget.time;
        ExprError::exceeded(
            code::TIME,
            Limit::Time,
            format!("the expression took longer than its time limit of {} ms", limit.as_millis()),
        )
    }
}

pub(crate) fn cancelled() -> ExprError {
    ExprError::new(code::CANCELLED, "the evaluation was cancelled")
}

pub(crate) fn out_of_bytes(limit: usize) -> ExprError {
    ExprError::exceeded(
        code::BYTES,
        Limit::Bytes,
        format!("the expression built more than its limit of {limit} bytes"),
    )
}
