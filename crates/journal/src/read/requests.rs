//! The log of requests.

use std::time::Duration;

use super::row::time;
use crate::database::{self, Bound, Connection, Row};
use crate::write::micros;
use crate::{
    Journal, JournalError, KeptRequest, Request, RequestFilter, RequestListing, RequestStatus,
    RequestToken, RunId,
};

/// What [`kept`] reads, in its order.
const COLUMNS: &str =
    "no, at, duration, method, name, server, status, code, token, token_name, client, run";

impl Journal {
    /// Requests, the newest first.
    pub fn requests(&self, filter: &RequestFilter) -> Result<RequestListing, JournalError> {
        self.read(|connection| {
            // A file of an older format that nobody has written to since has none.
            if connection.format()? < 3 {
                return Ok(RequestListing { requests: Vec::new(), next: None });
            }
            let glob = filter.name.as_deref().map(|pattern| connection.glob(pattern));
            let (condition, mut values) = condition(connection, filter, glob.as_deref());
            // One more tells whether there are more.
            values.push(filter.limit.saturating_add(1).into());
            let sql = format!(
                "SELECT {COLUMNS} FROM requests WHERE {condition} ORDER BY no DESC LIMIT ?{}",
                values.len()
            );
            let mut requests = connection.all(&sql, &values, kept)?;
            let has_more = requests.len() > filter.limit;
            requests.truncate(filter.limit);
            let last = requests.last().map(|last| last.no).or(filter.before);
            Ok(RequestListing { requests, next: last.filter(|_| has_more) })
        })
    }
}

/// What of the filter has to hold, and the values for it; `glob` is its pattern for names.
fn condition<'a>(
    connection: &Connection,
    filter: &'a RequestFilter,
    glob: Option<&'a str>,
) -> (String, Vec<Bound<'a>>) {
    let text = |text: &'a Option<String>| text.as_deref().map(Bound::from);
    let moment = |moment| Bound::from(micros(moment));
    let duration = |limit: Duration| u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
    let parts: [(&str, Option<Bound<'a>>); 9] = [
        ("no < #", filter.before.map(Bound::from)),
        ("# IN (token, token_name)", text(&filter.token)),
        ("method = #", text(&filter.method)),
        (connection.matches_glob(), glob.map(Bound::from)),
        ("server = #", text(&filter.server)),
        ("status = #", filter.status.map(|status| status.name().into())),
        ("at >= #", filter.since.map(moment)),
        ("at < #", filter.until.map(moment)),
        ("duration > #", filter.slower_than.map(|limit| duration(limit).into())),
    ];
    let mut condition = "1 = 1".to_owned();
    let mut values = Vec::new();
    for (sql, value) in parts {
        if let Some(value) = value {
            values.push(value);
            condition.push_str(" AND ");
            condition.push_str(&sql.replace('#', &format!("?{}", values.len())));
        }
    }
    (condition, values)
}

fn kept(row: &Row<'_>) -> database::Result<KeptRequest> {
    let text = |column: usize| -> database::Result<Option<std::sync::Arc<str>>> {
        Ok(row.get::<Option<String>>(column)?.map(Into::into))
    };
    let token = match text(8)? {
        Some(id) => Some(RequestToken { id, name: text(9)? }),
        None => None,
    };
    Ok(KeptRequest {
        no: row.get::<i64>(0)?.unsigned_abs(),
        request: Request {
            at: time(row.get(1)?),
            duration: Duration::from_micros(row.get::<i64>(2)?.unsigned_abs()),
            method: row.get::<String>(3)?.into(),
            name: text(4)?,
            server: text(5)?,
            status: RequestStatus::from_name(row.text(6)?).unwrap_or(RequestStatus::Error),
            code: row.get(7)?,
            token,
            client: text(10)?,
            run: row.get::<Option<[u8; 16]>>(11)?.map(RunId::from_bytes),
        },
    })
}
