use rusqlite::{Connection, params};

use crate::numbers;
use crate::schema::{MAX_EVENTS, key};

/// Forgets runs and what only they need.
pub(crate) fn remove_runs(connection: &Connection, runs: &[i64]) -> rusqlite::Result<()> {
    if !runs.is_empty() {
        numbers::retire(connection)?;
    }
    for no in runs {
        remove_data(connection, *no)?;
        connection.prepare_cached("DELETE FROM runs WHERE no = ?")?.execute([no])?;
    }
    Ok(())
}

/// Forgets what a run has besides its row: its events, and the payloads no other run uses.
pub(crate) fn remove_data(connection: &Connection, no: i64) -> rusqlite::Result<()> {
    let keys = params![key(no, 0), key(no, MAX_EVENTS - 1)];
    connection.prepare_cached("DELETE FROM chunks WHERE key BETWEEN ? AND ?")?.execute(keys)?;
    connection.prepare_cached("DELETE FROM snapshots WHERE key BETWEEN ? AND ?")?.execute(keys)?;
    let used: Vec<i64> = connection
        .prepare_cached("DELETE FROM uses WHERE run = ? RETURNING payload")?
        .query_map([no], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for payload in used {
        connection
            .prepare_cached(
                "DELETE FROM payloads
                 WHERE no = ?1 AND NOT EXISTS (SELECT 1 FROM uses WHERE payload = ?1)",
            )?
            .execute([payload])?;
    }
    Ok(())
}

/// Forgets definitions that no run refers to.
pub(crate) fn remove_definitions(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM definitions WHERE digest NOT IN
             (SELECT DISTINCT definition FROM runs WHERE definition IS NOT NULL)",
        [],
    )?;
    Ok(())
}
