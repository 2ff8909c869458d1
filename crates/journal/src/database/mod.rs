//! The databases that runs can be kept in, behind one face.
//!
//! Statements are written once, in what both understand, with placeholders `?1`, `?2`; what only one
//! of them can say is in its own file here.

mod error;
mod pool;
mod postgres;
mod repeated;
mod row;
mod sqlite;
mod value;

use std::ops::ControlFlow;

pub use error::DatabaseError;
pub(crate) use pool::Pool;
pub(crate) use postgres::{Hear, Listening, PostgresStore};
pub(crate) use repeated::Repeated;
pub(crate) use row::{Column, Row};
pub(crate) use sqlite::{SqliteStore, TakingOver, Whereabouts, create_private_file};
pub(crate) use value::{Bound, bound};

use crate::{JournalError, News, RunId};

/// What a statement gives, or why it failed.
pub(crate) type Result<T> = std::result::Result<T, DatabaseError>;

/// A connection to a database. It is used by one thread at a time.
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

/// Where the runs are.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It sees one moment.
    Read,
    /// It has what is written to itself.
    Write,
}

impl Store {
    /// Whether other machines may use it, too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Sqlite(store) => store.dir.display().to_string(),
            Self::Postgres(store) => store.name(),
        }
    }

    /// Makes what is missing, and a connection that writes.
    pub(crate) fn create(&self) -> std::result::Result<Connection, JournalError> {
        match self {
            Self::Sqlite(store) => sqlite::prepare(&store.dir)?,
            Self::Postgres(store) => store.prepare()?,
        }
        self.open_writer()
    }

    /// A connection that writes.
    pub(crate) fn open_writer(&self) -> std::result::Result<Connection, JournalError> {
        Ok(match self {
            Self::Sqlite(store) => Connection::Sqlite(sqlite::open_writer(&store.dir)?),
            Self::Postgres(store) => Connection::Postgres(Box::new(store.connect()?)),
        })
    }

    /// Sees to what a connection that writes a lot leaves behind, where that has to be done.
    pub(crate) fn take_over(
        &self,
        connection: &mut Connection,
    ) -> std::result::Result<Option<TakingOver>, JournalError> {
        match (self, connection) {
            (Self::Sqlite(store), Connection::Sqlite(connection)) => {
                TakingOver::begin(connection, &store.dir).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Where what was just opened is, if it can be taken away while it is open.
    pub(crate) fn whereabouts(&self) -> Option<Whereabouts> {
        match self {
            Self::Sqlite(store) => Some(Whereabouts::of(&store.dir)),
            Self::Postgres(_) => None,
        }
    }

    /// Hears of what other processes write and change, where that is told.
    pub(crate) fn listen(&self, heard: postgres::Heard) -> Option<Listening> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(store) => Listening::begin(store.clone(), heard),
        }
    }

    /// A connection that reads.
    pub(crate) fn open_reader(&self) -> std::result::Result<Connection, JournalError> {
        match self {
            Self::Sqlite(store) => Ok(Connection::Sqlite(sqlite::open_reader(&store.dir)?)),
            Self::Postgres(_) => self.open_writer(),
        }
    }
}

