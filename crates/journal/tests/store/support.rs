#![allow(dead_code, reason = "two suites share this, and each needs most of it")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, Given, RunError, StepPath};
use mcpgraph_graph::Digest;
use mcpgraph_journal::{Journal, JournalOptions, NewRun, Origin, RunId, RunRecorder};
use mcpgraph_testkit::postgres::ask;
use mcpgraph_value::Value;
use tempfile::TempDir;

/// Where a store of a test is.
pub(crate) enum Home {
    File(TempDir),
    /// The URL of a PostgreSQL database.
    Database(String),
}

impl Home {
    pub(crate) fn open(&self, options: JournalOptions) -> Journal {
        match self {
            Self::File(dir) => Journal::open(dir.path(), options),
            Self::Database(url) => Journal::open_postgres(url, options),
        }
        .unwrap()
    }

    pub(crate) fn open_read(&self) -> Journal {
        match self {
            Self::File(dir) => Journal::open_read(dir.path()),
            Self::Database(url) => Journal::open_postgres_read(url),
        }
        .unwrap()
    }

    /// The same, where nobody may have written anything yet.
    pub(crate) fn open_read_or_made(&self) -> Journal {
        self.open(JournalOptions::default()).close();
        self.open_read()
    }

    /// How many rows a table has.
    pub(crate) fn count(&self, table: &str) -> i64 {
        match self {
            Self::File(dir) => {
                let connection = rusqlite::Connection::open(dir.path().join("runs.db")).unwrap();
                let sql = format!("SELECT count(*) FROM {table}");
                connection.query_row(&sql, [], |row| row.get(0)).unwrap()
            }
            Self::Database(url) => {
                ask(url, &format!("SELECT count(*) FROM mcpgraph.{table}")).parse().unwrap()
            }
        }
    }

    /// Has the engine of durable runs keep a run that has not ended, as far as the journal looks.
    pub(crate) fn has_go_on(&self, journal: &Journal, run: RunId) {
        match self {
            Self::File(_) => journal.keep_run(run, "").unwrap(),
            Self::Database(url) => {
                let table = "mcpgraph_dbos.workflow_status";
                let sql = format!(
                    "CREATE SCHEMA IF NOT EXISTS mcpgraph_dbos;
                     CREATE TABLE IF NOT EXISTS {table} (workflow_uuid TEXT, status TEXT);
                     INSERT INTO {table} VALUES ('{run}', 'PENDING')"
                );
                ask(url, &sql);
            }
        }
    }

    /// The folder of the file.
    pub(crate) fn path(&self) -> &std::path::Path {
        match self {
            Self::File(dir) => dir.path(),
            Self::Database(url) => panic!("{url} is not a file"),
        }
    }
}

/// A store of its own for a test.
pub(crate) fn open(options: JournalOptions) -> (Home, Journal) {
    let home = crate::home();
    let journal = home.open(options);
    (home, journal)
}

pub(crate) fn version() -> Digest {
    Digest::of("the tool")
}

pub(crate) fn new_run(tool: &str) -> NewRun {
    NewRun {
        id: RunId::new(),
        tool: tool.into(),
        digest: version(),
        definition: Some("tools: []".into()),
        origin: Origin::default(),
        started: SystemTime::now(),
    }
}

pub(crate) fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

pub(crate) fn at(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

pub(crate) fn started(tool: &str, input: Value) -> Event {
    Event::Started {
        tool: tool.into(),
        digest: version(),
        input,
        given: Given { seed: 7, clock: 8 },
    }
}

pub(crate) fn step(step: u64, path: &[u32], node: &str, input: Option<Value>) -> Event {
    Event::StepStarted {
        step,
        path: StepPath::new(path),
        node: node.into(),
        kind: "mcp",
        input,
        item_name: None,
        began: at(step * 10),
        at: at(step * 10 + 1),
    }
}

pub(crate) fn done(step: u64, output: Value, edge: Option<&str>) -> Event {
    Event::StepFinished { step, output, edge: edge.map(Into::into), at: at(step * 10 + 5) }
}

pub(crate) fn finished(output: Value) -> Event {
    Event::Finished { outcome: Ok(output), at: at(1000) }
}

pub(crate) fn failed(message: &str) -> Event {
    let error = RunError::new(ErrorKind::ToolError, message);
    Event::Finished { outcome: Err(error), at: at(2000) }
}

/// The events of a run of one node.
pub(crate) fn short_run(tool: &str, output: &Value) -> Vec<Event> {
    vec![
        started(tool, json(r#"{"n":1}"#)),
        step(0, &[0], "work", Some(json(r#"{"a":[1,2]}"#))),
        done(0, output.clone(), None),
        finished(output.clone()),
    ]
}

/// Records a run whole and waits until it is in the file.
pub(crate) async fn keep(journal: &Journal, run: NewRun, events: &[Event]) -> RunId {
    let id = run.id;
    let mut recorder = record(journal, run, events);
    assert!(recorder.committed().await, "{:?}", journal.status());
    id
}

pub(crate) fn record(journal: &Journal, run: NewRun, events: &[Event]) -> RunRecorder {
    let mut recorder = journal.begin(run);
    for event in events {
        recorder.record(event.clone());
    }
    recorder
}

/// Everything that is in a store.
pub(crate) fn raw_bytes(home: &Home) -> Vec<u8> {
    let mut bytes = Vec::new();
    match home {
        Home::File(dir) => {
            for entry in std::fs::read_dir(dir.path()).unwrap() {
                bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
            }
        }
        Home::Database(url) => {
            let tables = "runs occasions definitions snapshots workflows hook_modules";
            for table in tables.split(' ') {
                let sql =
                    format!("SELECT coalesce(string_agg(t::text, ''), '') FROM mcpgraph.{table} t");
                bytes.extend(ask(url, &sql).into_bytes());
            }
            for (table, column) in
                [("chunks", "events"), ("payloads", "data"), ("request_log", "requests")]
            {
                let text = format!("encode({column}, 'escape')");
                let sql =
                    format!("SELECT coalesce(string_agg({text}, ''), '') FROM mcpgraph.{table}");
                bytes.extend(ask(url, &sql).into_bytes());
            }
        }
    }
    bytes
}

pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

pub(crate) fn shared(text: &str) -> Arc<str> {
    text.into()
}

/// Text that does not get shorter by compressing it.
pub(crate) fn noise(seed: u64, bytes: usize) -> Value {
    let mut state = seed;
    let letters = (0..bytes).map(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + 10 + (state >> 57) as u8 % 80)
    });
    letters.collect::<String>().into()
}
