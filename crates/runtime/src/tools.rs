//! The tools of other servers, as a run calls them.

use mcpgraph_engine::{Call, ErrorKind, RunError};
use mcpgraph_journal::TraceContext;
use mcpgraph_upstream::{CallContext, CallEvent, Raw, UpstreamError, Upstreams, raw};
use mcpgraph_value::Value;
use tokio::sync::mpsc;

use crate::{Caller, EffectCall};

/// How many messages of a tool wait for the caller before the tool is slowed down.
const PENDING_EVENTS: usize = 64;

/// Calls a tool and gives its output.
pub(crate) async fn call(
    upstreams: &Upstreams,
    server: &str,
    tool: &str,
    call: EffectCall,
) -> Result<Value, RunError> {
    let EffectCall { call, cancel, caller, mut meta, trace, .. } = call;
    if let Some(trace) = trace {
        put_trace(&mut meta, &trace);
    }
    let (sender, receiver) = mpsc::channel(PENDING_EVENTS);
    let events = Some(sender);
    let context = CallContext { timeout: call.timeout, cancel, events, progress: true, meta };
    let answer = upstreams.call_tool(server, tool, call.args.clone(), context);
    let (answer, ()) = tokio::join!(answer, relay(receiver, &call, &*caller));
    if call.timeout.is_some() && matches!(answer, Err(UpstreamError::Timeout { .. })) {
        // This is what was left of the node's `timeoutMs`. The run has a timer for it too, which
        // knows the limit as it was written: it ends this call, now or once the run goes on that
        // stands still.
        std::future::pending::<()>().await;
    }
    answer.and_then(mcpgraph_upstream::CallResult::into_output).map_err(|error| failed_call(&error))
}

/// Whether a tool says that calling it twice does no more than calling it once.
pub(crate) async fn may_repeat(upstreams: &Upstreams, server: &str, tool: &str) -> bool {
    let Ok(tools) = upstreams.list_tools(server).await else { return false };
    let tool = tools.iter().find(|known| &*known.name == tool);
    tool.is_some_and(|tool| {
        ["idempotentHint", "readOnlyHint"].iter().any(|hint| tool.hint(hint) == Some(true))
    })
}

/// Puts a trace context of our own in the place of the caller's.
pub fn put_trace(meta: &mut Vec<(String, Raw)>, trace: &TraceContext) {
    meta.retain(|(key, _)| key != "traceparent" && key != "tracestate");
    meta.push(("traceparent".to_owned(), raw(&*trace.traceparent)));
    if let Some(state) = &trace.tracestate {
        meta.push(("tracestate".to_owned(), raw(&**state)));
    }
}

/// Passes on what a tool says before its answer. Ends when the call does: the sender goes with it.
async fn relay(mut events: mpsc::Receiver<CallEvent>, call: &Call, caller: &dyn Caller) {
    while let Some(event) = events.recv().await {
        match event {
            CallEvent::Progress(params) => caller.progress(call, params).await,
            CallEvent::Log(params) => caller.log(call, params).await,
            CallEvent::ServerRequest { method, params, mut reply } => {
                tokio::select! {
                    answer = caller.request(&method, params) => drop(reply.send(answer)),
                    // The server took its question back.
                    () = reply.closed() => {}
                }
            }
        }
    }
}

/// A failed call as the failure of the node that made it.
pub fn failed_call(error: &UpstreamError) -> RunError {
    let (kind, data) = match error {
        UpstreamError::Unavailable { .. }
        | UpstreamError::UnknownServer { .. }
        | UpstreamError::Disabled { .. }
        | UpstreamError::Broken { .. } => (ErrorKind::Unavailable, None),
        UpstreamError::Timeout { .. } => (ErrorKind::Timeout, None),
        UpstreamError::Cancelled { .. } => (ErrorKind::Cancelled, None),
        UpstreamError::Protocol { error, .. } => (
            ErrorKind::ProtocolError { code: error.code },
            error.data.as_ref().and_then(|data| Value::from_json(data.get()).ok()),
        ),
        UpstreamError::Tool { result, .. } => (ErrorKind::ToolError, Some(result.clone())),
        // Another attempt would be as long.
        UpstreamError::TooLarge { .. } => (ErrorKind::Limit, None),
    };
    let message = match error {
        // A tool's own words are meant for the model and need no advice.
        UpstreamError::Tool { text, .. } => text.clone(),
        other => format!("{other}; {}", other.hint()),
    };
    RunError { data, ..RunError::new(kind, message) }
}