impl Connection {
    /// Whether the answer to a statement costs nothing to wait for.
    pub(crate) fn answers_at_once(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Whether it can no longer be used, and another has to be opened.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(client) => client.is_closed(),
        }
    }

    /// The format of the file that it reads, which may be an older one; a database is brought up to
    /// date before it is used.
    pub(crate) fn format(&self) -> Result<i64> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
            }
            Self::Postgres(_) => Ok(i64::MAX),
        }
    }

    /// Executes a statement; how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Bound<'_>]) -> Result<u64> {
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, sql, values),
            Self::Postgres(client) => client.execute(sql, values),
        }
    }

    /// Executes a statement whose outcome nobody needs before the transaction ends. Over a network
    /// that saves waiting for each.
    pub(crate) fn execute_later(&self, sql: &str, values: &[Bound<'_>]) -> Result<()> {
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, sql, values).map(drop),
            Self::Postgres(client) => client.execute_later(sql, values),
        }
    }

    /// Looks at rows, until told to stop.
    pub(crate) fn each<E: From<DatabaseError>>(
        &self,
        sql: &str,
        values: &[Bound<'_>],
        mut look: impl FnMut(&Row<'_>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        match self {
            Self::Sqlite(connection) => sqlite::each(connection, sql, values, &mut look),
            Self::Postgres(client) => {
                for row in client.query(sql, values)? {
                    if look(&Row::Postgres(&row))?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// All rows.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: &[Bound<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, values, |row| {
            all.push(read(row)?);
            Result::Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// The first row, if there is one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        values: &[Bound<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let (mut read, mut first) = (Some(read), None);
        self.each(sql, values, |row| {
            first = read.take().map(|read| read(row)).transpose()?;
            Result::Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// The first column of the first row.
    pub(crate) fn value<T: Column>(&self, sql: &str, values: &[Bound<'_>]) -> Result<Option<T>> {
        self.first(sql, values, |row| row.get(0))
    }

    /// Tells other processes that runs changed, where they could not know.
    pub(crate) fn tell(&self, runs: impl ExactSizeIterator<Item = RunId>) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(client) => client.tell(runs),
        }
    }

    /// What time it is, in microseconds since 1970: an expression of the database, whose clock is the
    /// same for everybody.
    pub(crate) fn clock(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
            Self::Postgres(_) => "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
        }
    }

    /// What asks the database what it is.
    pub(crate) fn version(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SELECT 'SQLite ' || sqlite_version()",
            Self::Postgres(_) => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        }
    }

    /// What asks how many connections there may be, where that is limited.
    pub(crate) fn most_connections(&self) -> Option<&'static str> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some("SELECT current_setting('max_connections')::bigint"),
        }
    }

    /// What the type of bytes is called.
    pub(crate) fn bytes_type(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "BLOB",
            Self::Postgres(_) => "BYTEA",
        }
    }

    /// Tells other processes that something changed that is not a run, where they could not know.
    pub(crate) fn announce(&self, news: &News) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(client) => client.announce(news),
        }
    }

    /// Whether what durable runs need is here, and not with an engine of its own.
    pub(crate) fn keeps_durable_runs(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// A condition that is true of a run, of which this expression is the id, if it is durable and
    /// has not ended: whoever serves it goes on with it.
    pub(crate) fn goes_on(&self, id: &str) -> Result<String> {
        match self {
            // An older file has no such runs.
            Self::Sqlite(_) if self.format()? < 7 => Ok("0 = 1".to_owned()),
            Self::Sqlite(_) => Ok(format!(
                "EXISTS (SELECT 1 FROM durable_runs AS kept
                     WHERE kept.run = {id} AND kept.status = 'pending')"
            )),
            Self::Postgres(client) => client.goes_on(id),
        }
    }

    /// What is committed is on the disk from now on, where that is not so anyway.
    pub(crate) fn waits_for_disk(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.pragma_update(None, "synchronous", "FULL")?)
            }
            Self::Postgres(_) => Ok(()),
        }
    }

    /// How much of the disk is in use; 0 where the database sees to that itself.
    pub(crate) fn used_bytes(&self) -> Result<u64> {
        match self {
            Self::Sqlite(connection) => sqlite::used_bytes(connection),
            Self::Postgres(_) => Ok(0),
        }
    }

    /// Gives some of what is free back to the system, so many pages at most; true if there is more.
    pub(crate) fn give_back(&self, pages: u32) -> Result<bool> {
        match self {
            Self::Sqlite(connection) => sqlite::give_back(connection, pages),
            Self::Postgres(_) => Ok(false),
        }
    }

    /// Does something in one transaction. What fails leaves nothing behind.
    pub(crate) fn transaction<T, E: From<DatabaseError>>(
        &self,
        access: Access,
        body: impl FnOnce(&Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.begin(access)?;
        let outcome = body(self).and_then(|value| {
            self.end("COMMIT")?;
            Ok(value)
        });
        if outcome.is_err() {
            // Where there is no connection any more there is no transaction either.
            drop(self.end("ROLLBACK"));
        }
        outcome
    }

    fn begin(&self, access: Access) -> Result<()> {
        match self {
            Self::Sqlite(connection) => sqlite::begin(connection, access),
            Self::Postgres(client) => client.begin(access),
        }
    }

    fn end(&self, how: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, how, &[]).map(drop),
            Self::Postgres(client) => client.end(how),
        }
    }
}
