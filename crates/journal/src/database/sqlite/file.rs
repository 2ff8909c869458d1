//! The file: how it is opened, what its tables are and how one format becomes the next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::taking_over;
use crate::JournalError;

/// The name of the file in its folder.
const FILE: &str = "runs.db";

/// Marks the file as one of runs, for SQLite and for whoever finds it.
const APPLICATION_ID: i64 = 0x6d63_7067;

/// What each format adds to the one before; the first adds to nothing.
const MIGRATIONS: [&str; 11] = [
    FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6, FORMAT_7, FORMAT_8, FORMAT_9,
    FORMAT_10, FORMAT_11,
];

/// How long a connection waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// How long opening is tried while others open, too, and how long it rests in between.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
const OPEN_PAUSE: Duration = Duration::from_millis(10);

/// What the log of changes is cut down to afterwards.
const MAX_LOG_BYTES: u32 = 64 * 1024 * 1024;

/// Events stand in `chunks`, many in a row: its key, and that of `snapshots`, is the run's number
/// and the number of an event (see [`crate::keys`]), so that what is written goes to the end of the table.
const FORMAT_1: &str = "
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES ('run', 0), ('change', 0);

CREATE TABLE writers (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    pid INTEGER NOT NULL,
    since INTEGER NOT NULL
);

CREATE TABLE runs (
    no INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    change INTEGER NOT NULL,
    started INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    status TEXT NOT NULL,
    writer INTEGER,
    steps INTEGER NOT NULL,
    events INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    tool TEXT NOT NULL,
    digest BLOB NOT NULL,
    definition BLOB,
    reached_step INTEGER,
    reached_node TEXT,
    error TEXT,
    face TEXT NOT NULL,
    client TEXT,
    protocol TEXT,
    traceparent TEXT,
    tracestate TEXT,
    parent BLOB,
    parent_step INTEGER
);
CREATE INDEX runs_by_change ON runs (change);
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_open ON runs (writer) WHERE status = 'running';

