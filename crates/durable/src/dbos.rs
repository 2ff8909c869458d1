//! DBOS on PostgreSQL: the engine of several processes on several machines.
//!
//! A run is a workflow of DBOS, which keeps its input, its steps and its outcome, and has every
//! workflow executed that is on its queue. What is added here: whose workflows go back to the queue
//! because their process is gone (see [`super::sweep`]), what is forgotten (see [`super::tidy`]),
//! where the places of steps are (see [`steps`]), and that everything that is kept is sealed.

mod beside;
mod steps;

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dbos::sysdb::postgres::{self, PostgresSystemDatabase, Settings};
use dbos::sysdb::retry::RetryPolicy;
use dbos::sysdb::types::{Message as DbosMessage, WorkflowStatus};
use dbos::sysdb::{Error, SystemDatabase};
use dbos::{Config, DBOS, StartOptions, WorkflowRef};
use mcpgraph_journal::{Alone, Journal, JournalError, RunId};
use mcpgraph_value::Value;
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;

use self::steps::DbosSteps;
use crate::executions::Executions;
use crate::refused::Refused;
use crate::sealed::{About, unreadable};
use crate::{DurableError, Ended, Engine, Executor, Message, Stopped, sweep, tidy};

/// Whose workflows these are among others in the database.
const APPLICATION: &str = "mcpgraph";

/// The schema that DBOS keeps its tables in.
const SCHEMA: &str = "mcpgraph_dbos";

/// Which executions understand each other's steps. It changes when the places of steps do, and with
/// nothing else, so that runs go on after an update. DBOS gives a run to executors of its version
/// only; so what is served is a part of that, see [`version`].
const VERSION: &str = "1";

/// The name of the one workflow there is.
const WORKFLOW: &str = "run";

/// How JSON is marked that is kept.
const JSON: &str = "json";

/// How many connections DBOS has for its own work, and how many steps have.
const CONNECTIONS: u32 = 4;

/// How often it is looked for the end of a run that another process executes.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it is looked whether this process is seen to live, while that is not certain.
const WAIT_FOR_CERTAINTY: Duration = Duration::from_millis(50);

/// How long is waited at most before something is asked again of a database that is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long the beginning of a run waits for a database that cannot be used.
const WAIT_FOR_DATABASE: Duration = Duration::from_secs(30);

/// How long other processes may take to start DBOS.
const WAIT_FOR_OTHERS: Duration = Duration::from_mins(1);

/// The number of starting DBOS among what processes do alone.
const STARTING: i64 = 0x6462_6f73;

/// The engine of several processes, on DBOS.
pub struct Dbos(Arc<Inner>);

pub(crate) struct Inner {
    url: String,
    /// See [`version`].
    version: String,
    pub(crate) journal: Arc<Journal>,
    executor: OnceLock<Weak<dyn Executor>>,
    opened: OnceCell<Opened>,
    pub(crate) executions: Arc<Executions>,
    /// The runs that this process was given and cannot execute.
    pub(crate) refused: Refused,
    /// Counts ends of runs.
    news: watch::Sender<u64>,
    pub(crate) closing: CancellationToken,
}

/// DBOS at work.
struct Opened {
    dbos: DBOS,
    workflow: WorkflowRef<String, String>,
    database: Arc<PostgresSystemDatabase>,
}

impl Dbos {
    /// An engine in the database of a URL, in which the journal is, too. Processes go on with each
    /// other's runs where they serve the same: where this name is the same.
    pub fn new(url: &str, served: &str, journal: Arc<Journal>) -> Self {
        Self(Arc::new(Inner {
            url: url.to_owned(),
            version: version(served),
            journal,
            executor: OnceLock::new(),
            opened: OnceCell::new(),
            executions: Arc::default(),
            refused: Refused::default(),
            news: watch::Sender::new(0),
            closing: CancellationToken::new(),
        }))
    }
}

