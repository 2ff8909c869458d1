//! PostgreSQL databases.

use std::error::Error;
use std::sync::{Arc, Once, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::BytesMut;
use futures_util::TryStreamExt as _;
use mcpgraph_command::{Answer, Request};
use mcpgraph_postgres::{MakeRustlsConnect, reason};
use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{CancelToken, Client, Config};

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// How many connections wait for the next command.
const MAX_IDLE: usize = 4;

/// How long a connection waits for the next command: the file may name another database by then.
const MAX_WAIT: Duration = Duration::from_mins(5);

pub(crate) struct Postgres {
    config: Config,
    tls: MakeRustlsConnect,
    write: bool,
    idle: Arc<Mutex<Vec<Idle>>>,
    /// Whether somebody closes what waits for too long.
    tidied: Once,
}

/// A connection that waits.
struct Idle {
    client: Client,
    since: Instant,
}

/// Ends a statement that nobody waits for any more.
struct Cancel {
    token: Option<CancelToken>,
    tls: MakeRustlsConnect,
}

/// A parameter as text: the database knows which type it needs.
#[derive(Debug)]
struct Parameter(Value);

impl Postgres {
    pub(crate) fn new(url: &str, write: bool) -> Result<Self, CommandError> {
        let unusable = |why: String| {
            CommandError::new(
                ErrorKind::Unavailable,
                format!("the database cannot be reached: {why}"),
            )
        };
        let (config, tls) = mcpgraph_postgres::read(url).map_err(unusable)?;
        Ok(Self { config, tls, write, idle: Arc::default(), tidied: Once::new() })
    }

    async fn client(&self) -> Result<Client, CommandError> {
        while let Some(idle) = { self.idle.lock().pop() } {
            if !idle.client.is_closed() {
                return Ok(idle.client);
            }
        }
        self.tidied.call_once(|| drop(tokio::spawn(tidy(Arc::downgrade(&self.idle)))));
        let (client, connection) =
            self.config.connect(self.tls.clone()).await.map_err(|error| unavailable(&error))?;
        // It ends with its client.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }
}

#[async_trait]
impl Carrier for Postgres {
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError> {
        let Request::Sql { lead, statement, parameters, gives_rows } = request else {
            return Err(not_for("databases"));
        };
        let mut client = self.client().await?;
        let mut cancel = Cancel { token: Some(client.cancel_token()), tls: self.tls.clone() };
        let parameters: Vec<Parameter> = parameters.into_iter().map(Parameter).collect();
        let statement = if gives_rows { as_json(&lead, &statement, self.write) } else { statement };
        let answer =
            execute(&mut client, &statement, &parameters, gives_rows, self.write, limits.bytes)
                .await;
        cancel.token = None;
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE && !client.is_closed() {
            idle.push(Idle { client, since: Instant::now() });
        }
        answer.map(Answer::Value)
    }
}

/// Closes connections that wait for too long, for as long as there is somebody who could use them.
async fn tidy(idle: Weak<Mutex<Vec<Idle>>>) {
    while let Some(idle) = idle.upgrade() {
        idle.lock().retain(|waiting| waiting.since.elapsed() < MAX_WAIT);
        drop(idle);
        tokio::time::sleep(MAX_WAIT / 5).await;
    }
}

/// The statement whose rows are those of another as JSON: the database knows all of its types.
fn as_json(lead: &str, statement: &str, write: bool) -> String {
    match (write, lead) {
        (false, _) => format!("SELECT row_to_json(q)::text FROM (\n{statement}\n) AS q"),
        (true, "") => format!("WITH q AS (\n{statement}\n) SELECT row_to_json(q)::text FROM q"),
        (true, lead) => format!(
            "{lead},\nmcpgraph_rows AS (\n{statement}\n) \
             SELECT row_to_json(mcpgraph_rows)::text FROM mcpgraph_rows"
        ),
    }
}

async fn execute(
    client: &mut Client,
    statement: &str,
    parameters: &[Parameter],
    gives_rows: bool,
    write: bool,
    limit: usize,
) -> Result<Value, CommandError> {
    let transaction = client
        .build_transaction()
        .read_only(!write)
        .start()
        .await
        .map_err(|error| unavailable(&error))?;
    if !gives_rows {
        let parameters: Vec<&(dyn ToSql + Sync)> =
            parameters.iter().map(|parameter| parameter as _).collect();
        let count =
            transaction.execute(statement, &parameters).await.map_err(|error| failed(&error))?;
        transaction.commit().await.map_err(|error| failed(&error))?;
        return Ok(Map::from_iter([("rowsChanged", Value::from(count))]).into());
    }
    let rows =
        transaction.query_raw(statement, parameters).await.map_err(|error| failed(&error))?;
    let mut rows = std::pin::pin!(rows);
    let mut found = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.try_next().await.map_err(|error| failed(&error))? {
        let text: &str = row.try_get(0).map_err(|error| failed(&error))?;
        bytes += text.len();
        if bytes > limit {
            return Err(CommandError::too_large(limit));
        }
        found.push(Value::from_json(text).map_err(|error| {
            CommandError::new(ErrorKind::Answer, format!("a row is no JSON: {error}"))
        })?);
    }
    transaction.commit().await.map_err(|error| failed(&error))?;
    Ok(found.into())
}

fn failed(error: &tokio_postgres::Error) -> CommandError {
    let kind =
        if error.as_db_error().is_some() { ErrorKind::Failed } else { ErrorKind::Unavailable };
    CommandError::new(kind, reason(error))
}

fn unavailable(error: &tokio_postgres::Error) -> CommandError {
    let message = format!("the database cannot be reached: {}", reason(error));
    CommandError::new(ErrorKind::Unavailable, message)
}

impl Drop for Cancel {
    fn drop(&mut self) {
        let Some(token) = self.token.take() else { return };
        let tls = self.tls.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = token.cancel_query(tls).await {
                    tracing::debug!(%error, "a statement could not be cancelled");
                }
            });
        }
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let text = match &self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::String(text) => Arc::clone(text),
            other => other.to_json().into(),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}
