//! The log of requests.

use std::ops::ControlFlow;

use mcpgraph_graph::glob;

use crate::codec::read_request;
use crate::database::bound;
use crate::write::{micros, request_lines};
use crate::{Journal, JournalError, KeptRequest, Request, RequestFilter, RequestListing};

/// The rows of a file of an older format, where each request has one.
const OLDER: &str = "SELECT no, json_array(at, duration, method, name, server, status, code, token,
    token_name, client, nullif(lower(hex(run)), '')), 0 FROM requests";

/// How many rows are asked for together.
const ROWS_AT_ONCE: i64 = 64;

impl Journal {
    /// Requests, the newest first.
    pub fn requests(&self, filter: &RequestFilter) -> Result<RequestListing, JournalError> {
        self.read(|connection| {
            // A file may be of an older format that nobody has written to since.
            let rows = match connection.format()? {
                ..3 => return Ok(RequestListing { requests: Vec::new(), next: None }),
                3..9 => OLDER,
                _ => "SELECT no, requests, packed FROM request_log",
            };
            let sql = format!("{rows} WHERE no < ?1 ORDER BY no DESC LIMIT ?2");
            let end = filter.before.and_then(|before| i64::try_from(before).ok());
            let end = end.unwrap_or(i64::MAX);
            let (mut requests, mut before) = (Vec::new(), end);
            loop {
                let mut rows = 0;
                connection.each(&sql, bound![before, ROWS_AT_ONCE], |row| {
                    rows += 1;
                    before = row.get(0)?;
                    let lines = request_lines(row)?;
                    let numbered: Vec<(i64, &str)> = (before..end).zip(lines.split('\n')).collect();
                    for (no, line) in numbered.into_iter().rev() {
                        let request = read_request(line)?;
                        if filter.fits(&request) {
                            requests.push(KeptRequest { no: no.unsigned_abs(), request });
                        }
                        // One more tells whether there are more.
                        if requests.len() > filter.limit {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    Ok::<_, JournalError>(ControlFlow::Continue(()))
                })?;
                if rows < ROWS_AT_ONCE || requests.len() > filter.limit {
                    break;
                }
            }
            let has_more = requests.len() > filter.limit;
            requests.truncate(filter.limit);
            let last = requests.last().map(|last| last.no).or(filter.before);
            Ok(RequestListing { requests, next: last.filter(|_| has_more) })
        })
    }
}

impl RequestFilter {
    /// Whether everything that is given fits a request.
    fn fits(&self, request: &Request) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let token = request.token.as_ref();
        let (id, name) =
            (token.map(|token| &*token.id), token.and_then(|token| token.name.as_deref()));
        let at = micros(request.at);
        (is(&self.token, id) || is(&self.token, name))
            && is(&self.method, Some(&request.method))
            && is(&self.server, request.server.as_deref())
            && self.status.is_none_or(|status| status == request.status)
            && self.since.is_none_or(|since| at >= micros(since))
            && self.until.is_none_or(|until| at < micros(until))
            && self.slower_than.is_none_or(|limit| request.duration > limit)
            && self.name.as_deref().is_none_or(|pattern| {
                request.name.as_deref().is_some_and(|name| glob::fits(pattern, name))
            })
    }
}
