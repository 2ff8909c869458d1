//! A graph of slow calls, the server that counts them, and where runs are kept.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mcpgraph_journal::{Filter, Journal, RunStatus, RunSummary};
use mcpgraph_testkit::environment::counting_server;
use mcpgraph_testkit::{Cable, PostgresServer, Replica};
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
        Self::of_graph(GRAPH, store)
    }

    /// A world with another graph.
    pub(crate) fn of_graph(graph: &str, store: Option<String>) -> Option<Self> {
        let counting = counting_server()?.to_json();
        let world = Self { folder: tempfile::tempdir().unwrap(), store };
        fs::write(world.graph(), graph).unwrap();
        fs::write(world.counts(), "").unwrap();
        world.fill("COUNTING", counting["command"].as_str().unwrap());
        world.fill("COUNTS", world.counts().to_str().unwrap());
        Some(world)
    }

    /// Writes something in the place of a word of the graph.
    pub(crate) fn fill(&self, word: &str, text: &str) {
        let graph = fs::read_to_string(self.graph()).unwrap();
        fs::write(self.graph(), graph.replace(word, text)).unwrap();
    }

    fn graph(&self) -> PathBuf {
        self.folder.path().join("graph.yaml")
    }

    /// The file in which calls are counted.
    pub(crate) fn counts(&self) -> PathBuf {
        self.folder.path().join("counts")
    }

    /// The database, if there is one.
    pub(crate) fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Starts a process that serves the graph.
    pub(crate) fn replica(&self) -> Replica {
        self.replica_with(self.store(), &[])
    }

    /// Starts a process that reaches the database behind a cable.
    pub(crate) fn replica_behind(&self, cable: &Cable) -> Replica {
        let (_, database) = self.store().unwrap().rsplit_once('/').unwrap();
        let url = format!("postgres://tester@{}/{database}", cable.address());
        self.replica_with(Some(&url), &[])
    }

    /// Starts a process with further arguments.
    pub(crate) fn replica_with(&self, store: Option<&str>, arguments: &[&str]) -> Replica {
        Self::start(&self.graph(), &self.data(), store, arguments)
    }

    /// Starts a process that serves the graph of another world, with the runs of this one.
    pub(crate) fn replica_of(&self, other: &Self) -> Replica {
        Self::start(&other.graph(), &self.data(), self.store(), &[])
    }

    /// Starts a process with these variables, which hands over at once when it is asked to end.
    pub(crate) fn replica_in(&self, variables: &[(&str, &str)]) -> Replica {
        let arguments = ["--drain-timeout", "0s"];
        let mut serve = Self::serve(&self.graph(), &self.data(), self.store(), &arguments);
        serve.envs(variables.iter().copied());
        Replica::start(serve)
    }

    fn start(graph: &Path, data: &Path, store: Option<&str>, arguments: &[&str]) -> Replica {
        Replica::start(Self::serve(graph, data, store, arguments))
    }

    fn serve(graph: &Path, data: &Path, store: Option<&str>, arguments: &[&str]) -> Command {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_mcpgraph"));
        serve
            .args(["serve", "--http", "127.0.0.1:0", "--no-reload", "-g"])
            .arg(graph)
            .args(["--data"])
            .arg(data)
            .args(arguments);
        if let Some(store) = store {
            serve.args(["--store", store]);
        }
        serve
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
        let line = format!("{what} {name} ");
        let lines = self.lines();
        lines.iter().filter_map(|found| found.strip_prefix(&line)).map(str::to_owned).collect()
    }

    /// What was counted.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.counts()).unwrap();
        text.lines().map(str::to_owned).collect()
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

/// Writes a line in one go, whoever else writes.
pub(crate) fn append(file: &Path, line: &str) -> Option<()> {
    let mut file = fs::OpenOptions::new().append(true).open(file).ok()?;
    file.write_all(format!("{line}\n").as_bytes()).ok()
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
