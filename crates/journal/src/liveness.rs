//! Whether a process that writes is alive: each holds a lock on a file of its own, which the
//! system lets go of however the process ends.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::schema::create_private_file;
use crate::{RunId, numbers};

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

/// The numbers of the writers that are alive.
pub(crate) fn living(connection: &Connection, dir: &Path) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = connection.prepare_cached("SELECT no, name FROM writers")?;
    let writers = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(writers.into_iter().filter(|(_, name)| is_alive(dir, name)).map(|(no, _)| no).collect())
}

/// Settles the runs of writers that are gone, and forgets these.
pub(crate) fn bury(connection: &Connection, dir: &Path) -> rusqlite::Result<()> {
    let living = living(connection, dir)?;
    let mut statement = connection.prepare("SELECT no, name FROM writers")?;
    let writers = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    for (no, name) in writers.into_iter().filter(|(no, _)| !living.contains(no)) {
        connection.execute(
            "UPDATE runs SET status = 'interrupted', change = ?
             WHERE writer = ? AND status = 'running'",
            [numbers::latest(connection)? + 1, no],
        )?;
        connection.execute("DELETE FROM writers WHERE no = ?", [no])?;
        fs::remove_file(lock_path(dir, &name)).unwrap_or_default();
    }
    Ok(())
}
