//! Forgets the oldest runs and requests, a few at a time.

use std::time::{Duration, Instant, SystemTime};

use super::occasion::forget_unused;
use super::remove::remove_runs;
use super::requests;
use super::row::micros;
use crate::database::{Access, Connection, Result, Store, bound};
use crate::{Retention, liveness};

/// How often it is looked whether there is too much.
const EVERY: Duration = Duration::from_secs(2);

/// How many are forgotten in one transaction.
const AT_ONCE: usize = 512;

/// How many are in the least, and how many times what was just written, while there is traffic:
/// whoever waits for a commit should not wait for what is forgotten, and yet more must go than come.
const LEAST_AT_ONCE: usize = 32;
const TIMES_WRITTEN: usize = 2;

/// How many pages are given back to the system at a time.
const PAGES_AT_ONCE: u32 = 512;

/// Decides when to forget.
pub(crate) struct Keeper {
    retention: Retention,
    looked: Option<Instant>,
    /// What was found to be too much and is not forgotten yet. Counting takes the longer the more
    /// there is, so it is done when it is time to look, and not with every transaction.
    excess: Option<Excess>,
    /// Something was forgotten since the file was last tidied.
    is_untidy: bool,
    /// Something was written since it was last looked.
    is_stale: bool,
}

/// How many of the oldest are too many.
#[derive(Clone, Copy)]
struct Excess {
    runs: u64,
    requests: u64,
}

impl Keeper {
    pub(crate) fn new(retention: Retention) -> Self {
        Self { retention, looked: None, excess: None, is_untidy: false, is_stale: true }
    }

    /// When it wants to be called again, should nothing happen.
    pub(crate) fn patience(&self) -> Option<Duration> {
        if self.excess.is_some() || self.is_untidy {
            return Some(Duration::ZERO);
        }
        self.is_stale.then_some(EVERY)
    }

    /// Forgets a few runs if it is time to; tidies up when there is nothing else to do. So many
    /// things have just been written, or none if there was nothing to do.
    pub(crate) fn work(
        &mut self,
        connection: &Connection,
        store: &Store,
        written: Option<usize>,
    ) -> Result<()> {
        self.is_stale |= written.is_some();
        let is_due = self.is_stale && self.looked.is_none_or(|looked| looked.elapsed() >= EVERY);
        if is_due {
            self.looked = Some(Instant::now());
            self.is_stale = false;
            self.excess = Some(self.measure(connection)?);
        }
        if let Some(excess) = self.excess.take() {
            let at_once = written
                .map_or(AT_ONCE, |written| (written * TIMES_WRITTEN).clamp(LEAST_AT_ONCE, AT_ONCE));
            self.excess = self.forget(connection, store, excess, at_once)?;
        } else if written.is_none() && self.is_untidy {
            self.is_untidy = false;
            self.is_untidy = tidy(connection)?;
        }
        Ok(())
    }

    fn measure(&self, connection: &Connection) -> Result<Excess> {
        let requests = requests::count(connection)?;
        let runs = connection.value::<i64>("SELECT count(*) FROM runs", &[])?.unwrap_or_default();
        Ok(Excess {
            runs: self.excess(connection, runs.unsigned_abs(), self.retention.max_runs)?,
            requests: self.excess(connection, requests, self.retention.max_requests)?,
        })
    }

    /// Forgets some of the oldest; what is left to forget, if something may be.
    fn forget(
        &mut self,
        connection: &Connection,
        store: &Store,
        excess: Excess,
        at_once: usize,
    ) -> Result<Option<Excess>> {
        let oldest = self.retention.max_age.and_then(|age| SystemTime::now().checked_sub(age));
        let before = oldest.map_or(i64::MIN, micros);
        if excess.runs == 0 && excess.requests == 0 && before == i64::MIN {
            return Ok(None);
        }
        let living = liveness::living(connection, store)?;
        let (runs, requests) = connection.transaction(Access::Write, |connection| {
            // In the order of ids, which is the order of age; a run at work is left alone, and so is
            // one that will be: without its record nobody would see what it does.
            let sql = format!(
                "SELECT no, started, CASE status WHEN 'running' THEN writer END FROM runs
                 WHERE NOT {} ORDER BY id LIMIT ?1",
                connection.goes_on("runs.id")?
            );
            let candidates: Vec<(i64, i64, Option<i64>)> =
                connection.all(&sql, bound![at_once], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
            let mut forgotten = Vec::new();
            for (no, started, writer) in candidates {
                let is_excess = (forgotten.len() as u64) < excess.runs || started < before;
                if is_excess && !writer.is_some_and(|writer| living.contains(&writer)) {
                    forgotten.push(no);
                }
            }
            remove_runs(connection, &forgotten)?;
            let requests = requests::forget(connection, at_once, excess.requests, before)?;
            Result::Ok((forgotten.len() as u64, requests))
        })?;
        if runs + requests == 0 {
            return Ok(None);
        }
        self.is_untidy = true;
        // What is too much by size is an estimate: it is looked at again.
        self.is_stale = true;
        let left = Excess {
            runs: excess.runs.saturating_sub(runs),
            requests: excess.requests.saturating_sub(requests),
        };
        // Where as many went as go at once, more may be too old.
        let is_full = runs.max(requests) == at_once as u64;
        Ok((is_full || left.runs > 0 || left.requests > 0).then_some(left))
    }

    /// How many of `count` are too many, by number and by the size of the file, about.
    fn excess(&self, connection: &Connection, count: u64, max: Option<u64>) -> Result<u64> {
        let by_count = max.map_or(0, |max| count.saturating_sub(max));
        let Some(max_bytes) = self.retention.max_bytes else { return Ok(by_count) };
        let bytes = connection.used_bytes()?;
        if bytes <= max_bytes || bytes == 0 || count == 0 {
            return Ok(by_count);
        }
        // The share of them that is as large as what is too much, if all were of one size.
        let share = u128::from(count) * u128::from(bytes - max_bytes) / u128::from(bytes);
        Ok(by_count.max(share as u64 + 1))
    }
}

/// Gives some of what is free back to the system; true if there is more.
fn tidy(connection: &Connection) -> Result<bool> {
    connection.transaction(Access::Write, forget_unused)?;
    connection.give_back(PAGES_AT_ONCE)
}
