//! Whether a process that writes is alive.
//!
//! Beside a file, each holds a lock on a file of its own, which the system lets go of however the
//! process ends. In a database that other machines reach, each says from time to time that it lives.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::database::{Connection, Result, Store, bound};

use crate::database::create_private_file;
use crate::{RunId, numbers};

/// How often a writer says that it lives, where it has to.
pub(crate) const SHOW_EVERY: Duration = Duration::from_secs(1);

/// After how long it is given up, in PostgreSQL's words. Whoever is given up by mistake, because
/// the database was slow for so long, only has its durable runs executed by somebody else.
const GONE_AFTER: &str = "5 seconds";

/// The same, for those who have not been able to look for so long themselves.
pub(crate) const GONE_AFTER_TIME: Duration = Duration::from_secs(5);

/// For how long after it was seen a writer is certain not to be given up.
pub(crate) const CERTAIN_FOR: Duration = Duration::from_secs(4);

/// After how long a writer that is gone is forgotten once its runs are handed over.
const FORGOTTEN_AFTER: &str = "1 day";

/// The writer of runs that no process holds. There is always one more that could go on with them.
pub(crate) const NOBODY: i64 = 0;

/// The lock of a writer, held while it lives.
pub(crate) struct WriterLock {
    /// What the lock is called.
    pub(crate) name: String,
    path: PathBuf,
    _file: File,
}

impl WriterLock {
    /// Takes a new lock.
    pub(crate) fn take(dir: &Path) -> io::Result<Self> {
        let name = RunId::new().to_string();
        let path = lock_path(dir, &name);
        // It gets its name when it is locked, so that nobody ever sees it free while it is held.
        let unnamed = path.with_extension("new");
        let file = create_private_file(&unnamed)?;
        file.lock()?;
        fs::rename(&unnamed, &path)?;
        Ok(Self { name, path, _file: file })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A file that stays is found free and taken away by the next writer.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

fn lock_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("writer-{name}.lock"))
}

fn is_alive(dir: &Path, name: &str) -> bool {
    let Ok(file) = File::open(lock_path(dir, name)) else { return false };
    // A shared lock does not disturb others who look at the same time.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// What shows that a writer lives.
pub(crate) enum Presence {
    /// A lock on a file.
    Lock(WriterLock),
    /// A row that says when it was last seen.
    Row {
        /// What the writer is called.
        name: String,
    },
}

impl Presence {
    pub(crate) fn begin(store: &Store) -> io::Result<Self> {
        Ok(match store {
            Store::Sqlite(store) => Self::Lock(WriterLock::take(&store.dir)?),
            Store::Postgres(_) => Self::Row { name: RunId::new().to_string() },
        })
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Lock(lock) => &lock.name,
            Self::Row { name } => name,
        }
    }
}

/// The numbers of the writers that are alive.
pub(crate) fn living(connection: &Connection, store: &Store) -> Result<HashSet<i64>> {
    let mut living: HashSet<i64> = match store {
        Store::Sqlite(store) => {
            let writers = writers(connection)?.into_iter();
            writers.filter(|(_, name)| is_alive(&store.dir, name)).map(|(no, _)| no).collect()
        }
        Store::Postgres(_) => {
            let sql = format!(
                "SELECT no FROM writers WHERE gone = 0 AND seen > now() - interval '{GONE_AFTER}'"
            );
            connection.all(&sql, &[], |row| row.get(0))?.into_iter().collect()
        }
    };
    living.insert(NOBODY);
    Ok(living)
}

/// Says that a writer lives; false if the others have given it up.
pub(crate) fn show(connection: &Connection, writer: i64) -> Result<bool> {
    let sql = "UPDATE writers SET seen = now() WHERE no = ?1 AND gone = 0";
    Ok(connection.execute(sql, bound![writer])? > 0)
}

/// Whether there is a writer that does not live any more.
pub(crate) fn has_gone(connection: &Connection) -> Result<bool> {
    let sql = format!(
        "SELECT no FROM writers WHERE gone = 0 AND seen <= now() - interval '{GONE_AFTER}' LIMIT 1"
    );
    Ok(connection.value::<i64>(&sql, &[])?.is_some())
}

/// Whether the runs of a writer that is gone wait to be handed over.
pub(crate) fn is_awaited(connection: &Connection, name: &str) -> Result<bool> {
    let sql = "SELECT no FROM writers WHERE name = ?1 AND gone = 1";
    Ok(connection.value::<i64>(sql, bound![name])?.is_some())
}

/// Gives a writer that was given up another number; none if it is not known at all.
pub(crate) fn rise(connection: &Connection, name: &str, since: i64) -> Result<Option<i64>> {
    let sql = "UPDATE writers SET no = DEFAULT, gone = 0, seen = now(), since = ?1, batch = 0
         WHERE name = ?2 RETURNING no";
    connection.value(sql, bound![since, name])
}

/// The names of writers that are gone and have not been forgotten.
pub(crate) fn gone(connection: &Connection) -> Result<Vec<String>> {
    connection.all("SELECT name FROM writers WHERE gone = 1", &[], |row| row.get(0))
}

/// The names of the writers that are alive.
pub(crate) fn living_names(connection: &Connection, store: &Store) -> Result<HashSet<String>> {
    let living = living(connection, store)?;
    let writers = writers(connection)?.into_iter();
    Ok(writers.filter(|(no, _)| living.contains(no)).map(|(_, name)| name).collect())
}

fn writers(connection: &Connection) -> Result<Vec<(i64, String)>> {
    connection.all("SELECT no, name FROM writers", &[], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Settles the runs of writers that are gone, and forgets these.
pub(crate) fn bury(connection: &Connection, store: &Store) -> Result<()> {
    let living = living(connection, store)?;
    for (no, name) in writers(connection)?.into_iter().filter(|(no, _)| !living.contains(no)) {
        connection.execute(
            "UPDATE runs SET status = 'interrupted', change = ?1
             WHERE writer = ?2 AND status = 'running'",
            bound![numbers::latest(connection)? + 1, no],
        )?;
        match store {
            Store::Sqlite(store) => {
                connection.execute("DELETE FROM writers WHERE no = ?1", bound![no])?;
                fs::remove_file(lock_path(&store.dir, &name)).unwrap_or_default();
            }
            // Its durable runs have to be handed over first.
            Store::Postgres(_) => {
                let sql = "UPDATE writers SET gone = 1 WHERE no = ?1 AND gone = 0";
                connection.execute(sql, bound![no])?;
            }
        }
    }
    if store.is_shared() {
        let sql = format!(
            "DELETE FROM writers WHERE gone = 2 AND seen <= now() - interval '{FORGOTTEN_AFTER}'"
        );
        connection.execute(&sql, &[])?;
    }
    Ok(())
}
