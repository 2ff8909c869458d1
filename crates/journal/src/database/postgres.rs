//! PostgreSQL, for several processes on several machines.
//!
//! Whoever uses a store blocks, as files do, and may be anywhere, also inside a runtime. So one thread
//! speaks with PostgreSQL, and the others wait for it.

mod listen;
mod schema;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::{join, try_join_all};
use mcpgraph_postgres::MakeRustlsConnect;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::Host;
use tokio_postgres::{Config, Row, Statement};

pub(crate) use self::listen::{Hear, Heard, Listening};
use self::value::Owned;
use super::{Access, Bound, DatabaseError, Result, bound};
use crate::{News, RunId};

/// Where PostgreSQL is spoken with.
static SPEAKER: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()
});

/// How long PostgreSQL may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long PostgreSQL may take to be reached.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What is sent together at most, in statements and in bytes.
const MAX_LATER: usize = 512;
const MAX_LATER_BYTES: usize = 4 * 1024 * 1024;

/// What only one process may do at a time.
const WRITING: i64 = 0x6d63_7067;

/// What a connection asks for itself. A process that stops in the middle of a transaction must not
/// keep the others from theirs for long.
const SETTINGS: &str = "SET search_path TO mcpgraph; SET statement_timeout TO '15s'; \
     SET idle_in_transaction_session_timeout TO '15s'; SET client_min_messages TO warning";

/// How a transaction that writes begins. All others wait for it, and must still be able to say that
/// they live before they are given up.
const BEGIN_WRITING: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout TO '2s'";

/// Where the engine of durable runs has them, each under the id of its run. What it keeps there is
/// its own affair; only whether a run has ended is looked for here.
const DURABLE_RUNS: &str = "mcpgraph_dbos.workflow_status";

/// A database of runs.
#[derive(Clone)]
pub(crate) struct PostgresStore {
    config: Arc<Config>,
    tls: MakeRustlsConnect,
}

/// A connection.
pub(crate) struct Client {
    inner: Arc<tokio_postgres::Client>,
    statements: RefCell<HashMap<Box<str>, Statement>>,
    /// What is executed when the transaction ends.
    later: RefCell<Vec<(Statement, Vec<Owned>)>>,
    later_bytes: Cell<usize>,
    /// An answer did not come, so that nobody knows what the next one would be to.
    is_broken: Cell<bool>,
}

impl PostgresStore {
    /// The database of a URL.
    pub(crate) fn new(url: &str) -> Result<Self> {
        let (mut config, tls) = mcpgraph_postgres::read(url).map_err(DatabaseError::Url)?;
        config.connect_timeout(CONNECT_TIMEOUT).application_name("mcpgraph");
        Ok(Self { config: Arc::new(config), tls })
    }

    /// Which database it is, without anything secret.
    pub(crate) fn name(&self) -> String {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let place = self.config.get_hosts().first().map(|host| match host {
            Host::Tcp(name) => format!(" at {name}:{port}"),
            Host::Unix(path) => format!(" at {}", path.display()),
        });
        let name = self.config.get_dbname().unwrap_or("of the user");
        format!("the database {name}{}", place.unwrap_or_default())
    }

    /// Makes the tables, or brings them up to date.
    pub(crate) fn prepare(&self) -> Result<()> {
        schema::migrate(&Client::connect(self)?)
    }

