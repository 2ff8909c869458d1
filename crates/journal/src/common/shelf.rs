use std::time::Duration;

use super::micros;
use crate::database::{self, Bound, Connection, Row, bound};
use crate::{Journal, JournalError};

/// How much later than it was something is noted to have been used: noting it each time would cost
/// a write for every look.
const USED_STEP: Duration = Duration::from_secs(15);

/// Where small things are kept by their names, each changed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Conversations of procedures.
    Conversations,
    /// Sessions of clients.
    Sessions,
    /// Tasks of servers, and whose they are.
    Tasks,
}

/// Something on a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What stays as it is.
    pub base: String,
    /// What changes.
    pub state: String,
    /// How often it was changed: whoever changes it says which version was looked at.
    pub version: i64,
    /// How long nobody has used it.
    pub idle: Duration,
}

/// Whether something was put on a shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelved {
    /// It is there.
    Yes,
    /// As many things are there as may be.
    Full,
}

impl Shelf {
    fn table(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Sessions => "sessions",
            Self::Tasks => "tasks",
        }
    }
}

impl Journal {
    /// Puts something on a shelf, in the place of what has its name; there may be `limit` of them.
    pub fn shelve(
        &self,
        shelf: Shelf,
        name: &str,
        (base, state): (&str, &str),
        limit: usize,
    ) -> Result<Shelved, JournalError> {
        self.alter(|connection| {
            let (table, clock) = (shelf.table(), connection.clock());
            let sql = format!(
                "INSERT INTO {table} (name, base, state, version, used)
                 SELECT ?1, ?2, ?3, 1, {clock}
                 WHERE (SELECT count(*) FROM {table}) < ?4
                     OR EXISTS (SELECT 1 FROM {table} WHERE name = ?1)
                 ON CONFLICT (name) DO UPDATE SET base = excluded.base, state = excluded.state,
                     version = {table}.version + 1, used = excluded.used"
            );
            let put = connection.execute(&sql, bound![name, base, state, limit])?;
            Ok(if put > 0 { Shelved::Yes } else { Shelved::Full })
        })
    }

    /// What has a name on a shelf, which is thereby used.
    pub fn shelved(&self, shelf: Shelf, name: &str) -> Result<Option<Kept>, JournalError> {
        self.alter(|connection| {
            let (table, clock) = (shelf.table(), connection.clock());
            let sql =
                format!("SELECT base, state, version, {clock} - used FROM {table} WHERE name = ?1");
            let found = connection.first(&sql, bound![name], kept)?;
            if found.as_ref().is_some_and(|kept| kept.idle >= USED_STEP) {
                use_again(connection, shelf, name)?;
            }
            Ok(found)
        })
    }

    /// Changes what has a name on a shelf, if it is still of the version that was looked at.
    pub fn reshelve(
        &self,
        shelf: Shelf,
        name: &str,
        state: &str,
        version: i64,
    ) -> Result<bool, JournalError> {
        self.alter(|connection| {
            let (table, clock) = (shelf.table(), connection.clock());
            let sql = format!(
                "UPDATE {table} SET state = ?1, version = version + 1, used = {clock}
                 WHERE name = ?2 AND version = ?3"
            );
            Ok(connection.execute(&sql, bound![state, name, version])? > 0)
        })
    }

    /// Notes that something on a shelf is in use.
    pub fn keep_shelved(&self, shelf: Shelf, name: &str) -> Result<(), JournalError> {
        self.alter(|connection| use_again(connection, shelf, name))
    }

    /// Takes something from a shelf; what it was, if it was there.
    pub fn unshelve(&self, shelf: Shelf, name: &str) -> Result<Option<Kept>, JournalError> {
        self.alter(|connection| Ok(take(connection, shelf, "name = ?1", bound![name])?.pop()))
            .map(|taken| taken.map(|(_, kept)| kept))
    }

    /// Takes from a shelf what nobody has used for so long. Each thing is given to one who asks.
    pub fn unshelve_idle(
        &self,
        shelf: Shelf,
        idle: Duration,
    ) -> Result<Vec<(String, Kept)>, JournalError> {
        self.alter(|connection| {
            let condition = format!("{} - used >= ?1", connection.clock());
            Ok(take(connection, shelf, &condition, bound![micros(idle)])?)
        })
    }
}

fn take(
    connection: &Connection,
    shelf: Shelf,
    condition: &str,
    values: &[Bound<'_>],
) -> database::Result<Vec<(String, Kept)>> {
    let (table, clock) = (shelf.table(), connection.clock());
    let sql = format!(
        "DELETE FROM {table} WHERE {condition}
         RETURNING base, state, version, {clock} - used, name"
    );
    connection.all(&sql, values, |row| Ok((row.get(4)?, kept(row)?)))
}

fn kept(row: &Row<'_>) -> database::Result<Kept> {
    let idle = u64::try_from(row.get::<i64>(3)?).unwrap_or_default();
    Ok(Kept {
        base: row.get(0)?,
        state: row.get(1)?,
        version: row.get(2)?,
        idle: Duration::from_micros(idle),
    })
}

fn use_again(connection: &Connection, shelf: Shelf, name: &str) -> Result<(), JournalError> {
    let (table, clock) = (shelf.table(), connection.clock());
    connection
        .execute(&format!("UPDATE {table} SET used = {clock} WHERE name = ?1"), bound![name])?;
    Ok(())
}
