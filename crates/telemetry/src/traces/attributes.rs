//! What attributes are called. Where OpenTelemetry has a name for something, it is that one; the
//! names of our own begin with `mcpgraph.`.

use std::io;
use std::sync::Arc;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_value::Value;
use opentelemetry::{Array, KeyValue, StringValue};

use crate::outline::{bounded_name, shortened};

/// How many bytes of a message or of a captured payload a span carries.
pub(super) const MAX_TEXT_BYTES: usize = 16 * 1024;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
/// The operation of every span for a tool.
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const RESULT: &str = "gen_ai.tool.call.result";
pub(super) const METHOD: &str = "mcp.method.name";
/// The method of every call of a tool.
pub(super) const TOOLS_CALL: &str = "tools/call";
pub(super) const PROTOCOL_VERSION: &str = "mcp.protocol.version";
pub(super) const TRANSPORT: &str = "network.transport";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const SERVER_PORT: &str = "server.port";
pub(super) const STATUS_CODE: &str = "rpc.response.status_code";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const EXCEPTION: &str = "exception";
pub(super) const EXCEPTION_TYPE: &str = "exception.type";
pub(super) const EXCEPTION_MESSAGE: &str = "exception.message";

pub(super) const RUN: &str = "mcpgraph.run.id";
pub(super) const PARENT_RUN: &str = "mcpgraph.run.parent.id";
pub(super) const RUN_RECALLED: &str = "mcpgraph.run.recalled";
pub(super) const WORKFLOW: &str = "mcpgraph.workflow";
pub(super) const FACE: &str = "mcpgraph.face";
pub(super) const CLIENT_NAME: &str = "mcpgraph.client.name";
pub(super) const CLIENT_VERSION: &str = "mcpgraph.client.version";
pub(super) const DIGEST: &str = "mcpgraph.tool.digest";
pub(super) const TOOL: &str = "mcpgraph.tool.name";
pub(super) const NODE: &str = "mcpgraph.node.id";
pub(super) const KIND: &str = "mcpgraph.node.kind";
pub(super) const SERVER: &str = "mcpgraph.server";
pub(super) const BACKEND: &str = "mcpgraph.backend";
pub(super) const BACKEND_KIND: &str = "mcpgraph.backend.kind";
pub(super) const STEP: &str = "mcpgraph.step.id";
pub(super) const PATH: &str = "mcpgraph.step.path";
pub(super) const ITEM: &str = "mcpgraph.step.item";
pub(super) const RECALLED: &str = "mcpgraph.step.recalled";
pub(super) const ROUTE: &str = "mcpgraph.route";
pub(super) const RETRIES: &str = "mcpgraph.retries";
pub(super) const JSONATA: &str = "mcpgraph.jsonata";
pub(super) const JSON_LOGIC: &str = "mcpgraph.json_logic";
pub(super) const INPUT: &str = "mcpgraph.input";
pub(super) const OUTPUT: &str = "mcpgraph.output";
pub(super) const INPUT_SIZE: &str = "mcpgraph.input.size";
pub(super) const OUTPUT_SIZE: &str = "mcpgraph.output.size";
pub(super) const ERROR_CODE: &str = "mcpgraph.error.code";
pub(super) const ERROR_NODE: &str = "mcpgraph.error.node";
pub(super) const ATTEMPT: &str = "mcpgraph.retry.attempt";
pub(super) const DELAY: &str = "mcpgraph.retry.delay_ms";
pub(super) const PAUSE_REASON: &str = "mcpgraph.pause.reason";
pub(super) const WAITED: &str = "mcpgraph.pause.waited_ms";
pub(super) const LOG_LEVEL: &str = "mcpgraph.log.level";
pub(super) const EVENTS_DROPPED: &str = "mcpgraph.events.dropped";
pub(super) const LOG_MESSAGE: &str = "mcpgraph.log.message";

/// The name of a span: what it does, and with what. Collectors make indexes of these.
pub(super) fn name(what: &str, with: &str) -> String {
    format!("{what} {}", bounded_name(with))
}

/// An attribute with a shared text.
pub(super) fn text(key: &'static str, value: &Arc<str>) -> KeyValue {
    KeyValue::new(key, StringValue::from(Arc::clone(value)))
}

/// An attribute with a text of unknown length.
pub(super) fn bounded(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, shortened(value, MAX_TEXT_BYTES).to_owned())
}

/// An attribute with a count, a size or a position.
pub(super) fn count(key: &'static str, value: impl TryInto<i64>) -> KeyValue {
    KeyValue::new(key, value.try_into().unwrap_or(i64::MAX))
}

/// An attribute with several texts; none where there are none.
pub(super) fn list(key: &'static str, values: &[Arc<str>]) -> Option<KeyValue> {
    let texts = || values.iter().map(|value| StringValue::from(Arc::clone(value))).collect();
    (!values.is_empty())
        .then(|| KeyValue::new(key, opentelemetry::Value::Array(Array::String(texts()))))
}

/// The length of a payload as JSON.
pub(super) fn size(key: &'static str, payload: &Value) -> KeyValue {
    let mut length = Length(0);
    // Counting does not fail, and a value is always JSON.
    drop(serde_json::to_writer(&mut length, payload));
    count(key, length.0)
}

/// The attributes of a failure, without its message.
pub(super) fn error(error: &RunError) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(ERROR_TYPE, error_type(error)),
        KeyValue::new(ERROR_CODE, error.kind.code()),
    ];
    attributes.extend(error.node.as_ref().map(|node| text(ERROR_NODE, node)));
    if let ErrorKind::ProtocolError { code } = error.kind {
        attributes.push(KeyValue::new(STATUS_CODE, code.to_string()));
    }
    attributes
}

/// The attributes of the event that tells of a failure.
pub(super) fn exception(error: &RunError) -> Vec<KeyValue> {
    vec![
        KeyValue::new(EXCEPTION_TYPE, error_type(error)),
        bounded(EXCEPTION_MESSAGE, &error.message),
        KeyValue::new(ERROR_CODE, error.kind.code()),
    ]
}

/// The code of JSON-RPC where the other side gave one, our word for the failure elsewhere.
pub(super) fn error_type(error: &RunError) -> StringValue {
    match error.kind {
        ErrorKind::ProtocolError { code } => code.to_string().into(),
        kind => kind.name().into(),
    }
}

/// Counts what is written to it.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
