//! What one evaluation may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Outcome, fail};

/// The budget of one evaluation. Whatever exceeds it is an error that names the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many nodes are evaluated, or items handled, in total.
    pub steps: u64,
    /// How long it may take.
    pub time: Duration,
    /// How deep evaluation may nest; one call of a function takes a few levels.
    pub depth: usize,
    /// How many bytes are allocated in total; what has been freed meanwhile counts too.
    pub bytes: u64,
    /// How many items a sequence may have.
    pub sequence: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 100_000_000,
            time: Duration::from_secs(5),
            depth: 5_000,
            bytes: 256 * 1024 * 1024,
            sequence: 10_000_000,
        }
    }
}

/// What is left of the limits.
pub(crate) struct Budget {
    limits: Limits,
    cancelled: Option<Arc<AtomicBool>>,
    started: Instant,
    steps_left: u64,
    bytes_left: u64,
    /// Steps until the clock and the flag are looked at.
    until_check: u32,
    depth: usize,
}

/// How many steps pass between two looks at the clock and the cancellation flag.
const STEPS_PER_CHECK: u32 = 256;

impl Budget {
    pub(crate) fn new(limits: &Limits, cancelled: Option<Arc<AtomicBool>>) -> Self {
        // Most evaluations end before the clock needs to be looked at again.
        let first = limits.steps.min(STEPS_PER_CHECK.into());
        Self {
            cancelled,
            started: Instant::now(),
            steps_left: limits.steps - first,
            bytes_left: limits.bytes,
            until_check: first as u32,
            depth: 0,
            limits: limits.clone(),
        }
    }

    /// One node evaluated, or one item handled.
    #[inline]
    pub(crate) fn step(&mut self) -> Outcome<()> {
        if self.until_check == 0 {
            return self.check();
        }
        self.until_check -= 1;
        Ok(())
    }

    /// Several at once, for work whose length is known beforehand.
    pub(crate) fn steps(&mut self, count: usize) -> Outcome<()> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count > self.until_check {
            self.steps_left = self.steps_left.saturating_sub(u64::from(count - self.until_check));
            return self.check();
        }
        self.until_check -= count;
        Ok(())
    }

    /// Whether somebody outside wants the evaluation to end.
    pub(crate) fn check_cancelled(&self) -> Outcome<()> {
        if self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(fail("U1003", "the evaluation was cancelled"));
        }
        Ok(())
    }

    #[cold]
    fn check(&mut self) -> Outcome<()> {
        self.check_cancelled()?;
        if self.started.elapsed() > self.limits.time {
            let millis = self.limits.time.as_millis();
            let message = format!("the evaluation took longer than its limit of {millis} ms");
            return Err(fail("D1012", message));
        }
        let Some(left) = self.steps_left.checked_sub(u64::from(STEPS_PER_CHECK)) else {
            let message = format!("the evaluation needs more than {} steps", self.limits.steps);
            return Err(fail("U1001", message));
        };
        self.steps_left = left;
        self.until_check = STEPS_PER_CHECK;
        Ok(())
    }

    /// Memory is about to be allocated.
    #[inline]
    pub(crate) fn allocate(&mut self, bytes: usize) -> Outcome<()> {
        match self.bytes_left.checked_sub(bytes as u64) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => {
                let message =
                    format!("the evaluation allocates more than {} bytes", self.limits.bytes);
                Err(fail("U1002", message))
            }
        }
    }

    /// A sequence has grown to `length` items.
    #[inline]
    pub(crate) fn sequence(&self, length: usize) -> Outcome<()> {
        if length > self.limits.sequence {
            let message = format!("a sequence has more than {} items", self.limits.sequence);
            return Err(fail("D2015", message));
        }
        Ok(())
    }

    /// One level down; every success is followed by one [`Budget::leave`].
    #[inline]
    pub(crate) fn enter(&mut self) -> Outcome<()> {
        if self.depth >= self.limits.depth {
            let message = format!(
                "the evaluation nests deeper than {} levels; a recursive function may not end, or \
                 its last call is not in tail position",
                self.limits.depth
            );
            return Err(fail("D1011", message));
        }
        self.depth += 1;
        self.step()
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
