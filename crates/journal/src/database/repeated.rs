use rusqlite::CachedStatement;

use super::{Bound, Connection, Result, sqlite};

/// A statement that is executed many times in a row. Looking it up costs as much as a part of what
/// it does, and is done once.
pub(crate) struct Repeated<'a> {
    connection: &'a Connection,
    sql: &'static str,
    /// Looked up when it is needed first, which it may never be.
    prepared: Option<CachedStatement<'a>>,
}

impl<'a> Repeated<'a> {
    pub(crate) fn new(connection: &'a Connection, sql: &'static str) -> Self {
        Self { connection, sql, prepared: None }
    }

    /// Executes it; how many rows it changed.
    pub(crate) fn execute(&mut self, values: &[Bound<'_>]) -> Result<u64> {
        match self.connection {
            Connection::Sqlite(connection) => {
                let prepared = match self.prepared.take() {
                    Some(prepared) => prepared,
                    None => connection.prepare_cached(self.sql)?,
                };
                sqlite::execute_prepared(self.prepared.insert(prepared), values)
            }
            Connection::Postgres(client) => client.execute(self.sql, values),
        }
    }

    /// Executes it where nobody needs the outcome before the transaction ends.
    pub(crate) fn execute_later(&mut self, values: &[Bound<'_>]) -> Result<()> {
        match self.connection {
            Connection::Sqlite(_) => self.execute(values).map(drop),
            Connection::Postgres(client) => client.execute_later(self.sql, values),
        }
    }
}
