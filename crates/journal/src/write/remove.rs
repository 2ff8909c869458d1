use crate::database::{Connection, Result, bound};
use crate::keys::{MAX_EVENTS, key};
use crate::numbers;

/// Forgets runs and what only they need.
pub(crate) fn remove_runs(connection: &Connection, runs: &[i64]) -> Result<()> {
    if !runs.is_empty() {
        numbers::retire(connection)?;
    }
    for no in runs {
        remove_data(connection, *no)?;
        if connection.keeps_durable_runs() {
            let sql = "DELETE FROM durable_runs WHERE status <> 'pending'
                 AND run = (SELECT id FROM runs WHERE no = ?1)";
            connection.execute_later(sql, bound![*no])?;
        }
        connection.execute_later("DELETE FROM runs WHERE no = ?1", bound![*no])?;
    }
    Ok(())
}

/// Forgets what a run has besides its row: its events, and the payloads no other run uses.
pub(crate) fn remove_data(connection: &Connection, no: i64) -> Result<()> {
    let keys = bound![key(no, 0), key(no, MAX_EVENTS - 1)];
    connection.execute_later("DELETE FROM chunks WHERE key BETWEEN ?1 AND ?2", keys)?;
    connection.execute_later("DELETE FROM snapshots WHERE key BETWEEN ?1 AND ?2", keys)?;
    let used: Vec<i64> =
        connection.all("DELETE FROM uses WHERE run = ?1 RETURNING payload", bound![no], |row| {
            row.get(0)
        })?;
    for payload in used {
        connection.execute_later(
            "DELETE FROM payloads
             WHERE no = ?1 AND NOT EXISTS (SELECT 1 FROM uses WHERE payload = ?1)",
            bound![payload],
        )?;
    }
    Ok(())
}

/// Forgets definitions that no run refers to.
pub(crate) fn remove_definitions(connection: &Connection) -> Result<()> {
    let sql = "DELETE FROM definitions WHERE digest NOT IN
             (SELECT DISTINCT definition FROM runs WHERE definition IS NOT NULL)";
    connection.execute(sql, &[]).map(drop)
}
