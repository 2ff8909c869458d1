use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_durable::{Dbos, Ended, Engine, Executor, Local, Repeat, Steps, Stopped, step};
use mcpgraph_journal::{Journal, JournalOptions, RunId};
use mcpgraph_testkit::PostgresServer;
use mcpgraph_value::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long a test waits for what has to come, also on a machine that has a lot to do.
const PATIENCE: Duration = Duration::from_mins(2);

/// The input of runs that nobody goes on with.
pub(crate) const UNWANTED: &str = "unwanted";

/// Where processes keep their runs.
pub(crate) enum Home {
    Memory,
    Folder(TempDir),
    Database(PostgresServer),
}

/// What a run does.
type Body = dyn Fn(Value, Arc<dyn Steps>) -> Pin<Box<dyn Future<Output = Result<Value, Stopped>> + Send>>
    + Send
    + Sync;

struct Script(Box<Body>);

/// Counts how often something was done.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicU32>);

/// One process.
pub(crate) struct Process {
    runtime: Option<Runtime>,
    pub(crate) engine: Arc<dyn Engine>,
    /// Engines do not keep those alive whom they have runs executed by.
    _executor: Arc<Script>,
}

impl Home {
    /// Everything that keeps runs.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::Memory];
        all.extend(Self::lasting());
        all
    }

    /// Everything that keeps runs after the end of a process.
    pub(crate) fn lasting() -> Vec<Self> {
        let folder = Self::Folder(tempfile::tempdir().unwrap());
        let database = PostgresServer::start().map(Self::Database);
        std::iter::once(folder).chain(database).collect()
    }

    /// Starts a process whose runs do this.
    pub(crate) fn start<F>(
        &self,
        body: impl Fn(Value, Arc<dyn Steps>) -> F + Send + Sync + 'static,
    ) -> Process
    where
        F: Future<Output = Result<Value, Stopped>> + Send + 'static,
    {
        self.start_as("the same", body)
    }

    /// Starts a process that serves this.
    pub(crate) fn start_as<F>(
        &self,
        served: &str,
        body: impl Fn(Value, Arc<dyn Steps>) -> F + Send + Sync + 'static,
    ) -> Process
    where
        F: Future<Output = Result<Value, Stopped>> + Send + 'static,
    {
        let runtime = Runtime::new().unwrap();
        let engine: Arc<dyn Engine> = match self {
            Self::Memory => Arc::new(Local::in_memory()),
            Self::Folder(folder) => Arc::new(Local::in_file(journal(folder.path()))),
            Self::Database(server) => {
                let url = server.url();
                let journal = Journal::open_postgres(&url, JournalOptions::default()).unwrap();
                Arc::new(Dbos::new(&url, served, Arc::new(journal)))
            }
        };
        let executor = Arc::new(Script(Box::new(move |input, steps| Box::pin(body(input, steps)))));
        let weak = Arc::downgrade(&executor);
        runtime.block_on(async { engine.serve(weak, true) });
        Process { runtime: Some(runtime), engine, _executor: executor }
    }
}

fn journal(folder: &Path) -> Arc<Journal> {
    Arc::new(Journal::open(folder, JournalOptions::default()).unwrap())
}

#[async_trait]
impl Executor for Script {
    fn accepts(&self, _: RunId, input: &Value) -> bool {
        input.as_str() != Some(UNWANTED)
    }

    async fn execute(
        self: Arc<Self>,
        _: RunId,
        input: Value,
        steps: Arc<dyn Steps>,
    ) -> Result<Value, Stopped> {
        (self.0)(input, steps).await
    }
}

impl Process {
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.unwrap() })
    }

    pub(crate) fn begin(&self, input: impl Into<Value>) -> RunId {
        let run = RunId::new();
        self.run(self.engine.start(run, input.into())).unwrap();
        run
    }

    /// What a run came to.
    pub(crate) fn value_of(&self, run: RunId) -> Value {
        match self.run(self.engine.outcome(run)).unwrap() {
            Ended::Value(value) => value,
            Ended::Cancelled => panic!("the run was cancelled"),
        }
    }

    /// Waits until something holds.
    pub(crate) fn until(&self, holds: impl Fn() -> bool) {
        self.run(async {
            while !holds() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// Ends the process in the middle of what it does.
    pub(crate) fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Count {
    pub(crate) fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Does a step that counts, and gives how often it was done.
pub(crate) async fn counted(
    steps: &Arc<dyn Steps>,
    name: &str,
    count: &Count,
) -> Result<Value, Stopped> {
    let place = steps.place(name);
    let body = || async { Value::from(u64::from(count.add())) };
    step(&**steps, &place, Repeat::Safe, body, || Value::Null).await
}
