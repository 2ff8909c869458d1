//! Requests that are passed on to an exposed server, and what it says before it answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use mcpgraph_journal::TraceContext;
use mcpgraph_mcp::message::{Raw, RpcError, code, raw};
use mcpgraph_mcp::server::{Call, CallPeer, LogLevel, meta_key};
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::put_trace;
use mcpgraph_upstream::{CallContext, CallEvent, UpstreamError, Upstreams};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::parked::{self, Parking};
use crate::passage::Passage;
use crate::requests;

/// How long a client may think about a question of an upstream server.
pub(crate) const CLIENT_PATIENCE: Duration = Duration::from_mins(10);

/// How many messages of a server wait for the client before the server is slowed down.
pub(crate) const PENDING_EVENTS: usize = 64;

/// What the connection to the server says about itself and must not be taken from the client.
const OWN_META: [&str; 4] = [
    meta_key::PROTOCOL_VERSION,
    meta_key::CLIENT_INFO,
    meta_key::CLIENT_CAPABILITIES,
    meta_key::PROGRESS_TOKEN,
];

/// The members of a request's parameters, each as it was written.
pub(crate) type Params = IndexMap<String, Raw>;

/// The parameters of a call, without `_meta`.
pub(crate) fn params(call: &Call) -> Result<Params, RpcError> {
    let text = call.params.as_deref().map_or("{}", RawValue::get);
    let mut params: Params = serde_json::from_str(text)
        .map_err(|error| RpcError::invalid_params(format!("the parameters: {error}")))?;
    params.shift_remove("_meta");
    Ok(params)
}

/// A parameter that is a string.
pub(crate) fn text(params: &Params, key: &str) -> Result<String, RpcError> {
    let missing = || RpcError::invalid_params(format!("`{key}` must be there and be a string"));
    serde_json::from_str(params.get(key).ok_or_else(missing)?.get()).map_err(|_| missing())
}

/// Passes a request on and gives the answer as it came.
pub(crate) fn pass<'a>(
    parking: &'a Arc<Parking>,
    upstreams: &'a Arc<Upstreams>,
    server: &'a str,
    call: &'a Call,
    params: Params,
    passage: Passage,
) -> BoxFuture<'a, Result<Raw, RpcError>> {
    // Boxed: calls that end in a run of our own, of which many wait at once, would be as large.
    async move {
        requests::asks(call, server);
        let trace = passage.trace_context();
        let answer = match call.version().era() {
            // A modern client answers the server's questions in its next request.
            Era::Modern => parked::pass(parking, upstreams, server, call, params, trace).await,
            Era::Legacy => {
                let (sender, receiver) = mpsc::channel(PENDING_EVENTS);
                let context = CallContext {
                    timeout: None,
                    cancel: call.cancel.clone(),
                    events: Some(sender),
                    progress: call.peer.progress_token().is_some(),
                    meta: meta_within(call, trace),
                };
                let answer = upstreams.converse(server, &call.method, raw(&params), context);
                let (answer, ()) = tokio::join!(answer, tell(receiver, &call.peer));
                Ok(answer)
            }
        };
        passage.ended(&answer);
        answer?.map_err(|error| as_rpc(&error))
    }
    .boxed()
}

/// What goes upstream of the client's `_meta`: all but what each connection says for itself, the
/// capabilities of the client, since it is the one that will be asked, and the log level that a
/// legacy client sets once and a modern server wants with every request.
pub(crate) fn meta(call: &Call) -> Vec<(String, Raw)> {
    let mut meta: Vec<(String, Raw)> = call
        .meta
        .iter()
        .filter(|(key, _)| !OWN_META.contains(key))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    meta.push((meta_key::CLIENT_CAPABILITIES.to_owned(), call.client.capabilities.clone()));
    if call.version().era() == Era::Legacy {
        // Where no level was set, everything is wanted.
        let level = call.peer.log_level().unwrap_or(LogLevel::Debug);
        meta.push((meta_key::LOG_LEVEL.to_owned(), raw(&level)));
    }
    meta
}

/// The same, of a trace that the call belongs to here; where it belongs to none, the client's goes
/// along as it came.
pub(crate) fn meta_within(call: &Call, trace: Option<TraceContext>) -> Vec<(String, Raw)> {
    let mut meta = meta(call);
    if let Some(trace) = trace {
        put_trace(&mut meta, &trace);
    }
    meta
}

/// Passes on what a server says before its answer. Ends when the request does.
async fn tell(mut events: mpsc::Receiver<CallEvent>, peer: &CallPeer) {
    while let Some(event) = events.recv().await {
        match event {
            CallEvent::Progress(params) => peer.progress(&params).await,
            CallEvent::Log(params) => peer.notify("notifications/message", Some(params)).await,
            CallEvent::ServerRequest { method, params, mut reply } => {
                tokio::select! {
                    answer = peer.request(&method, params, CLIENT_PATIENCE) => {
                        drop(reply.send(answer));
                    }
                    // The server took its question back.
                    () = reply.closed() => {}
                }
            }
        }
    }
}

/// An upstream's failure as the client of a passed-on request sees it.
pub(crate) fn as_rpc(error: &UpstreamError) -> RpcError {
    match error {
        UpstreamError::Protocol { error, .. } => error.clone(),
        other => RpcError::new(code::INTERNAL_ERROR, format!("{other}; {}", other.hint())),
    }
}

/// The same object with one member another text; the others stay as they are.
pub(crate) fn with_text(object: &RawValue, key: &str, text: &str) -> Raw {
    match serde_json::from_str::<Params>(object.get()) {
        Ok(mut members) => {
            members.insert(key.to_owned(), raw(text));
            raw(&members)
        }
        Err(_) => object.to_owned(),
    }
}
