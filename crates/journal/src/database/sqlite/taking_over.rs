//! Takes the log of changes over into the file, beside whoever writes.
//!
//! That waits for the disk several times, and a writer that did it would keep every run that waits
//! for its record. So a thread of its own copies nearly everything. While there is traffic it is
//! never done: then the log grows, and when it is long the writer copies the little that is left
//! itself, and begins at the start of the log again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use rusqlite::Connection;

use super::file;
use crate::{JournalError, database};

/// After how many pages the log of changes is taken over into the file.
pub(super) const PAGES: u32 = 1000;

/// A log of so many pages is begun again.
const LONG: u32 = 4 * PAGES;

/// What is left is little enough for the writer: about what came while the rest was taken over.
const LITTLE: u32 = PAGES / 2;

/// A log of so many pages keeps the writer: the disk is slower than it is.
const TOO_LONG: u32 = 32 * PAGES;

/// Takes over what one connection writes.
pub(crate) struct TakingOver {
    log: Arc<Log>,
    dir: PathBuf,
    /// Begun when there is something to do for the first time.
    beside: Option<Beside>,
}

/// What is known of the log.
#[derive(Default)]
struct Log {
    /// How many pages are in it.
    pages: AtomicU32,
    /// How many of them are in the file, too.
    taken: AtomicU32,
    /// Held by whoever takes over.
    turn: Mutex<()>,
}

/// The thread that does it.
struct Beside {
    /// Never holds more than one: they all ask for the same.
    ask: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl TakingOver {
    /// What the connection writes is no longer taken over by itself.
    pub(in crate::database) fn begin(
        connection: &mut Connection,
        dir: &Path,
    ) -> Result<Self, JournalError> {
        let log = Arc::new(Log::default());
        let counted = Arc::clone(&log);
        connection.wal_hook(Some(move |_: &mut _, pages: i32| {
            counted.count(pages.unsigned_abs());
            Ok(())
        }))?;
        Ok(Self { log, dir: dir.to_owned(), beside: None })
    }

    /// The connection has committed something; it sees to it that the log does not grow for ever.
    pub(crate) fn after_commit(
        &mut self,
        connection: &database::Connection,
    ) -> Result<(), JournalError> {
        let database::Connection::Sqlite(connection) = connection else { return Ok(()) };
        let pages = self.log.pages.load(Ordering::Acquire);
        let left = pages.saturating_sub(self.log.taken.load(Ordering::Acquire));
        let turn = if pages >= TOO_LONG {
            Some(self.log.turn.lock())
        } else if pages >= LONG && left < LITTLE {
            self.log.turn.try_lock()
        } else {
            None
        };
        if turn.is_some() {
            return self.log.take_over(connection);
        }
        drop(turn);
        if left >= PAGES { self.ask() } else { Ok(()) }
    }

    fn ask(&mut self) -> Result<(), JournalError> {
        let beside = match &self.beside {
            Some(beside) => beside,
            None => self.beside.insert(Beside::begin(&self.dir, &self.log)?),
        };
        // It is full when it has been asked already.
        beside.ask.try_send(()).unwrap_or_default();
        Ok(())
    }
}

impl Drop for TakingOver {
    fn drop(&mut self) {
        if let Some(Beside { ask, thread }) = self.beside.take() {
            drop(ask);
            thread.join().unwrap_or_default();
        }
    }
}

impl Beside {
    fn begin(dir: &Path, log: &Arc<Log>) -> Result<Self, JournalError> {
        let (ask, asked) = sync_channel(1);
        let (connection, log) = (file::open_writer(dir)?, Arc::clone(log));
        let thread = thread::Builder::new()
            .name("journal-log".to_owned())
            .spawn(move || take_over_when(&asked, &connection, &log))
            .map_err(|why| JournalError::Open { path: dir.to_owned(), why })?;
        Ok(Self { ask, thread })
    }
}

fn take_over_when(asked: &Receiver<()>, connection: &Connection, log: &Log) {
    while asked.recv().is_ok() {
        let _turn = log.turn.lock();
        if let Err(error) = log.take_over(connection) {
            tracing::debug!(%error, "the log of changes could not be taken over");
        }
    }
}

impl Log {
    /// So many pages are in the log after a commit.
    fn count(&self, pages: u32) {
        if self.pages.swap(pages, Ordering::AcqRel) > pages {
            // It was begun again.
            self.taken.store(0, Ordering::Release);
        }
    }

    /// Takes over what nobody reads any more.
    fn take_over(&self, connection: &Connection) -> Result<(), JournalError> {
        let taken = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            // Busy, or the pages of the log, and of those in the file.
            row.get::<_, i64>(2)
        })?;
        self.taken.store(u32::try_from(taken).unwrap_or_default(), Ordering::Release);
        Ok(())
    }
}
