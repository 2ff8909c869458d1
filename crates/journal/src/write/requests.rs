//! The log of requests: written with everything else, and kept to a number.

use super::batch::micros;
use crate::Request;
use crate::database::{Connection, Repeated, Result, bound};
use crate::mask::Masker;

/// How much of a text about a request is kept: clients choose them.
const MAX_TEXT_BYTES: usize = 512;

/// Adds a request.
const INSERT: &str = "INSERT INTO requests (no, at, duration, method, name, server, status, code,
        token, token_name, client, run)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

/// Adds requests to the log.
pub(super) fn insert<'a>(
    connection: &Connection,
    requests: impl Iterator<Item = &'a Request>,
    masker: &Masker,
) -> Result<()> {
    let mut requests = requests.peekable();
    if requests.peek().is_none() {
        return Ok(());
    }
    let latest = connection.value::<Option<i64>>("SELECT max(no) FROM requests", &[])?;
    let latest = latest.flatten().unwrap_or_default();
    let mut insert = Repeated::new(connection, INSERT);
    for (no, request) in (latest + 1..).zip(requests) {
        insert_one(&mut insert, no, request, masker)?;
    }
    Ok(())
}

fn insert_one(
    insert: &mut Repeated<'_>,
    no: i64,
    request: &Request,
    masker: &Masker,
) -> Result<()> {
    // What a client calls things may be a secret. It is masked whole and cut then.
    let masked = |text| masker.text(text);
    let name = request.name.as_deref().map(masked);
    let client = request.client.as_deref().map(masked);
    insert.execute_later(bound![
        no,
        micros(request.at),
        i64::try_from(request.duration.as_micros()).unwrap_or(i64::MAX),
        cut(&masked(&request.method)),
        name.as_deref().map(cut),
        request.server.as_deref(),
        request.status.name(),
        request.code,
        request.token.as_ref().map(|token| &*token.id),
        request.token.as_ref().and_then(|token| token.name.as_deref()),
        client.as_deref().map(cut),
        request.run.as_ref(),
    ])
}

/// What is kept of a text.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// How many requests there are: they are numbered without gaps, and the oldest go first.
pub(super) fn count(connection: &Connection) -> Result<u64> {
    // Each by itself: together they are searched for in the whole table.
    let sql = "SELECT coalesce(
                   (SELECT max(no) FROM requests) - (SELECT min(no) FROM requests) + 1, 0)";
    Ok(connection.value::<i64>(sql, &[])?.unwrap_or_default().unsigned_abs())
}

/// Forgets up to `excess` of the oldest requests, and those that came before a moment, but not more
/// than `at_once`; how many.
pub(super) fn forget(
    connection: &Connection,
    at_once: usize,
    excess: u64,
    before: i64,
) -> Result<u64> {
    let oldest = connection.value::<Option<i64>>("SELECT min(no) FROM requests", &[])?.flatten();
    let Some(oldest) = oldest else { return Ok(0) };
    let after = |count: u64| oldest.saturating_add_unsigned(count);
    connection.execute(
        "DELETE FROM requests WHERE no < ?1 AND (at < ?2 OR no < ?3)",
        bound![after(at_once as u64), before, after(excess)],
    )
}
