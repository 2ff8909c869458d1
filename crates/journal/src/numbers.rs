//! The numbers of runs, and of changes of them.
//!
//! Both are of one sequence. A run takes a number when its row is made, and another whenever the row
//! is changed. Nearly all rows are made when their run is over and never change: their `change` is
//! 0, which stands for the number of the run, and no index has to know of them.
//!
//! Only one transaction writes at a time, so that whoever has seen a number has seen all before it.

use crate::database::{Connection, Result, bound};

/// The latest number that was taken.
pub(crate) fn latest(connection: &Connection) -> Result<i64> {
    let latest = connection.first(
        "SELECT (SELECT max(no) FROM runs),
             (SELECT max(change) FROM runs WHERE change > 0),
             (SELECT value FROM counters WHERE name = 'change')",
        &[],
        |row| {
            let taken: [Option<i64>; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok(taken.into_iter().flatten().max())
        },
    )?;
    Ok(latest.flatten().unwrap_or_default())
}

/// Makes sure that no number is taken again, whichever runs are removed afterwards.
pub(crate) fn retire(connection: &Connection) -> Result<()> {
    let latest = latest(connection)?;
    connection
        .execute("UPDATE counters SET value = ?1 WHERE name = 'change'", bound![latest])
        .map(drop)
}
