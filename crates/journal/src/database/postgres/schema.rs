//! The tables in PostgreSQL, and how one format becomes the next.

use super::{Access, Client, DatabaseError, Result};

/// What each format adds to the one before; the first adds to nothing.
const MIGRATIONS: [&str; 8] =
    [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6, FORMAT_7, FORMAT_8];

/// The tables are those of the file (see `sqlite/file.rs`). Texts are ordered by their bytes, as
/// there.
const FORMAT_1: &str = r#"
CREATE TABLE mcpgraph.counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO mcpgraph.counters VALUES ('change', 0), ('definitions', 0);

CREATE TABLE mcpgraph.writers (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    pid BIGINT NOT NULL,
    since BIGINT NOT NULL,
    seen TIMESTAMPTZ NOT NULL DEFAULT now(),
    batch BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE mcpgraph.runs (
    no BIGINT PRIMARY KEY,
    id BYTEA NOT NULL UNIQUE,
    change BIGINT NOT NULL,
    started BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    status TEXT NOT NULL,
    writer BIGINT,
    steps BIGINT NOT NULL,
    events BIGINT NOT NULL,
    lost BIGINT NOT NULL,
    tool TEXT NOT NULL,
    digest BYTEA NOT NULL,
    definition BYTEA,
    reached_step BIGINT,
    reached_node TEXT,
    error TEXT,
    face TEXT NOT NULL,
    client TEXT,
    protocol TEXT,
    traceparent TEXT,
    tracestate TEXT,
    parent BYTEA,
    parent_step BIGINT,
    around BYTEA
);
CREATE INDEX runs_by_change ON mcpgraph.runs (change) WHERE change > 0;
CREATE INDEX runs_by_parent ON mcpgraph.runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_around ON mcpgraph.runs (around) WHERE around IS NOT NULL;
CREATE INDEX runs_open ON mcpgraph.runs (writer) WHERE status = 'running';

CREATE TABLE mcpgraph.chunks (key BIGINT PRIMARY KEY, events BYTEA NOT NULL, packed BIGINT NOT NULL);
ALTER TABLE mcpgraph.chunks ALTER COLUMN events SET STORAGE EXTERNAL;
CREATE TABLE mcpgraph.snapshots (
    key BIGINT PRIMARY KEY,
    begun BIGINT NOT NULL,
    state TEXT NOT NULL
);
CREATE TABLE mcpgraph.payloads (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    size BIGINT NOT NULL,
    packed BIGINT NOT NULL,
    data BYTEA NOT NULL
);
ALTER TABLE mcpgraph.payloads ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE mcpgraph.uses (run BIGINT, payload BIGINT, PRIMARY KEY (run, payload));
CREATE INDEX uses_by_payload ON mcpgraph.uses (payload);
CREATE TABLE mcpgraph.definitions (digest BYTEA PRIMARY KEY, text TEXT NOT NULL);

CREATE TABLE mcpgraph.workflows (
    id TEXT COLLATE "C" PRIMARY KEY,
    definition TEXT NOT NULL,
    changed BIGINT NOT NULL
);
CREATE TABLE mcpgraph.hook_modules (
    id TEXT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    script TEXT NOT NULL,
    changed BIGINT NOT NULL
);
CREATE TABLE mcpgraph.requests (
    no BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    method TEXT NOT NULL,
    name TEXT,
    server TEXT,
    status TEXT NOT NULL,
    code BIGINT,
    token TEXT,
    token_name TEXT,
    client TEXT,
    run BYTEA
);
"#;

/// What several processes have in common beside runs: see [`crate::common`].
const FORMAT_2: &str = "
INSERT INTO mcpgraph.counters VALUES ('tokens', 0);
CREATE TABLE mcpgraph.conversations (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version BIGINT NOT NULL,
    used BIGINT NOT NULL
);
CREATE INDEX conversations_by_use ON mcpgraph.conversations (used);
CREATE TABLE mcpgraph.sessions (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version BIGINT NOT NULL,
    used BIGINT NOT NULL
);
CREATE INDEX sessions_by_use ON mcpgraph.sessions (used);
CREATE TABLE mcpgraph.tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    made BIGINT NOT NULL
);
CREATE TABLE mcpgraph.rates (name TEXT PRIMARY KEY, until BIGINT NOT NULL);
CREATE TABLE mcpgraph.seal_keys (no BIGINT PRIMARY KEY, key BYTEA NOT NULL, made BIGINT NOT NULL);
CREATE TABLE mcpgraph.letters (
    address TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    left_at BIGINT NOT NULL
);
";

