//! SQLite databases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpgraph_command::{Answer, Request};
use mcpgraph_value::{Map, Number, Value};
use rusqlite::config::DbConfig;
use rusqlite::types::{Value as Bound, ValueRef};
use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tokio::sync::oneshot;

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// How long somebody else may hold the database.
const BUSY: Duration = Duration::from_secs(5);

pub(crate) struct Sqlite {
    pub(crate) path: PathBuf,
    pub(crate) write: bool,
}

/// Ends a statement that nobody waits for any more.
struct Interrupt(Option<InterruptHandle>);

impl Drop for Interrupt {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.interrupt();
        }
    }
}

#[async_trait]
impl Carrier for Sqlite {
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError> {
        let Request::Sql { statement, parameters, gives_rows, .. } = request else {
            return Err(not_for("databases"));
        };
        let (path, write) = (self.path.clone(), self.write);
        let (opened, handle) = oneshot::channel();
        let work = tokio::task::spawn_blocking(move || {
            let connection = open(&path, write)?;
            // Nobody who waits for it is left if this fails.
            drop(opened.send(connection.get_interrupt_handle()));
            // What fails half-way, an answer that is too large among it, changes nothing.
            let transaction = connection.unchecked_transaction().map_err(failed)?;
            let answer = if gives_rows {
                rows(&connection, &statement, parameters, limits.bytes)
            } else {
                changed(&connection, &statement, parameters)
            }?;
            transaction.commit().map_err(failed)?;
            Ok(answer)
        });
        let mut interrupt = Interrupt(handle.await.ok());
        let answer = work.await.unwrap_or_else(|error| {
            Err(CommandError::new(ErrorKind::Failed, format!("the statement failed: {error}")))
        });
        interrupt.0 = None;
        answer.map(Answer::Value)
    }
}

fn open(path: &Path, write: bool) -> Result<Connection, CommandError> {
    let unavailable = |error: rusqlite::Error| {
        let message = format!("the database cannot be opened: {error}");
        CommandError::new(ErrorKind::Unavailable, message)
    };
    let access =
        if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(unavailable)?;
    connection.busy_timeout(BUSY).map_err(unavailable)?;
    // A name in double quotes is a name, and never a text because there is no such name.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false).map_err(unavailable)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(unavailable)?;
    Ok(connection)
}

fn failed(error: rusqlite::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, error.to_string())
}

fn rows(
    connection: &Connection,
    statement: &str,
    parameters: Vec<Value>,
    limit: usize,
) -> Result<Value, CommandError> {
    let mut statement = connection.prepare(statement).map_err(failed)?;
    let names: Vec<Arc<str>> = statement.column_names().map(Arc::from).collect();
    let parameters = rusqlite::params_from_iter(parameters.into_iter().map(bound));
    let mut found = statement.query(parameters).map_err(failed)?;
    let mut rows = Vec::new();
    let mut bytes = 0;
    while let Some(row) = found.next().map_err(failed)? {
        let mut members = Map::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            members.insert(Arc::clone(name), value(row.get_ref(index).map_err(failed)?));
        }
        let row = Value::from(members);
        bytes += row.approximate_bytes();
        if bytes > limit {
            return Err(CommandError::too_large(limit));
        }
        rows.push(row);
    }
    Ok(rows.into())
}

fn changed(
    connection: &Connection,
    statement: &str,
    parameters: Vec<Value>,
) -> Result<Value, CommandError> {
    let parameters = rusqlite::params_from_iter(parameters.into_iter().map(bound));
    let count = connection.execute(statement, parameters).map_err(failed)?;
    Ok(Map::from_iter([("rowsChanged", Value::from(count as u64))]).into())
}

/// What a parameter is to SQLite; lists and objects are their JSON.
fn bound(value: Value) -> Bound {
    match value {
        Value::Null => Bound::Null,
        Value::Bool(flag) => Bound::Integer(i64::from(flag)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Bound::Integer(whole),
            None => Bound::Real(number.as_f64()),
        },
        Value::String(text) => Bound::Text(text.to_string()),
        other => Bound::Text(other.to_json()),
    }
}

/// What a column is to us; bytes are base64.
fn value(column: ValueRef<'_>) -> Value {
    match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::from(whole),
        ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).as_ref()),
        ValueRef::Blob(bytes) => Value::from(STANDARD.encode(bytes).as_str()),
    }
}
