//! A graph of slow calls, the server that counts them, and where runs are kept.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use mcpgraph_journal::{Filter, Journal, RunStatus, RunSummary};
use mcpgraph_testkit::environment::counting_server;
use mcpgraph_testkit::{PostgresServer, Replica};
use serde_json::json;
use tempfile::TempDir;

/// How long a test waits for what has to come, also on a machine that has a lot to do.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Each tool does something before and after the node it is named after.
const GRAPH: &str = include_str!("graph.yaml");

pub(crate) struct World {
    folder: TempDir,
    store: Option<String>,
}

impl World {
    /// A world whose runs are in a file; none where the counting server is not built.
    pub(crate) fn in_file() -> Option<Self> {
        Self::new(None)
    }

    /// A world whose runs are in a database.
    pub(crate) fn in_database(server: &PostgresServer, name: &str) -> Option<Self> {
        Self::new(Some(server.create_database(name)))
    }

    fn new(store: Option<String>) -> Option<Self> {
        let counting = counting_server()?.to_json();
        let folder = tempfile::tempdir().unwrap();
        let counts = folder.path().join("counts");
        let graph = GRAPH
            .replace("COUNTING", counting["command"].as_str().unwrap())
            .replace("COUNTS", counts.to_str().unwrap());
        fs::write(folder.path().join("graph.yaml"), graph).unwrap();
        fs::write(counts, "").unwrap();
        Some(Self { folder, store })
    }

    /// Starts a process that serves the graph.
    pub(crate) fn replica(&self) -> Replica {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_mcpgraph"));
        serve
            .args(["serve", "--http", "127.0.0.1:0", "--no-reload", "-g"])
            .arg(self.folder.path().join("graph.yaml"))
            .args(["--data"])
            .arg(self.data());
        if let Some(store) = &self.store {
            serve.args(["--store", store]);
        }
        Replica::start(serve)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn journal(&self) -> Option<Journal> {
        match &self.store {
            Some(url) => Journal::open_postgres_read(url).ok(),
            None => Journal::open_read(&self.data()).ok(),
        }
    }

    /// How often a call of a name began, or ended.
    pub(crate) fn count(&self, what: &str, name: &str) -> usize {
        self.keys(what, name).len()
    }

    /// The idempotency keys of the calls of a name that began, or ended.
    pub(crate) fn keys(&self, what: &str, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("counts")).unwrap();
        let line = format!("{what} {name} ");
        text.lines().filter_map(|found| found.strip_prefix(&line)).map(str::to_owned).collect()
    }

    /// Whether a run is at the node in the middle.
    pub(crate) fn is_in_the_middle(&self) -> bool {
        let is_waiting = || {
            let reached = self.run().and_then(|run| run.reached);
            reached.is_some_and(|reached| &*reached.node == "middle")
        };
        self.count("begin", "middle") > 0 || is_waiting()
    }

    /// The latest run.
    pub(crate) fn run(&self) -> Option<RunSummary> {
        let journal = self.journal()?;
        journal.list(&Filter { limit: 1, ..Filter::default() }).ok()?.runs.pop()
    }

    /// The latest run once it has ended.
    pub(crate) fn ended(&self) -> RunSummary {
        until("the run ends", || {
            let run = self.run()?;
            (!matches!(run.status, RunStatus::Running | RunStatus::Interrupted)).then_some(run)
        })
    }

    /// That a run has a whole record in which every step began and ended once.
    pub(crate) fn check_record(&self, run: &RunSummary) {
        let journal = self.journal().unwrap();
        let events = journal.events(run.id, 0, 10_000).unwrap();
        let mut begun = std::collections::BTreeSet::new();
        let mut ended = std::collections::BTreeSet::new();
        for (place, (seq, event)) in events.iter().enumerate() {
            assert_eq!(*seq, place as u64, "an event is missing or there twice");
            use mcpgraph_journal::StoredEvent as E;
            match event {
                E::StepStarted { step, .. } => assert!(begun.insert(*step), "{step} began twice"),
                E::StepFinished { step, .. } | E::StepFailed { step, .. } => {
                    assert!(ended.insert(*step), "{step} ended twice");
                }
                _ => {}
            }
        }
        assert_eq!(begun, ended, "every step ends");
        assert!(matches!(events.last(), Some((_, mcpgraph_journal::StoredEvent::Finished { .. }))));
    }
}

/// Waits for something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the tools are called with.
pub(crate) fn no_arguments() -> serde_json::Value {
    json!({})
}