/// Whose runs they are, and what they ask people.
const FORMAT_3: &str = "
ALTER TABLE mcpgraph.runs ADD COLUMN principal TEXT;
CREATE TABLE mcpgraph.questions (
    id BYTEA PRIMARY KEY,
    run BYTEA NOT NULL,
    path TEXT NOT NULL,
    node TEXT NOT NULL,
    tool TEXT NOT NULL,
    message TEXT NOT NULL,
    schema TEXT NOT NULL,
    principal TEXT,
    asked BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    state TEXT NOT NULL,
    answer TEXT,
    ended BIGINT,
    UNIQUE (run, path)
);
CREATE INDEX questions_pending ON mcpgraph.questions (asked) WHERE state = 'pending';
";

/// A writer that is gone (1) stays: its durable runs have to be handed over (2).
const FORMAT_4: &str = "ALTER TABLE mcpgraph.writers ADD COLUMN gone BIGINT NOT NULL DEFAULT 0;";

/// Tasks of servers: any process knows whose they are.
const FORMAT_5: &str = "
CREATE TABLE mcpgraph.tasks (
    name TEXT PRIMARY KEY,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    version BIGINT NOT NULL,
    used BIGINT NOT NULL
);
CREATE INDEX tasks_by_use ON mcpgraph.tasks (used);
";

/// Short runs share rows of events (see [`crate::layout`]), which only those who know that can read,
/// and requests share rows. The table that had them stays for processes that do not know of this one.
const FORMAT_6: &str = "
CREATE TABLE mcpgraph.request_log (
    no BIGINT PRIMARY KEY,
    count BIGINT NOT NULL,
    requests BYTEA NOT NULL,
    packed BIGINT NOT NULL
);
ALTER TABLE mcpgraph.request_log ALTER COLUMN requests SET STORAGE EXTERNAL;
INSERT INTO mcpgraph.request_log (no, count, requests, packed)
    SELECT no, 1, convert_to(json_build_array(at, duration, method, name, server, status, code,
        token, token_name, client, encode(run, 'hex'))::text, 'UTF8'), 0 FROM mcpgraph.requests;
DELETE FROM mcpgraph.requests;
";

/// What many runs have in common stands once for all of them (see `write/occasion.rs`), and lines of
/// events are shorter (see `codec/lines.rs`). Runs of before are left as they are.
const FORMAT_7: &str = "
CREATE TABLE mcpgraph.occasions (
    occasion_key BYTEA PRIMARY KEY,
    occasion_tool TEXT NOT NULL,
    occasion_digest BYTEA NOT NULL,
    occasion_definition BYTEA,
    occasion_face TEXT NOT NULL,
    occasion_client TEXT,
    occasion_protocol TEXT,
    occasion_principal TEXT
);
ALTER TABLE mcpgraph.runs ADD COLUMN occasion BYTEA;
";

/// What is asked is sealed, and gone when that is over (see `questions/kept.rs`). What waits is sealed
/// when the database is opened.
const FORMAT_8: &str = "
ALTER TABLE mcpgraph.questions ADD COLUMN sealed TEXT;
UPDATE mcpgraph.questions SET message = '', schema = 'false' WHERE state <> 'pending';
";

/// Brings the tables up to date. Any number of processes may do so at once: one does it, the others
/// wait.
pub(super) fn migrate(client: &Client) -> Result<()> {
    client.begin(Access::Write)?;
    let migrated = migrate_locked(client);
    client.end(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn migrate_locked(client: &Client) -> Result<()> {
    client.batch(
        "CREATE SCHEMA IF NOT EXISTS mcpgraph; \
         CREATE TABLE IF NOT EXISTS mcpgraph.format (version BIGINT NOT NULL)",
    )?;
    let rows = client.query("SELECT version FROM mcpgraph.format", &[])?;
    let found: i64 = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(0);
    let known = (MIGRATIONS.len() as u64).cast_signed();
    if found > known {
        return Err(DatabaseError::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        client.batch(migration)?;
    }
    if found < known {
        client.batch(&format!(
            "DELETE FROM mcpgraph.format; INSERT INTO mcpgraph.format VALUES ({known})"
        ))?;
    }
    Ok(())
}
