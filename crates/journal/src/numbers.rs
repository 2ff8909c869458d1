//! The numbers of runs, and of changes of them.
//!
//! Both are of one sequence. A run takes a number when its row is made, and another whenever the row
//! is changed. Nearly all rows are made when their run is over and never change: their `change` is
//! 0, which stands for the number of the run, and no index has to know of them.

use rusqlite::Connection;

/// The latest number that was taken.
pub(crate) fn latest(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "SELECT (SELECT max(no) FROM runs),
                 (SELECT max(change) FROM runs WHERE change > 0),
                 (SELECT value FROM counters WHERE name = 'change')",
        )?
        .query_row([], |row| {
            let taken: [Option<i64>; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok(taken.into_iter().flatten().max().unwrap_or_default())
        })
}

/// Makes sure that no number is taken again, whichever runs are removed afterwards.
pub(crate) fn retire(connection: &Connection) -> rusqlite::Result<()> {
    let latest = latest(connection)?;
    connection
        .prepare_cached("UPDATE counters SET value = ? WHERE name = 'change'")?
        .execute([latest])?;
    Ok(())
}
