//! The log of requests: written with everything else, and kept to a number.

use rusqlite::{Connection, params};

use super::batch::micros;
use crate::mask::Masker;
use crate::{Request, RunId};

/// How many requests are forgotten in one transaction.
pub(super) const AT_ONCE: u32 = 4096;

/// How much of a text about a request is kept: clients choose them.
const MAX_TEXT_BYTES: usize = 512;

/// Adds a request to the log.
pub(super) fn insert(
    connection: &Connection,
    request: &Request,
    masker: &Masker,
) -> rusqlite::Result<()> {
    // What a client calls things may be a secret. It is masked whole and cut then.
    let kept = |text: &str| {
        let mut masked = masker.text(text).into_owned();
        masked.truncate(masked.floor_char_boundary(MAX_TEXT_BYTES));
        masked
    };
    connection
        .prepare_cached(
            "INSERT INTO requests (at, duration, method, name, server, status, code, token,
                 token_name, client, run)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            micros(request.at),
            i64::try_from(request.duration.as_micros()).unwrap_or(i64::MAX),
            kept(&request.method),
            request.name.as_deref().map(kept),
            request.server.as_deref(),
            request.status.name(),
            request.code,
            request.token.as_ref().map(|token| &*token.id),
            request.token.as_ref().and_then(|token| token.name.as_deref()),
            request.client.as_deref().map(kept),
            request.run.as_ref().map(RunId::as_bytes),
        ])?;
    Ok(())
}

/// How many requests there are: they are numbered without gaps, and the oldest go first.
pub(super) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            // Each by itself: together they are searched for in the whole table.
            "SELECT coalesce(
                 (SELECT max(no) FROM requests) - (SELECT min(no) FROM requests) + 1, 0)",
        )?
        .query_row([], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
}

/// Forgets up to `excess` of the oldest requests, and those that came before a moment; how many.
pub(super) fn forget(connection: &Connection, excess: u64, before: i64) -> rusqlite::Result<u64> {
    let forgotten = connection
        .prepare_cached(
            "DELETE FROM requests
             WHERE no IN (SELECT no FROM requests ORDER BY no LIMIT ?1)
                 AND (at < ?2 OR no < (SELECT min(no) FROM requests) + ?3)",
        )?
        .execute(params![AT_ONCE, before, i64::try_from(excess).unwrap_or(i64::MAX / 2)])?;
    Ok(forgotten as u64)
}
