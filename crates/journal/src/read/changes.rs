use rusqlite::{Connection, params};

use super::row::Rows;
use crate::{Changes, Journal, JournalError};

impl Journal {
    /// What [`Self::changes`] would give as `next` if everything so far had been told.
    pub fn latest_change(&self) -> Result<u64, JournalError> {
        self.read(|connection| Ok(latest(connection)?.unsigned_abs()))
    }

    /// What changed in the list of runs since an answer to this gave `since`; 0 begins with
    /// everything. Runs that were removed are not told of. It gives about `limit` runs: what was
    /// written together is told together.
    pub fn changes(&self, since: u64, limit: usize) -> Result<Changes, JournalError> {
        self.read(|connection| {
            let rows = Rows::new(connection, &self.dir)?;
            let since = i64::try_from(since).unwrap_or(i64::MAX);
            let latest = latest(connection)?;
            let up_to: i64 = connection
                .prepare_cached(
                    "SELECT change FROM runs WHERE change > ? ORDER BY change LIMIT 1 OFFSET ?",
                )?
                .query_map(
                    params![since, i64::try_from(limit.max(1)).unwrap_or(i64::MAX) - 1],
                    |row| row.get(0),
                )?
                .next()
                .transpose()?
                .unwrap_or(latest);
            let runs = connection
                .prepare_cached(&format!(
                    "SELECT {} FROM runs WHERE change > ? AND change <= ? ORDER BY change, id",
                    rows.columns()
                ))?
                .query_map(params![since, up_to], |row| rows.summary(row))?
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Changes { runs, next: up_to.max(since) as u64, more: up_to < latest })
        })
    }
}

fn latest(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT value FROM counters WHERE name = 'change'")?
        .query_row([], |row| row.get(0))
}
