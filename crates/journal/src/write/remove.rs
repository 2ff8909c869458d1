use std::ops::RangeInclusive;

use super::chunk::INSERT_CHUNK;
use crate::database::{Connection, Result, bound};
use crate::keys::{MAX_EVENTS, key, run_of};
use crate::layout::{self, BETWEEN_RUNS, Layout, Packer};
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
        let sql = "DELETE FROM questions
             WHERE run IN (SELECT id FROM runs WHERE no BETWEEN ?1 AND ?2)";
        connection.execute_later(sql, range)?;
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
    leave_bundles(connection, runs)?;
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

/// Takes runs, between which there are no others, out of the rows that they share with runs that
/// stay. Only the last row that begins before them, and the last that begins with one of them, can
/// have such runs, too.
fn leave_bundles(connection: &Connection, runs: &RangeInclusive<i64>) -> Result<()> {
    let (first, last) = (*runs.start(), *runs.end());
    let mut packer = Packer::default();
    for up_to in [key(first, 0) - 1, key(last, 0)] {
        let Some((begin, sections)) = bundle_up_to(connection, up_to)? else { continue };
        let sections: Vec<&str> = layout::sections(&sections).collect();
        let place = |run: i64| usize::try_from(run - begin).unwrap_or(0).min(sections.len());
        let (before, after) = (&sections[..place(first)], &sections[place(last + 1)..]);
        if before.len() == sections.len() {
            continue;
        }
        // The row of those that begin with one that goes is removed with it.
        if !before.is_empty() {
            let sql = "UPDATE chunks SET events = ?1 WHERE key = ?2";
            let sections = before.join(BETWEEN_RUNS);
            let (events, _) = packer.bundle(sections.as_bytes());
            connection.execute_later(sql, bound![events, key(begin, 0)])?;
        }
        if !after.is_empty() {
            let sections = after.join(BETWEEN_RUNS);
            let (events, layout) = packer.bundle(sections.as_bytes());
            let row = bound![key(last + 1, 0), events, layout as i64];
            connection.execute_later(INSERT_CHUNK, row)?;
        }
    }
    Ok(())
}

/// The row with the greatest key up to this one, if it is a bundle: its first run and its sections.
fn bundle_up_to(connection: &Connection, key: i64) -> Result<Option<(i64, String)>> {
    let sql = "SELECT key, events, packed FROM chunks WHERE key <= ?1 ORDER BY key DESC LIMIT 1";
    let found = connection.first(sql, bound![key], |row| {
        let first = run_of(row.get(0)?);
        if Layout::of(row.get(2)?) != Some(Layout::Bundled) {
            return Ok(None);
        }
        // What cannot be read is left as it is.
        let sections = layout::unpack(row.bytes(1)?, Layout::Bundled);
        Ok(sections.map(|sections| (first, sections.into_owned())))
    })?;
    Ok(found.flatten())
}
