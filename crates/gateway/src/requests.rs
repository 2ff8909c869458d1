//! The log of requests: what was asked, by whom, and what came of it.

use std::borrow::Cow;
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Instant, SystemTime};

use async_trait::async_trait;
use mcpgraph_journal::{Journal, Request, RequestStatus, RunId, TraceContext};
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::server::{Around, Call, Client, Service};
use mcpgraph_runtime::{Caller, trace_id};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::Gate;
use crate::call::origin;

/// The name under which requests are logged.
const TARGET: &str = "mcpgraph::requests";

/// How many bytes of a method or a name a line shows: as many as the journal keeps.
const MAX_SHOWN_BYTES: usize = 512;

/// A service whose requests are logged, and kept in the journal if there is one. It belongs outside
/// of all others.
pub struct RequestLog {
    inner: Arc<dyn Service>,
    journal: Option<Arc<Journal>>,
    gate: Gate,
    /// The client of the latest request, and its name: the next is mostly of the same.
    latest: Mutex<(Weak<Client>, Option<Arc<str>>)>,
}

/// What is found out about a request on its way; what is said first counts.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    name: OnceLock<Arc<str>>,
    server: OnceLock<Arc<str>>,
    run: OnceLock<RunId>,
    /// The id of the trace it belongs to; none where nobody reads the log.
    trace: OnceLock<Box<str>>,
}

impl Trail {
    /// Says which trace a request belongs to.
    pub(crate) fn belongs_to(&self, trace: &TraceContext) {
        if is_logged()
            && let Some(id) = trace_id(trace)
        {
            self.trace.set(id.into()).unwrap_or_default();
        }
    }
}

/// What a line shows of a text that clients may make up.
fn shown(text: &str) -> Cow<'_, str> {
    match text.floor_char_boundary(MAX_SHOWN_BYTES) {
        end if end < text.len() => Cow::Owned(format!("{}…", &text[..end])),
        _ => Cow::Borrowed(text),
    }
}

/// Whether requests have lines in the log.
fn is_logged() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// Whoever asks for the run of a workflow: it only wants to know the trace, and the result.
pub(crate) struct Tracking(pub(crate) Option<Arc<Trail>>);

impl Caller for Tracking {
    fn listens(&self) -> bool {
        false
    }

    fn traced(&self, trace: &TraceContext) {
        if let Some(trail) = &self.0 {
            trail.belongs_to(trace);
        }
    }
}

/// What is found out about a request, if it is logged or kept.
pub(crate) fn trail(call: &Call) -> Option<&Arc<Trail>> {
    call.extensions.get::<Arc<Trail>>()
}

/// Says which tool, prompt or resource a request is about.
pub fn about(call: &Call, name: &str) {
    note(call, |trail| trail.name.set(name.into()).unwrap_or_default());
}

/// Says which server is asked.
pub(crate) fn asks(call: &Call, server: &str) {
    note(call, |trail| trail.server.set(server.into()).unwrap_or_default());
}

/// Says which run a request becomes. The outermost comes first.
pub(crate) fn becomes(call: &Call, run: RunId) {
    note(call, |trail| trail.run.set(run).unwrap_or_default());
}

fn note(call: &Call, note: impl FnOnce(&Trail)) {
    if let Some(trail) = trail(call) {
        note(trail);
    }
}

impl RequestLog {
    /// Logs the requests of `inner`; `gate` knows the names of tokens.
    pub fn new(inner: Arc<dyn Service>, journal: Option<Arc<Journal>>, gate: Gate) -> Arc<Self> {
        Arc::new(Self { inner, journal, gate, latest: Mutex::default() })
    }

    fn log(&self, entry: &Entry, status: RequestStatus, code: Option<i64>) {
        let Entry { trail, came_in, method, client, at, began, .. } = entry;
        let duration = began.elapsed();
        tracing::info!(
            target: TARGET,
            token = client.principal.as_deref(),
            method = &*shown(method),
            name = trail.name.get().map(|name| shown(name)).as_deref(),
            server = trail.server.get().map(|server| &**server),
            status = status.name(),
            error = code,
            run = trail.run.get().map(tracing::field::display),
            trace_id = trail.trace.get().or(came_in.as_ref()).map(|trace| &**trace),
            ms = duration.as_millis() as u64,
            "request"
        );
        if let Some(journal) = &self.journal {
            journal.note(&Request {
                at: *at,
                duration,
                method: Arc::clone(method),
                name: trail.name.get().cloned(),
                server: trail.server.get().cloned(),
                status,
                code,
                token: self.gate.token(client),
                client: self.name_of(client),
                run: trail.run.get().copied(),
            });
        }
    }

