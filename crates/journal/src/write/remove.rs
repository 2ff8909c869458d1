use std::ops::RangeInclusive;

use crate::database::{Connection, Result, bound};
use crate::keys::{MAX_EVENTS, key};
use crate::numbers;

/// Forgets runs and what only they need.
pub(crate) fn remove_runs(connection: &Connection, runs: &[i64]) -> Result<()> {
    if !runs.is_empty() {
        numbers::retire(connection)?;
    }
    for numbers in ranges(connection, runs)? {
        remove_data(connection, &numbers)?;
        let range = bound![*numbers.start(), *numbers.end()];
        if connection.keeps_durable_runs() {
            let sql = "DELETE FROM durable_runs WHERE status <> 'pending'
                 AND run IN (SELECT id FROM runs WHERE no BETWEEN ?1 AND ?2)";
            connection.execute_later(sql, range)?;
        }
        connection.execute_later("DELETE FROM runs WHERE no BETWEEN ?1 AND ?2", range)?;
    }
    Ok(())
}

/// The numbers of runs as ranges that no other run is in. The oldest runs mostly follow each other,
/// and many in one statement cost little more than one.
fn ranges(connection: &Connection, runs: &[i64]) -> Result<Vec<RangeInclusive<i64>>> {
    let mut runs = runs.to_vec();
    runs.sort_unstable();
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Ok(Vec::new()) };
    let limit = runs.len() * 2;
    let mut others: Vec<i64> = connection.all(
        "SELECT no FROM runs WHERE no BETWEEN ?1 AND ?2 ORDER BY no LIMIT ?3",
        bound![*first, *last, limit],
        |row| row.get(0),
    )?;
    // Where there are so many others, those that follow are taken one by one.
    let known_to = if others.len() < limit { *last } else { others[limit - 1] };
    others.retain(|other| runs.binary_search(other).is_err());
    let before = |number: i64| others.partition_point(|other| *other < number);
    let mut ranges: Vec<RangeInclusive<i64>> = Vec::new();
    for run in runs {
        match ranges.last_mut() {
            Some(range) if run <= known_to && before(*range.end()) == before(run) => {
                *range = *range.start()..=run;
            }
            _ => ranges.push(run..=run),
        }
    }
    Ok(ranges)
}

/// Forgets what runs have besides their rows: their events, and the payloads no other run uses.
pub(crate) fn remove_data(connection: &Connection, runs: &RangeInclusive<i64>) -> Result<()> {
    let keys = bound![key(*runs.start(), 0), key(*runs.end(), MAX_EVENTS - 1)];
    connection.execute_later("DELETE FROM chunks WHERE key BETWEEN ?1 AND ?2", keys)?;
    connection.execute_later("DELETE FROM snapshots WHERE key BETWEEN ?1 AND ?2", keys)?;
    let mut used: Vec<i64> = connection.all(
        "DELETE FROM uses WHERE run BETWEEN ?1 AND ?2 RETURNING payload",
        bound![*runs.start(), *runs.end()],
        |row| row.get(0),
    )?;
    used.sort_unstable();
    used.dedup();
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
