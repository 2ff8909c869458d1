use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::common::ReadSeals;
use crate::database::{
    Access, Connection, Hear, Listening, Pool, PostgresStore, SqliteStore, Store, Whereabouts,
    bound,
};
use crate::liveness::{self, Presence};
use crate::mask::Masker;
use crate::questions::PlainQuestion;
use crate::write::{Batcher, RunState, Shared, Writer, micros};
use crate::{
    JournalError, JournalOptions, NewRun, NewsReader, Redaction, Request, RunId, RunRecorder,
};

/// How many connections are kept open for reading.
const MAX_READERS: usize = 4;

/// The stack of the writer: a payload is written level by level, and may have many.
const WRITER_STACK_BYTES: usize = 4 * 1024 * 1024;

/// The store of runs: one file in a folder, which several processes may use at once, or a
/// PostgreSQL database, which several machines may.
///
/// What reads and what removes blocks as files do; what records never blocks.
pub struct Journal {
    pub(crate) store: Store,
    pub(crate) shared: Arc<Shared>,
    readers: Mutex<Vec<Connection>>,
    /// For changes of what is not a run.
    pub(crate) changing: Pool,
    /// Writes events of runs that no process holds.
    pub(crate) appending: Mutex<Option<Batcher>>,
    /// What this process is called among those that write.
    name: Arc<str>,
    /// Hears of what other processes write, for those who follow runs.
    listening: Option<Listening>,
    /// Where the file is that is written; none where nothing is written, or not to a file.
    whereabouts: Option<Whereabouts>,
    /// Hears of the end of the writer; none where nothing is written, or not any more.
    writer: Mutex<Option<Receiver<()>>>,
    /// A connection for what durable runs keep; none before the first of them.
    pub(crate) shelf: Mutex<Option<Connection>>,
    /// What texts are sealed with, as it was read last.
    pub(crate) seals: Mutex<ReadSeals>,
}

/// How the store keeps up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalStatus {
    /// Events and requests that wait to be written.
    pub queued_events: usize,
    /// What they hold, about.
    pub queued_bytes: usize,
    /// Events that were lost since the journal was opened.
    pub lost_events: u64,
    /// Runs that lost events.
    pub lost_runs: u64,
    /// Requests that are not in the log.
    pub lost_requests: u64,
    /// How often a run went on before its events were in the file.
    pub late_runs: u64,
    /// How long the oldest event that is not in the file has waited.
    pub lag: Duration,
    /// Commits since the journal was opened.
    pub commits: u64,
    /// Why the latest attempt to write failed; none if it did not.
    pub last_error: Option<Arc<str>>,
}

/// Waits for commits. What was committed is then read from the store, so a slow reader loses nothing
/// and slows nobody. Of what other processes write to a file it hears nothing; of what they write to
/// a database it does.
pub struct Follower {
    commits: watch::Receiver<u64>,
}

impl Follower {
    /// Waits until something was committed since the last call; false once the journal is closed.
    /// The first call waits for what is committed after [`Journal::follow`].
    pub async fn changed(&mut self) -> bool {
        self.commits.changed().await.is_ok()
    }
}

impl Journal {
    /// Opens the store in a folder, for writing and reading; what is missing is made.
    pub fn open(dir: &Path, options: JournalOptions) -> Result<Self, JournalError> {
        Self::open_store(Store::Sqlite(SqliteStore { dir: dir.to_owned() }), options)
    }

    /// Opens the store in a PostgreSQL database, for writing and reading; what is missing is made.
    /// It is used as a file is: see [`Journal`].
    pub fn open_postgres(url: &str, options: JournalOptions) -> Result<Self, JournalError> {
        Self::open_store(Store::Postgres(PostgresStore::new(url)?), options)
    }

    fn open_store(store: Store, options: JournalOptions) -> Result<Self, JournalError> {
        let connection = store.create()?;
        if let (Connection::Sqlite(file), Some(pages)) = (&connection, options.max_pages) {
            file.pragma_update(None, "max_page_count", pages)
                .map_err(crate::DatabaseError::from)?;
        }
        let failed = |why| JournalError::Open { path: store.name().into(), why };
        let presence = Presence::begin(&store).map_err(failed)?;
        let number = register(&connection, &store, &presence)?;
        let whereabouts = store.whereabouts();
        let plain = PlainQuestion::all(&connection)?;
        let name = Arc::from(presence.name());
        let shared = Arc::new(Shared::new(options));
        shared.set_writer(Some(number));
        let batcher = Batcher::new(connection, Some(number));
        let writer = Writer::new(Arc::clone(&shared), batcher, store.clone(), presence)?
            .at(whereabouts.clone());
        let (ended, end) = sync_channel(1);
        std::thread::Builder::new()
            .name("journal".to_owned())
            .stack_size(WRITER_STACK_BYTES)
            .spawn(move || {
                writer.run();
                // Whoever waited for it may be gone.
                ended.try_send(()).unwrap_or_default();
            })
            .map_err(failed)?;
        let listening = listen(&store, &shared);
        let (readers, writer) = (Mutex::default(), Mutex::new(Some(end)));
        let journal = Self {
            store,
            shared,
            readers,
            changing: Pool::default(),
            appending: Mutex::default(),
            name,
            listening,
            whereabouts,
            writer,
            shelf: Mutex::default(),
            seals: Mutex::default(),
        };
        if let Err(error) = journal.seal_plain_questions(plain) {
            tracing::warn!(%error, "what an older version asked is not sealed yet");
        }
        Ok(journal)
    }