    fn name_of(&self, client: &Arc<Client>) -> Option<Arc<str>> {
        let mut latest = self.latest.lock();
        let (known, name) = &mut *latest;
        if !ptr::eq(known.as_ptr(), Arc::as_ptr(client)) {
            *name = client_name(client).map(Into::into);
            *known = Arc::downgrade(client);
        }
        name.clone()
    }
}

/// A request under way. One that is dropped was given up.
struct Entry<'a> {
    log: &'a RequestLog,
    trail: Arc<Trail>,
    /// The trace that the request names; none where nobody reads the log.
    came_in: Option<Box<str>>,
    method: Arc<str>,
    client: Arc<Client>,
    cancel: CancellationToken,
    at: SystemTime,
    began: Instant,
    is_answered: bool,
}

impl Entry<'_> {
    fn answered(mut self, outcome: &Result<Raw, RpcError>) {
        self.is_answered = true;
        let (status, code) = match outcome {
            _ if self.cancel.is_cancelled() => (RequestStatus::Cancelled, None),
            Ok(result) if says_error(result) => (RequestStatus::ToolError, None),
            Ok(_) => (RequestStatus::Ok, None),
            Err(error) => (RequestStatus::Error, Some(error.code)),
        };
        self.log.log(&self, status, code);
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log.log(self, RequestStatus::Cancelled, None);
        }
    }
}

#[async_trait]
impl Around for RequestLog {
    fn inner(&self) -> &Arc<dyn Service> {
        &self.inner
    }

    async fn pass(&self, mut call: Call) -> Result<Raw, RpcError> {
        let trail: Arc<Trail> = Arc::default();
        call.extensions.insert(Arc::clone(&trail));
        let entry = Entry {
            log: self,
            trail,
            came_in: if is_logged() { named_trace(&call) } else { None },
            method: call.method.as_str().into(),
            client: Arc::clone(&call.client),
            cancel: call.cancel.clone(),
            at: SystemTime::now(),
            began: Instant::now(),
            is_answered: false,
        };
        let outcome = self.inner.call(call).await;
        entry.answered(&outcome);
        outcome
    }
}

/// The id of the trace that a request names.
fn named_trace(call: &Call) -> Option<Box<str>> {
    origin(call).trace.as_ref().and_then(trace_id).map(Box::from)
}

/// The name by which a client introduced itself.
pub(crate) fn client_name(client: &Client) -> Option<String> {
    #[derive(Deserialize)]
    struct Info {
        name: Option<String>,
    }
    serde_json::from_str::<Info>(client.info.as_ref()?.get()).ok()?.name
}

/// Whether a result says that the tool failed.
pub(crate) fn says_error(result: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        is_error: Option<bool>,
    }
    let text = result.get();
    // Most do not, which their text tells faster than reading them.
    let may = text.match_indices("\"isError\"").any(|(at, key)| {
        let rest = text[at + key.len()..].trim_start();
        rest.strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with("true"))
    });
    may && serde_json::from_str::<Said>(text).is_ok_and(|said| said.is_error == Some(true))
}

#[cfg(test)]
mod tests {
    use mcpgraph_mcp::message::raw;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_shows_only_the_beginning_of_a_long_name() {
        assert_eq!(shown("up__echo"), "up__echo");
        let long = shown(&"é".repeat(1 << 20)).into_owned();
        assert!(long.ends_with("é…") && long.len() <= MAX_SHOWN_BYTES + 3, "{}", long.len());
    }

    #[test]
    fn only_the_result_itself_says_that_a_tool_failed() {
        let written = |text: &str| says_error(&RawValue::from_string(text.to_owned()).unwrap());
        assert!(written(r#"{"content":[],"isError" : true}"#));
        assert!(!written(r#"{"content":[],"isError":false}"#));
        assert!(!says_error(&raw(&json!({ "structuredContent": { "isError": true } }))));
        assert!(!says_error(&raw(&json!({ "content": [{ "text": "\"isError\":true" }] }))));
        assert!(!written("[]") && !written(r#"{"isError":"true"}"#));
    }
}
