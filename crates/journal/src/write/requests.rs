//! The log of requests: written with everything else, many in a row, and kept to a number.
//!
//! A row has the number of its first request; those of the others follow.

use std::borrow::Cow;
use std::iter;
use std::ops::ControlFlow;

use mcpgraph_memory::fetch_to_write;

use super::row::micros;
use crate::codec::read_request;
use crate::database::{Connection, DatabaseError, Result, Row, bound};
use crate::layout::{self, Layout, Packer};

/// A row that is this long is full.
const MAX_BYTES: usize = 64 * 1024;

/// Requests that were answered. They are made into lines where they were, as runs are: the one that
/// writes looks at nothing but text.
#[derive(Default)]
pub(crate) struct Noted {
    /// Each ends its line.
    lines: Vec<u8>,
    pub(super) count: usize,
}

impl Noted {
    /// Room for about as many as the ones before were.
    pub(super) fn after(before: &Self) -> Self {
        Self { lines: Vec::with_capacity(before.bytes().min(MAX_BYTES)), count: 0 }
    }

    /// Adds the line of a request.
    pub(super) fn push(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        self.count += 1;
        // The next is about as long, and where the writer read those of earlier.
        let next = self.lines.spare_capacity_mut();
        let bytes = next.len().min(line.len());
        fetch_to_write(&mut next[..bytes]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.len()
    }

    /// Their lines, as many at a time as a row has.
    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let mut left = &*self.lines;
        iter::from_fn(move || {
            let last = left.len().checked_sub(1)?;
            let from = last.min(MAX_BYTES);
            let end =
                left[from..].iter().position(|byte| *byte == b'\n').map_or(last, |at| from + at);
            let row = &left[..end];
            left = &left[end + 1..];
            Some(row)
        })
    }
}

/// Adds requests to the log.
pub(super) fn insert<'a>(
    connection: &Connection,
    noted: impl Iterator<Item = &'a Noted>,
    packer: &mut Packer,
) -> Result<()> {
    let mut rows = noted.flat_map(Noted::rows).peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let sql = "SELECT no + count FROM request_log ORDER BY no DESC LIMIT 1";
    let mut first = connection.value::<i64>(sql, &[])?.unwrap_or(1);
    for lines in rows {
        let count = lines.split(|byte| *byte == b'\n').count();
        insert_row(connection, first, count, packer.pack(lines))?;
        first = first.saturating_add_unsigned(count as u64);
    }
    Ok(())
}

fn insert_row(
    connection: &Connection,
    first: i64,
    count: usize,
    (requests, layout): (&[u8], Layout),
) -> Result<()> {
    connection.execute_later(
        "INSERT INTO request_log (no, count, requests, packed) VALUES (?1, ?2, ?3, ?4)",
        bound![first, count, requests, layout as i64],
    )
}

/// The lines of a row, which has them second and their layout third.
pub(crate) fn lines<'r>(row: &'r Row<'_>) -> Result<Cow<'r, str>> {
    let (requests, layout) = (row.bytes(1)?, Layout::of(row.get(2)?));
    layout
        .and_then(|layout| layout::unpack(requests, layout))
        .ok_or_else(|| DatabaseError::Row("requests are damaged".to_owned()))
}

/// How many requests there are: they are numbered without gaps, and the oldest go first.
pub(super) fn count(connection: &Connection) -> Result<u64> {
    // Each by itself: together they are searched for in the whole table.
    let sql = "SELECT coalesce((SELECT no + count FROM request_log ORDER BY no DESC LIMIT 1)
                   - (SELECT min(no) FROM request_log), 0)";
    Ok(connection.value::<i64>(sql, &[])?.unwrap_or_default().unsigned_abs())
}

/// Forgets up to `excess` of the oldest requests, and then those that came before a moment, as long
/// as one follows the other, but not more than `at_once`; how many.
pub(super) fn forget(
    connection: &Connection,
    at_once: usize,
    excess: u64,
    before: i64,
) -> Result<u64> {
    let mut gone = 0;
    // The last row of which something goes, and what stays of it.
    let (mut last, mut left) = (None, None);
    let goes = |gone: u64, line: &str| {
        gone < at_once as u64
            && (gone < excess
                || read_request(line).is_ok_and(|request| micros(request.at) < before))
    };
    let sql = "SELECT no, requests, packed FROM request_log ORDER BY no LIMIT ?1";
    connection.each(sql, bound![at_once], |row| {
        // What is damaged goes with the others.
        let (first, text) = (row.get::<i64>(0)?, lines(row).unwrap_or_default());
        let mut stays = &*text;
        for number in first.. {
            let line = stays.split('\n').next().unwrap_or_default();
            if !goes(gone, line) {
                left = Some((number, stays.to_owned())).filter(|_| number > first);
                return Ok(ControlFlow::Break(()));
            }
            gone += 1;
            last = Some(first);
            match stays.get(line.len() + 1..) {
                Some(rest) => stays = rest,
                None => break,
            }
        }
        Result::Ok(ControlFlow::Continue(()))
    })?;
    connection.execute_later("DELETE FROM request_log WHERE no <= ?1", bound![last])?;
    if let Some((first, lines)) = left {
        let mut packer = Packer::default();
        let packed = packer.pack(lines.as_bytes());
        insert_row(connection, first, lines.split('\n').count(), packed)?;
    }
    Ok(gone)
}