    /// Opens an existing store for reading, while others may be writing. Runs that are begun here
    /// are not kept; [`Journal::remove`] and [`Journal::import`] work.
    pub fn open_read(dir: &Path) -> Result<Self, JournalError> {
        Self::read_store(Store::Sqlite(SqliteStore { dir: dir.to_owned() }))
    }

    /// The same for a PostgreSQL database.
    pub fn open_postgres_read(url: &str) -> Result<Self, JournalError> {
        let store = PostgresStore::new(url)?;
        store.prepare()?;
        Self::read_store(Store::Postgres(store))
    }

    fn read_store(store: Store) -> Result<Self, JournalError> {
        let readers = Mutex::new(vec![store.open_reader()?]);
        let shared = Arc::new(Shared::new(JournalOptions::default()));
        shared.close();
        let listening = listen(&store, &shared);
        Ok(Self {
            store,
            shared,
            readers,
            changing: Pool::default(),
            appending: Mutex::default(),
            name: Arc::from(""),
            listening,
            whereabouts: None,
            writer: Mutex::default(),
            shelf: Mutex::default(),
            seals: Mutex::default(),
        })
    }

    /// Where it is, for people: a folder, or a database without its password.
    pub fn place(&self) -> String {
        self.store.name()
    }

    /// Whether other machines may use it, too.
    pub fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// What this process is called among those that write; no other ever has the name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Masks something else in what is written from now on.
    pub fn set_redaction(&self, redaction: &Redaction) {
        self.shared.set_masker(Masker::new(redaction));
    }

    /// Begins the record of a run.
    pub fn begin(&self, run: NewRun) -> RunRecorder {
        let run = self.shared.begin(run, false, RunState::default());
        RunRecorder::new(Arc::clone(&self.shared), run)
    }

    /// Puts a request that was answered into the log. Never blocks, and nobody waits for it.
    pub fn note(&self, request: &Request) {
        self.shared.note(request);
    }

    /// How the store keeps up.
    pub fn status(&self) -> JournalStatus {
        let mut status = self.shared.status();
        if status.last_error.is_none()
            && let Some(Err(error)) = self.whereabouts.as_ref().map(Whereabouts::check)
        {
            // A writer that has nothing to write has not noticed.
            status.last_error = Some(error.to_string().into());
        }
        status
    }

    /// Waits for commits of one run, or of all runs.
    pub fn follow(&self, id: Option<RunId>) -> Follower {
        let commits = match id {
            Some(id) => self.shared.follow(id),
            None => self.shared.committed.subscribe(),
        };
        Follower { commits }
    }

    /// Hears of changes of what is not a run, by this process and, in a database, by others.
    pub fn news(&self) -> NewsReader {
        self.shared.news.reader()
    }

    /// Writes what is queued and ends the writer, or stops waiting for it when it takes longer
    /// than a run may wait. Dropping the journal does the same.
    pub fn close(self) {
        drop(self);
    }

    /// The same, whoever else still has the journal: what they record from now on is lost. A process
    /// that ends calls this, because a task that is never dropped would keep what was recorded from
    /// being written, or said to be lost.
    pub fn end(&self) {
        self.shared.close();
        let Some(end) = self.writer.lock().take() else { return };
        if end.recv_timeout(self.shared.options.wait).is_err() {
            let status = self.shared.status();
            let (events, error) = (status.queued_events, status.last_error.as_deref());
            tracing::warn!(
                events,
                error,
                "the record of the latest runs may not be complete: events are not written yet"
            );
        }
    }

    /// Reads the file as it is at one moment.
    pub(crate) fn read<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let pooled = std::iter::from_fn(|| self.readers.lock().pop())
            .find(|connection| !connection.is_closed());
        let connection = match pooled {
            Some(connection) => connection,
            None => self.store.open_reader()?,
        };
        let result = connection.transaction(Access::Read, body);
        let mut readers = self.readers.lock();
        if readers.len() < MAX_READERS {
            readers.push(connection);
        }
        result
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        drop(self.listening.take());
        self.end();
    }
}

/// Hears of what other processes do.
fn listen(store: &Store, shared: &Arc<Shared>) -> Option<Listening> {
    let shared = Arc::clone(shared);
    store.listen(Arc::new(move |heard| match heard {
        Hear::Runs(runs) => shared.heard(runs),
        Hear::News(news) => shared.news.announce(&news),
    }))
}

/// Makes this process known as one that writes, and settles the runs of those that are gone.
pub(crate) fn register(
    connection: &Connection,
    store: &Store,
    presence: &Presence,
) -> Result<i64, JournalError> {
    connection.transaction(Access::Write, |connection| {
        liveness::bury(connection, store)?;
        let since = micros(SystemTime::now());
        if store.is_shared()
            && let Some(number) = liveness::rise(connection, presence.name(), since)?
        {
            return Ok(number);
        }
        let number = connection.value(
            "INSERT INTO writers (name, pid, since) VALUES (?1, ?2, ?3) RETURNING no",
            bound![presence.name(), i64::from(std::process::id()), since],
        )?;
        number.ok_or_else(|| JournalError::Damaged("a writer has no number".to_owned()))
    })
}
