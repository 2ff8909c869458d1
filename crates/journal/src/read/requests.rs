//! The log of requests.

use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::Value as Sql;

use super::row::time;
use crate::write::micros;
use crate::{
    Journal, JournalError, KeptRequest, Request, RequestFilter, RequestListing, RequestStatus,
    RequestToken, RunId, schema,
};

/// What [`kept`] reads, in its order.
const COLUMNS: &str =
    "no, at, duration, method, name, server, status, code, token, token_name, client, run";

impl Journal {
    /// Requests, the newest first.
    pub fn requests(&self, filter: &RequestFilter) -> Result<RequestListing, JournalError> {
        self.read(|connection| {
            // A file of an older format that nobody has written to since has none.
            if !schema::has_requests(connection)? {
                return Ok(RequestListing { requests: Vec::new(), next: None });
            }
            let (condition, mut values) = condition(filter);
            // One more tells whether there are more.
            let limit = filter.limit.saturating_add(1);
            values.push(Sql::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
            let sql = format!(
                "SELECT {COLUMNS} FROM requests WHERE {condition} ORDER BY no DESC LIMIT ?"
            );
            let mut requests = connection
                .prepare(&sql)?
                .query_map(rusqlite::params_from_iter(values), kept)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let has_more = requests.len() > filter.limit;
            requests.truncate(filter.limit);
            let last = requests.last().map(|last| last.no).or(filter.before);
            Ok(RequestListing { requests, next: last.filter(|_| has_more) })
        })
    }
}

fn condition(filter: &RequestFilter) -> (String, Vec<Sql>) {
    let text = |text: &Option<String>| text.clone().map(Sql::Text);
    let moment = |moment| Sql::Integer(micros(moment));
    let token = text(&filter.token);
    let number = |number: u64| Sql::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let duration = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    let parts = [
        ("no < ?", filter.before.map(number)),
        ("? IN (token, token_name)", token),
        ("method = ?", text(&filter.method)),
        ("name GLOB ?", filter.name.as_deref().map(|name| Sql::Text(glob(name)))),
        ("server = ?", text(&filter.server)),
        ("status = ?", filter.status.map(|status| Sql::Text(status.name().to_owned()))),
        ("at >= ?", filter.since.map(moment)),
        ("at < ?", filter.until.map(moment)),
        ("duration > ?", filter.slower_than.map(|limit| Sql::Integer(duration(limit)))),
    ];
    let mut condition = "1".to_owned();
    let mut values = Vec::new();
    for (sql, value) in parts {
        if let Some(value) = value {
            condition.push_str(" AND ");
            condition.push_str(sql);
            values.push(value);
        }
    }
    (condition, values)
}

/// A pattern as SQLite has it, for which brackets are something, too.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}

fn kept(row: &Row<'_>) -> rusqlite::Result<KeptRequest> {
    let text = |column: usize| -> rusqlite::Result<Option<std::sync::Arc<str>>> {
        Ok(row.get::<_, Option<String>>(column)?.map(Into::into))
    };
    let token = match text(8)? {
        Some(id) => Some(RequestToken { id, name: text(9)? }),
        None => None,
    };
    Ok(KeptRequest {
        no: row.get::<_, i64>(0)?.unsigned_abs(),
        request: Request {
            at: time(row.get(1)?),
            duration: Duration::from_micros(row.get::<_, i64>(2)?.unsigned_abs()),
            method: row.get::<_, String>(3)?.into(),
            name: text(4)?,
            server: text(5)?,
            status: RequestStatus::from_name(row.get_ref(6)?.as_str()?)
                .unwrap_or(RequestStatus::Error),
            code: row.get(7)?,
            token,
            client: text(10)?,
            run: row.get::<_, Option<[u8; 16]>>(11)?.map(RunId::from_bytes),
        },
    })
}