    /// A connection to a database that is prepared.
    pub(crate) fn connect(&self) -> Result<Client> {
        let client = Client::connect(self)?;
        client.batch(SETTINGS)?;
        Ok(client)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Client {
    fn connect(store: &PostgresStore) -> Result<Self> {
        let PostgresStore { config, tls } = store.clone();
        let client = wait(async move {
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection to PostgreSQL ended");
                }
            });
            Ok(Arc::new(client))
        });
        let client = client.map_err(|error| DatabaseError::Unreachable {
            place: store.name(),
            why: match error {
                DatabaseError::Postgres(error) => mcpgraph_postgres::reason(&error),
                other => other.to_string(),
            },
        })?;
        Ok(Self {
            inner: client,
            statements: RefCell::default(),
            later: RefCell::default(),
            later_bytes: Cell::default(),
            is_broken: Cell::default(),
        })
    }

    /// Whether it can no longer be used.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_broken.get() || self.inner.is_closed()
    }

    pub(super) fn execute(&self, sql: &str, values: &[Bound<'_>]) -> Result<u64> {
        self.flush()?;
        let (statement, values) = (self.statement(sql)?, owned(values));
        self.ask(|client| async move { client.execute_raw(&statement, values).await })
    }

    pub(super) fn query(&self, sql: &str, values: &[Bound<'_>]) -> Result<Vec<Row>> {
        self.flush()?;
        let (statement, values) = (self.statement(sql)?, owned(values));
        self.ask(
            |client| async move { client.query_raw(&statement, values).await?.try_collect().await },
        )
    }

    pub(super) fn execute_later(&self, sql: &str, values: &[Bound<'_>]) -> Result<()> {
        let statement = self.statement(sql)?;
        let values = owned(values);
        let bytes: usize = values.iter().map(Owned::bytes).sum();
        self.later.borrow_mut().push((statement, values));
        self.later_bytes.set(self.later_bytes.get() + bytes);
        if self.later.borrow().len() >= MAX_LATER || self.later_bytes.get() >= MAX_LATER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// See [`super::Connection::goes_on`].
    pub(super) fn goes_on(&self, id: &str) -> Result<String> {
        // The engine makes its tables when it is first needed.
        let sql = format!(
            "SELECT CASE WHEN to_regclass('{DURABLE_RUNS}') IS NULL THEN 0 ELSE 1 END::BIGINT"
        );
        let rows = self.query(&sql, &[])?;
        if rows.first().map(|row| row.try_get::<_, i64>(0)).transpose()? != Some(1) {
            return Ok("0 = 1".to_owned());
        }
        Ok(format!(
            "EXISTS (SELECT 1 FROM {DURABLE_RUNS} AS kept
                 WHERE kept.workflow_uuid = CAST(encode({id}, 'hex') AS UUID)::TEXT
                     AND kept.status IN ('PENDING', 'ENQUEUED', 'DELAYED'))"
        ))
    }

    /// Tells other processes that runs changed, once the transaction is committed.
    pub(super) fn tell(&self, runs: impl ExactSizeIterator<Item = RunId>) -> Result<()> {
        let sql = "SELECT pg_notify(?1, ?2)";
        self.execute_later(sql, bound![listen::CHANNEL, &listen::named(runs)])
    }

    /// Tells other processes that something else changed, once the transaction is committed.
    pub(super) fn announce(&self, news: &News) -> Result<()> {
        let sql = "SELECT pg_notify(?1, ?2)";
        self.query(sql, bound![listen::NEWS, &news.to_text()]).map(drop)
    }

    pub(super) fn begin(&self, access: Access) -> Result<()> {
        self.forget_later();
        match access {
            Access::Read => self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Access::Write => {
                self.batch(&format!("{BEGIN_WRITING}; SELECT pg_advisory_xact_lock({WRITING})"))
            }
        }
    }

    /// Ends a transaction; what was to be executed later is sent along.
    pub(super) fn end(&self, how: &str) -> Result<()> {
        if how != "COMMIT" {
            self.forget_later();
        }
        // PostgreSQL undoes a transaction in which something failed, whatever it is told, and says
        // so in the answer to what failed.
        self.flush_and(Some(how))
    }

    fn flush(&self) -> Result<()> {
        if self.later.borrow().is_empty() { Ok(()) } else { self.flush_and(None) }
    }

    fn flush_and(&self, last: Option<&str>) -> Result<()> {
        let later = self.later.take();
        self.later_bytes.set(0);
        let last = last.map(str::to_owned);
        self.ask(|client| async move {
            let all = try_join_all(
                later.into_iter().map(|(statement, values)| execute(&client, statement, values)),
            );
            let end = async {
                match last {
                    Some(last) => client.batch_execute(&last).await,
                    None => Ok(()),
                }
            };
            let (executed, ended) = join(all, end).await;
            executed?;
            ended
        })
    }

    fn forget_later(&self) {
        self.later.borrow_mut().clear();
        self.later_bytes.set(0);
    }

    fn batch(&self, sql: &str) -> Result<()> {
        let sql = sql.to_owned();
        self.ask(|client| async move { client.batch_execute(&sql).await })
    }

    fn statement(&self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let text = sql.replace('?', "$");
        let statement = self.ask(|client| async move { client.prepare(&text).await })?;
        self.statements.borrow_mut().insert(sql.into(), statement.clone());
        Ok(statement)
    }

    fn ask<T, F>(&self, question: impl FnOnce(Arc<tokio_postgres::Client>) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let answer = wait(question(Arc::clone(&self.inner)));
        if matches!(answer, Err(DatabaseError::Late(_))) {
            self.is_broken.set(true);
        }
        answer
    }
}

async fn execute(
    client: &tokio_postgres::Client,
    statement: Statement,
    values: Vec<Owned>,
) -> std::result::Result<u64, tokio_postgres::Error> {
    client.execute_raw(&statement, values).await
}

/// Waits for an answer, for as long as one may take.
fn wait<T: Send + 'static>(
    answer: impl Future<Output = std::result::Result<T, tokio_postgres::Error>> + Send + 'static,
) -> Result<T> {
    let speaker = SPEAKER.as_ref().map_err(|error| DatabaseError::Url(error.to_string()))?;
    let (tell, told) = sync_channel(1);
    speaker.spawn(async move {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, answer).await;
        // Whoever asked waits for it.
        tell.try_send(answer).unwrap_or_default();
    });
    match told.recv() {
        Ok(Ok(answer)) => Ok(answer?),
        Ok(Err(_)) | Err(_) => Err(DatabaseError::Late(ANSWER_TIMEOUT.as_secs())),
    }
}

fn owned(values: &[Bound<'_>]) -> Vec<Owned> {
    values.iter().map(Owned::from).collect()
}