CREATE TABLE chunks (key INTEGER PRIMARY KEY, events TEXT NOT NULL);
CREATE TABLE snapshots (
    key INTEGER PRIMARY KEY,
    begun INTEGER NOT NULL,
    state TEXT NOT NULL
);
CREATE TABLE payloads (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE uses (run INTEGER, payload INTEGER, PRIMARY KEY (run, payload)) WITHOUT ROWID;
CREATE INDEX uses_by_payload ON uses (payload);
CREATE TABLE definitions (digest BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
";

/// What is not a run but lives beside them.
const FORMAT_2: &str = "
INSERT INTO counters VALUES ('definitions', 0);
CREATE TABLE workflows (
    id TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE hook_modules (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    script TEXT NOT NULL,
    changed INTEGER NOT NULL
) WITHOUT ROWID;
";

/// Runs inside the runs of workflows, and the log of requests. It is read from its end, so that it
/// needs no other key.
const FORMAT_3: &str = "
ALTER TABLE runs ADD COLUMN around BLOB;
CREATE INDEX runs_by_around ON runs (around) WHERE around IS NOT NULL;
CREATE TABLE requests (
    no INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    method TEXT NOT NULL,
    name TEXT,
    server TEXT,
    status TEXT NOT NULL,
    code INTEGER,
    token TEXT,
    token_name TEXT,
    client TEXT,
    run BLOB
);
";

/// Runs and changes of them take their numbers from one sequence (see [`crate::numbers`]), so that
/// most runs need no number of a change, and rows of events may be compressed.
const FORMAT_4: &str = "
UPDATE counters SET value = (SELECT max(value) FROM counters WHERE name IN ('run', 'change'))
    WHERE name = 'change';
DELETE FROM counters WHERE name = 'run';
DROP INDEX runs_by_change;
CREATE INDEX runs_by_change ON runs (change) WHERE change > 0;
ALTER TABLE chunks ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
";

/// What several processes have in common beside runs: see [`crate::common`].
const FORMAT_5: &str = "
INSERT INTO counters VALUES ('tokens', 0);
CREATE TABLE conversations (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    used INTEGER NOT NULL
);
CREATE INDEX conversations_by_use ON conversations (used);
CREATE TABLE sessions (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    used INTEGER NOT NULL
);
CREATE INDEX sessions_by_use ON sessions (used);
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    made INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE rates (name TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE seal_keys (no INTEGER PRIMARY KEY, key BLOB NOT NULL, made INTEGER NOT NULL);
CREATE TABLE letters (
    address TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    left_at INTEGER NOT NULL
) WITHOUT ROWID;
";

/// Whose runs they are, and what they ask people.
const FORMAT_6: &str = "
ALTER TABLE runs ADD COLUMN principal TEXT;
CREATE TABLE questions (
    id BLOB PRIMARY KEY,
    run BLOB NOT NULL,
    path TEXT NOT NULL,
    node TEXT NOT NULL,
    tool TEXT NOT NULL,
    message TEXT NOT NULL,
    schema TEXT NOT NULL,
    principal TEXT,
    asked INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,
    answer TEXT,
    ended INTEGER,
    UNIQUE (run, path)
) WITHOUT ROWID;
CREATE INDEX questions_pending ON questions (asked) WHERE state = 'pending';
";

/// What durable runs need to go on after their process (see [`crate::durable`]).
const FORMAT_7: &str = "
CREATE TABLE durable_runs (
    run BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    input TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT
) WITHOUT ROWID;
CREATE INDEX durable_pending ON durable_runs (run) WHERE status = 'pending';
CREATE TABLE durable_steps (
    run BLOB,
    place INTEGER,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE durable_messages (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    run BLOB NOT NULL,
    topic TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    taken INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run, topic, key)
);
";

/// Tasks of servers: any process knows whose they are.
const FORMAT_8: &str = "
CREATE TABLE tasks (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    used INTEGER NOT NULL
);
CREATE INDEX tasks_by_use ON tasks (used);
";

/// Short runs share rows of events (see [`crate::layout`]), which only those who know that can read,
/// and requests share rows. The table that had them stays for processes that do not know of this one.
const FORMAT_9: &str = "
CREATE TABLE request_log (
    no INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    requests BLOB NOT NULL,
    packed INTEGER NOT NULL
);
INSERT INTO request_log (no, count, requests, packed)
    SELECT no, 1, json_array(at, duration, method, name, server, status, code, token, token_name,
        client, nullif(lower(hex(run)), '')), 0 FROM requests;
DELETE FROM requests;
";

/// What many runs have in common stands once for all of them (see `write/occasion.rs`), and lines of
/// events are shorter (see `codec/lines.rs`). Runs of before are left as they are.
const FORMAT_10: &str = "
CREATE TABLE occasions (
    occasion_key BLOB PRIMARY KEY,
    occasion_tool TEXT NOT NULL,
    occasion_digest BLOB NOT NULL,
    occasion_definition BLOB,
    occasion_face TEXT NOT NULL,
    occasion_client TEXT,
    occasion_protocol TEXT,
    occasion_principal TEXT
) WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN occasion BLOB;
";

/// What is asked is sealed, and gone when that is over (see `questions/kept.rs`). What waits is sealed
/// when the file is opened.
const FORMAT_11: &str = "
ALTER TABLE questions ADD COLUMN sealed TEXT;
UPDATE questions SET message = '', schema = 'false' WHERE state <> 'pending';
";

/// The path of the file in a folder.
pub(in crate::database) fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Makes the folder and an empty file that only their owner may open, where there are none.
pub(in crate::database) fn prepare(dir: &Path) -> Result<(), JournalError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |why| JournalError::Open { path, why }
    };
    create_private_dir(dir).map_err(failed(dir))?;
    let file = path(dir);
    match create_private_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(&file)(error)),
        _ => Ok(()),
    }
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Makes a file that only its owner may open. SQLite gives its other files the same mode.
pub(crate) fn create_private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A connection that writes; the tables are brought to the newest format.
///
/// SQLite does not wait while another process turns on the log of changes, so this does.
pub(in crate::database) fn open_writer(dir: &Path) -> Result<Connection, JournalError> {
    let began = Instant::now();
    loop {
        match try_open_writer(dir) {
            Err(JournalError::Database(error))
                if error.is_busy() && began.elapsed() < OPEN_TIMEOUT =>
            {
                std::thread::sleep(OPEN_PAUSE);
            }
            opened => return opened,
        }
    }
}

fn try_open_writer(dir: &Path) -> Result<Connection, JournalError> {
    let path = path(dir);
    let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let look = connection.transaction()?;
    let format = check_format(&look, &path)?;
    drop(look);
    if format == 0 {
        // Only before there are tables; the log of changes comes after it.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", taking_over::PAGES)?;
    connection.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    migrate(&mut connection, &path)?;
    Ok(connection)
}

/// A connection that reads; it never changes the file.
pub(in crate::database) fn open_reader(dir: &Path) -> Result<Connection, JournalError> {
    let path = path(dir);
    if !path.exists() {
        return Err(JournalError::NoStore { dir: dir.to_owned() });
    }
    // A log of changes can only be read by somebody who may write.
    let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .or_else(|_| connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    let format = match look_at_format(&mut connection, &path) {
        Err(JournalError::Database(error)) if error.is_not_allowed() => {
            connection = connect_unchanging(&path)?;
            look_at_format(&mut connection, &path)?
        }
        looked => looked?,
    };
    if format == 0 {
        return Err(JournalError::NoStore { dir: dir.to_owned() });
    }
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn look_at_format(connection: &mut Connection, path: &Path) -> Result<i64, JournalError> {
    let look = connection.transaction()?;
    check_format(&look, path)
}

/// A connection to a file in a folder that this user may not write to. SQLite makes files beside it
/// to read a file that others may be writing, unless it is told that nobody is: while somebody does,
/// there is a log of changes with something in it.
fn connect_unchanging(path: &Path) -> Result<Connection, JournalError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let is_empty = match fs::metadata(&log) {
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let Some(name) = path.to_str().filter(|_| is_empty) else {
        return Err(JournalError::Unwritable { path: path.to_owned(), log });
    };
    let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    connect(
        Path::new(&format!("file:{name}?immutable=1")),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

fn connect(path: &Path, mode: OpenFlags) -> Result<Connection, JournalError> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The format of a file; 0 where it is empty. What it says in several places is only true in one
/// transaction, which is why this needs one: another process may be making the file.
fn check_format(connection: &Connection, path: &Path) -> Result<i64, JournalError> {
    let not_a_store = || JournalError::NotAStore { path: path.to_owned() };
    let number = |name| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(|error| {
            match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => not_a_store(),
                _ => error.into(),
            }
        })
    };
    let known = (MIGRATIONS.len() as u64).cast_signed();
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION_ID, found) if found > known => {
            Err(JournalError::Newer { path: path.to_owned(), found, known })
        }
        (APPLICATION_ID, found) => Ok(found),
        (0, 0) if number("schema_version")? == 0 => Ok(0),
        _ => Err(not_a_store()),
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), JournalError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let format = check_format(&transaction, path)?;
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(format as usize) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", (index as u64 + 1).cast_signed())?;
    }
    if format == 0 {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    transaction.commit()?;
    Ok(())
}