#[async_trait]
impl Engine for Dbos {
    fn serve(&self, executor: Weak<dyn Executor>, takes_over: bool) {
        if self.0.executor.set(executor).is_err() || !takes_over {
            return;
        }
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            while let Err(error) = inner.opened().await {
                tracing::warn!(%error, "durable runs of others do not go on here yet");
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                    () = inner.closing.cancelled() => return,
                }
            }
        });
    }

    async fn start(&self, run: RunId, input: Value) -> Result<(), DurableError> {
        let began = Instant::now();
        loop {
            let error = match self.0.start(run, input.clone()).await {
                Err(DurableError::Unusable(error)) if !self.0.closing.is_cancelled() => error,
                done => return done,
            };
            if began.elapsed() > WAIT_FOR_DATABASE {
                let error = format!("{error}; it was waited for {WAIT_FOR_DATABASE:?}");
                return Err(DurableError::Unusable(error));
            }
            tracing::debug!(%run, error, "a run cannot begin yet");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn outcome(&self, run: RunId) -> Result<Ended, DurableError> {
        let mut news = self.0.news.subscribe();
        loop {
            match self.look(run).await {
                Ok(Some(ended)) => return Ok(ended),
                Ok(None) => {}
                Err(DurableError::Unusable(error)) if !self.0.closing.is_cancelled() => {
                    tracing::debug!(%run, error, "the end of a run cannot be looked for");
                }
                Err(error) => return Err(error),
            }
            drop(tokio::time::timeout(LOOK_EVERY, news.changed()).await);
        }
    }

    async fn look(&self, run: RunId) -> Result<Option<Ended>, DurableError> {
        let opened = self.0.opened().await?;
        let found = opened.database.get_workflow(&run.to_string()).await.map_err(unusable)?;
        let found = found.ok_or(DurableError::Unknown(run))?;
        match found.status {
            WorkflowStatus::Success => {
                let output = found.output.as_deref().and_then(|output| text(output).ok());
                let value = match output {
                    Some(output) => self.0.unseal(About::outcome(run), output).await?,
                    None => None,
                };
                // What can no longer be opened is as if it were forgotten.
                value.map(Ended::Value).map(Some).ok_or(DurableError::Unknown(run))
            }
            status if status.is_terminal() => Ok(Some(Ended::Cancelled)),
            _ => Ok(None),
        }
    }

    async fn cancel(&self, run: RunId) -> Result<(), DurableError> {
        let opened = self.0.opened().await?;
        let id = run.to_string();
        let cancelled = opened.database.cancel_workflows(&[&id], false, None).await;
        let cancelled = cancelled.map_err(unusable)?;
        if !cancelled.is_empty() {
            self.0.executions.stop(run, Stopped::Cancelled);
        }
        self.0.tell();
        Ok(())
    }

    async fn send(&self, run: RunId, message: Message) -> Result<bool, DurableError> {
        match self.look(run).await {
            Ok(None) => {}
            Ok(Some(_)) | Err(DurableError::Unknown(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        let opened = self.0.opened().await?;
        let id = run.to_string();
        let sealed = self.0.seal(About::message(run, &message.topic), message.value).await?;
        let text = json(sealed);
        let key = format!("{id}/{}/{}", message.topic, message.key);
        let message = DbosMessage {
            destination_id: &id,
            topic: Some(&message.topic),
            message: &text,
            idempotency_key: Some(&key),
        };
        match opened.database.send_message(&message, Some(JSON), None, false).await {
            Ok(()) => Ok(true),
            Err(Error::NonExistentWorkflow { .. }) => Ok(false),
            Err(error) => Err(unusable(error)),
        }
    }

    fn is_lasting(&self) -> bool {
        true
    }

    async fn retire(&self) {
        self.0.executions.retire().await;
    }

    async fn close(&self) {
        self.0.closing.cancel();
        self.0.executions.close();
        if let Some(opened) = self.0.opened.get() {
            opened.dbos.shutdown().await;
            opened.database.close().await;
        }
    }
}

impl Inner {
    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// DBOS, which is started when it is first needed.
    async fn opened(self: &Arc<Self>) -> Result<&Opened, DurableError> {
        self.opened.get_or_try_init(|| self.open()).await
    }

    /// Begins a run, or finds that it has begun.
    async fn start(self: &Arc<Self>, run: RunId, input: Value) -> Result<(), DurableError> {
        let opened = self.opened().await?;
        self.certain().await?;
        let id = run.to_string();
        let options = StartOptions { workflow_id: Some(&id), ..StartOptions::default() };
        let input = self.seal(About::input(run), input).await?;
        let handle = opened.workflow.start_with(input, options).await;
        let handle = handle.map_err(|error| DurableError::Unusable(error.to_string()))?;
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            // What it came to is read from the database, where it is for everybody.
            drop(handle.result().await);
            inner.tell();
        });
        Ok(())
    }

    /// The database behind DBOS, once that was started.
    pub(crate) fn database(&self) -> Option<Arc<PostgresSystemDatabase>> {
        self.opened.get().map(|opened| Arc::clone(&opened.database))
    }

    async fn open(self: &Arc<Self>) -> Result<Opened, DurableError> {
        let failed = |error: dbos::Error| DurableError::Unusable(error.to_string());
        self.journal.hands_over();
        let dbos = DBOS::new(Config {
            app_version: Some(self.version.clone()),
            executor_id: Some(self.journal.name().to_string()),
            schema: SCHEMA.to_owned(),
            max_connections: CONNECTIONS,
            ..Config::new(APPLICATION, &self.url)
        });
        let inner = Arc::downgrade(self);
        let workflow = dbos
            .register_workflow(WORKFLOW, move |input: String| {
                let inner = inner.clone();
                async move { executed(inner, input).await }
            })
            .map_err(failed)?;
        let alone = self.alone().await?;
        dbos.launch().await.map_err(failed)?;
        drop(alone);
        let executor = Some(&**self.journal.name());
        let database = Arc::new(connect(&self.url, executor, CONNECTIONS).await?);
        database.start_notifications().await;
        tokio::spawn(sweep::sweep(Arc::downgrade(self), self.closing.clone()));
        tokio::spawn(tidy::tidy(Arc::downgrade(self), self.closing.clone()));
        Ok(Opened { dbos, workflow, database })
    }

    /// Waits until no other process starts DBOS. It makes its tables without looking whether another
    /// is at it, and takes what that one has not finished for broken.
    async fn alone(&self) -> Result<Alone, DurableError> {
        let began = Instant::now();
        while began.elapsed() < WAIT_FOR_OTHERS {
            match self.with_journal(|journal| journal.alone(STARTING)).await? {
                Some(alone) => return Ok(alone),
                None => tokio::time::sleep(WAIT_FOR_CERTAINTY).await,
            }
        }
        let why = format!("other processes have started it for {WAIT_FOR_OTHERS:?}");
        Err(DurableError::Unusable(why))
    }

    /// Waits until the others are known to see that this process lives.
    async fn certain(&self) -> Result<i64, Stopped> {
        loop {
            if let Some(presence) = self.journal.presence()
                && self.journal.is_seen()
            {
                return Ok(presence);
            }
            if self.closing.is_cancelled() {
                return Err(Stopped::ending());
            }
            tokio::time::sleep(WAIT_FOR_CERTAINTY).await;
        }
    }
}

/// The workflow: executes a run.
async fn executed(inner: Weak<Inner>, input: String) -> dbos::Result<String> {
    let id = dbos::workflow_id().unwrap_or_default();
    let interrupted = || dbos::Error::Interrupted { workflow_id: id.clone() };
    let inner = inner.upgrade().ok_or_else(interrupted)?;
    let run: RunId = id.parse().map_err(|_| interrupted())?;
    let executor = inner.executor.get().and_then(Weak::upgrade).ok_or_else(interrupted)?;
    let database = inner.database_soon().await.ok_or_else(interrupted)?;
    let presence = inner.certain().await.map_err(|_| interrupted())?;
    let (_entered, course) = inner.executions.enter(run).ok_or_else(interrupted)?;
    // One that cannot be opened is executed to say so.
    let value = inner.unseal(About::input(run), input).await.map_err(|_| interrupted())?;
    let engine = Arc::clone(&inner);
    let steps = Arc::new(DbosSteps { engine, database, run, id: id.clone(), presence, course });
    match executor.execute(run, value.unwrap_or_default(), steps).await {
        Ok(value) => inner.seal(About::outcome(run), value).await.map_err(|_| interrupted()),
        Err(stopped) => {
            tracing::debug!(%run, %stopped, "a durable run stopped here");
            if matches!(stopped, Stopped::Refused(_)) {
                inner.refused.add(run);
            }
            Err(interrupted())
        }
    }
}

impl Inner {
    /// The database; a run may be taken from the queue in the moment before it is there.
    pub(crate) async fn database_soon(&self) -> Option<Arc<PostgresSystemDatabase>> {
        while !self.closing.is_cancelled() {
            if let Some(database) = self.database() {
                return Some(database);
            }
            tokio::time::sleep(WAIT_FOR_CERTAINTY).await;
        }
        None
    }

    async fn seal(&self, about: About, value: Value) -> Result<String, Stopped> {
        self.with_journal(move |journal| about.seal(journal, &value)).await
    }

    async fn unseal(&self, about: About, sealed: String) -> Result<Option<Value>, Stopped> {
        self.with_journal(move |journal| about.unseal(journal, &sealed)).await
    }

    /// Does something with the journal where blocking is no harm.
    pub(crate) async fn with_journal<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, Stopped> {
        let journal = Arc::clone(&self.journal);
        let done = tokio::task::spawn_blocking(move || body(&journal)).await;
        match done {
            Ok(done) => done.map_err(|error| Stopped::Unusable(error.to_string())),
            Err(error) => Err(Stopped::Unusable(error.to_string())),
        }
    }
}

/// The tables of DBOS, as an executor sees them, or somebody who executes nothing.
async fn connect(
    url: &str,
    executor: Option<&str>,
    connections: u32,
) -> Result<PostgresSystemDatabase, DurableError> {
    let config = postgres::Config {
        max_connections: connections,
        migrate: false,
        settings: Settings {
            schema: SCHEMA,
            executor_id: executor,
            application_name: Some(APPLICATION),
            retry: RetryPolicy { max_backoff: LONGEST_PAUSE, ..RetryPolicy::default() },
            ..Settings::default()
        },
        ..postgres::Config::new(url)
    };
    PostgresSystemDatabase::connect(&config).await.map_err(unusable)
}

/// Which executors DBOS gives runs to: those that understand their steps and serve the same.
fn version(served: &str) -> String {
    format!("{VERSION} {served}")
}

/// A sealed text as DBOS keeps it.
fn json(sealed: String) -> String {
    Value::from(sealed).to_json()
}

/// The text that DBOS keeps.
fn text(json: &str) -> Result<String, Stopped> {
    serde_json::from_str(json).map_err(|_| unreadable())
}

pub(crate) fn unusable(error: Error) -> DurableError {
    DurableError::Unusable(error.to_string())
}
