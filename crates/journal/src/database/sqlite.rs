//! SQLite: one file in a folder.

mod file;
mod taking_over;
mod whereabouts;

use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::{CachedStatement, Connection};

pub(crate) use file::create_private_file;
pub(super) use file::{open_reader, open_writer, prepare};
pub(crate) use taking_over::TakingOver;
pub(crate) use whereabouts::Whereabouts;

use super::{Access, Bound, DatabaseError, Result, Row};

/// A file of runs.
#[derive(Clone, Debug)]
pub(crate) struct SqliteStore {
    /// The folder it is in.
    pub(crate) dir: PathBuf,
}

pub(super) fn execute(connection: &Connection, sql: &str, values: &[Bound<'_>]) -> Result<u64> {
    execute_prepared(&mut connection.prepare_cached(sql)?, values)
}

pub(super) fn execute_prepared(
    statement: &mut CachedStatement<'_>,
    values: &[Bound<'_>],
) -> Result<u64> {
    bind(statement, values)?;
    Ok(statement.raw_execute()? as u64)
}

pub(super) fn each<E: From<DatabaseError>>(
    connection: &Connection,
    sql: &str,
    values: &[Bound<'_>],
    look: &mut dyn FnMut(&Row<'_>) -> std::result::Result<ControlFlow<()>, E>,
) -> std::result::Result<(), E> {
    let failed = |error: rusqlite::Error| E::from(error.into());
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    bind(&mut statement, values)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        if look(&Row::Sqlite(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Waits for another process that writes before it begins, and not in the middle.
pub(super) fn begin(connection: &Connection, access: Access) -> Result<()> {
    let sql = match access {
        Access::Read => "BEGIN",
        Access::Write => "BEGIN IMMEDIATE",
    };
    execute(connection, sql, &[]).map(drop)
}

fn bind(statement: &mut CachedStatement<'_>, values: &[Bound<'_>]) -> Result<()> {
    for (index, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    Ok(())
}

pub(super) fn used_bytes(connection: &Connection) -> Result<u64> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).unsigned_abs())
}

pub(super) fn give_back(connection: &Connection, pages: u32) -> Result<bool> {
    // The pragma works as it is stepped through.
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    let free: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if free == 0 {
        // The file itself gets shorter when the log of changes is taken over.
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    }
    Ok(free > 0)
}
