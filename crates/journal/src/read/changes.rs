use super::row::Rows;
use crate::database::bound;
use crate::{Changes, Journal, JournalError, numbers};

impl Journal {
    /// What [`Self::changes`] would give as `next` if everything so far had been told.
    pub fn latest_change(&self) -> Result<u64, JournalError> {
        self.read(|connection| Ok(numbers::latest(connection)?.unsigned_abs()))
    }

    /// What changed in the list of runs since an answer to this gave `since`; 0 begins with
    /// everything. Runs that were removed are not told of. It gives about `limit` runs: what was
    /// written together is told together.
    pub fn changes(&self, since: u64, limit: usize) -> Result<Changes, JournalError> {
        self.read(|connection| {
            let rows = Rows::new(connection, &self.store)?;
            let since = i64::try_from(since).unwrap_or(i64::MAX);
            let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
            let latest = numbers::latest(connection)?;
            let up_to = connection.value::<i64>(
                "SELECT at FROM (
                     SELECT at FROM (SELECT no AS at FROM runs WHERE no > ?1 AND change = 0
                         ORDER BY no LIMIT ?2) AS made
                     UNION ALL
                     SELECT at FROM (SELECT change AS at FROM runs WHERE change > ?1 AND change > 0
                         ORDER BY change LIMIT ?2) AS changed
                 ) AS numbers ORDER BY at LIMIT 1 OFFSET ?3",
                bound![since, limit, limit - 1],
            )?;
            let up_to = up_to.unwrap_or(latest);
            let sql = format!(
                "SELECT {} FROM {}
                 WHERE no > ?1 AND no <= ?2 AND change = 0
                     OR change > ?1 AND change <= ?2 AND change > 0
                 ORDER BY CASE change WHEN 0 THEN no ELSE change END, id",
                rows.columns(),
                rows.runs(),
            );
            let runs = connection.all(&sql, bound![since, up_to], |row| rows.summary(row))?;
            Ok(Changes { runs, next: up_to.max(since) as u64, more: up_to < latest })
        })
    }
}
