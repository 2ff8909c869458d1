//! Requests as the log keeps them: a line each, an array with what is known of it.

use std::time::Duration;

use mcpgraph_value::write_text;

use super::write::write_number;
use crate::mask::Masker;
use crate::read::row::time;
use crate::write::micros;
use crate::{JournalError, Request, RequestStatus, RequestToken};

/// How much of a text about a request is kept: clients choose them.
const MAX_TEXT_BYTES: usize = 512;

/// What a line holds, in its order; the run is in hexadecimal digits.
type Line = (
    i64,
    i64,
    String,
    Option<String>,
    Option<String>,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// Writes a request, without the end of its line.
pub(crate) fn write_request(out: &mut Vec<u8>, request: &Request, masker: &Masker) {
    out.push(b'[');
    write_number(out, micros(request.at));
    out.push(b',');
    write_number(out, u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX));
    // What a client calls things may be a secret. It is masked whole and cut then.
    let masked = |text| masker.text(text);
    let (name, client) = (request.name.as_deref(), request.client.as_deref());
    let token = request.token.as_ref();
    text(out, Some(cut(&masked(&request.method))));
    text(out, name.map(masked).as_deref().map(cut));
    text(out, request.server.as_deref());
    text(out, Some(request.status.name()));
    match request.code {
        Some(code) => {
            out.push(b',');
            write_number(out, code);
        }
        None => text(out, None),
    }
    text(out, token.map(|token| &*token.id));
    text(out, token.and_then(|token| token.name.as_deref()));
    text(out, client.map(masked).as_deref().map(cut));
    match &request.run {
        Some(run) => {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(&run.digits());
            out.push(b'"');
        }
        None => text(out, None),
    }
    out.push(b']');
}

fn text(out: &mut Vec<u8>, text: Option<&str>) {
    out.push(b',');
    match text {
        Some(text) => write_text(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Reads a line.
pub(crate) fn read_request(line: &str) -> Result<Request, JournalError> {
    let damaged = |why: &dyn std::fmt::Display| JournalError::Damaged(format!("a request: {why}"));
    let (at, duration, method, name, server, status, code, token, token_name, client, run): Line =
        serde_json::from_str(line).map_err(|error| damaged(&error))?;
    Ok(Request {
        at: time(at),
        duration: Duration::from_micros(duration.unsigned_abs()),
        method: method.into(),
        name: name.map(Into::into),
        server: server.map(Into::into),
        status: RequestStatus::from_name(&status).unwrap_or(RequestStatus::Error),
        code,
        token: token.map(|id| RequestToken { id: id.into(), name: token_name.map(Into::into) }),
        client: client.map(Into::into),
        run: run.map(|run| run.parse()).transpose().map_err(|error| damaged(&error))?,
    })
}

/// What is kept of a text.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}
