use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::ExprError;
use mcpgraph_graph::RetryOn;
use mcpgraph_value::{Map, Value};

/// Why a step or a run failed.
#[derive(Clone, Debug, PartialEq)]
pub struct RunError {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// What happened, for people and models.
    pub message: String,
    /// The node it happened at.
    pub node: Option<Arc<str>>,
    /// What more there is to say: a tool's result, the data of an error of the protocol, where in an
    /// expression it happened.
    pub data: Option<Value>,
}

/// What sort of failure it is; each has a code that the documentation explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An expression failed.
    Expression,
    /// The upstream tool answered that it failed.
    ToolError,
    /// The upstream answered with a protocol error.
    ProtocolError {
        /// The JSON-RPC code it gave.
        code: i64,
    },
    /// The upstream could not be reached or went away.
    Unavailable,
    /// The node took longer than its `timeoutMs`.
    Timeout,
    /// A limit was reached: of the run, which ends by it, or of what a single node takes or gives.
    Limit,
    /// No condition of a switch held and it has no default.
    NoRoute,
    /// The arguments do not fit the tool's `inputSchema`.
    InvalidInput,
    /// The result does not fit the tool's `outputSchema`.
    InvalidOutput,
    /// An argument does not fit a command; nothing was sent.
    Refused,
    /// The backend of a command says that it failed.
    CommandFailed,
    /// The answer to a command cannot be used.
    BadAnswer,
    /// A call was under way when whoever made it went away, and nobody knows what came of it.
    OutcomeUnknown,
    /// The caller gave up.
    Cancelled,
    /// A script failed, or gave something it must not.
    HookFailed,
    /// A script stopped what its workflow is put around.
    HookBlocked,
    /// A workflow came to its end without a response.
    NoResponse,
    /// A person declined to answer.
    Declined,
    /// Nobody answered a question in time.
    Unanswered,
    /// A fault of ours.
    Internal,
}

impl RunError {
    /// An error that is not tied to a node yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), node: None, data: None }
    }

    /// Nobody answered a question within this time.
    pub fn unanswered(limit: Duration) -> Self {
        let message = format!(
            "nobody answered within the node's timeoutMs ({} ms); add `onTimeout` to go on \
             without an answer",
            limit.as_millis()
        );
        Self::new(ErrorKind::Unanswered, message)
    }

    /// A person declined to answer.
    pub fn declined() -> Self {
        let message = "the question was declined; add `onDecline` to go on without an answer";
        Self::new(ErrorKind::Declined, message)
    }

    /// The same error with what the other side said.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The same error, at a node unless it has one already: the innermost place is the telling one.
    #[must_use]
    pub(crate) fn at(mut self, node: &Arc<str>) -> Self {
        self.node.get_or_insert_with(|| Arc::clone(node));
        self
    }

    /// The error as expressions see it in `$.error`.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("code", self.kind.code());
        map.insert("kind", self.kind.name());
        map.insert("message", self.message.as_str());
        if let Some(node) = &self.node {
            map.insert("node", Arc::clone(node));
        }
        if let ErrorKind::ProtocolError { code } = self.kind {
            map.insert("protocolCode", code);
        }
        if let Some(data) = &self.data {
            map.insert("data", data.clone());
        }
        map.into()
    }
}

impl RunError {
    /// The error that [`RunError::to_value`] wrote; none if it wrote no such thing.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |key| value.get(key).and_then(Value::as_str);
        let code = value.get("protocolCode").and_then(Value::as_i64);
        Some(Self {
            kind: ErrorKind::from_name(text("kind")?, code.unwrap_or_default())?,
            message: text("message")?.to_owned(),
            node: text("node").map(Arc::from),
            data: value.get("data").cloned(),
        })
    }
}

impl ErrorKind {
    /// The word users write in `retry.on` and read in `$.error.kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expression => "expression",
            Self::ToolError => "tool_error",
            Self::ProtocolError { .. } => "protocol_error",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Limit => "limit",
            Self::NoRoute => "no_route",
            Self::InvalidInput => "invalid_input",
            Self::InvalidOutput => "invalid_output",
            Self::Refused => "refused",
            Self::CommandFailed => "command_failed",
            Self::BadAnswer => "bad_answer",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Cancelled => "cancelled",
            Self::HookFailed => "hook_failed",
            Self::HookBlocked => "hook_blocked",
            Self::NoResponse => "no_response",
            Self::Declined => "declined",
            Self::Unanswered => "unanswered",
            Self::Internal => "internal",
        }
    }

    /// The kind with this name; `protocol_code` is that of a protocol error.
    pub fn from_name(name: &str, protocol_code: i64) -> Option<Self> {
        [
            Self::Expression,
            Self::ToolError,
            Self::ProtocolError { code: protocol_code },
            Self::Unavailable,
            Self::Timeout,
            Self::Limit,
            Self::NoRoute,
            Self::InvalidInput,
            Self::InvalidOutput,
            Self::Refused,
            Self::CommandFailed,
            Self::BadAnswer,
            Self::OutcomeUnknown,
            Self::Cancelled,
            Self::HookFailed,
            Self::HookBlocked,
            Self::NoResponse,
            Self::Declined,
            Self::Unanswered,
            Self::Internal,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }

    /// The code under which the documentation explains it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Expression => "MG0401",
            Self::ToolError => "MG0402",
            Self::ProtocolError { .. } => "MG0403",
            Self::Unavailable => "MG0404",
            Self::Timeout => "MG0405",
            Self::Limit => "MG0406",
            Self::NoRoute => "MG0407",
            Self::InvalidInput => "MG0408",
            Self::InvalidOutput => "MG0409",
            Self::Refused => "MG0420",
            Self::CommandFailed => "MG0421",
            Self::BadAnswer => "MG0422",
            Self::OutcomeUnknown => "MG0423",
            Self::Cancelled => "MG0410",
            Self::Internal => "MG0411",
            Self::HookFailed => "MG0560",
            Self::HookBlocked => "MG0561",
            Self::NoResponse => "MG0562",
            Self::Declined => "MG0430",
            Self::Unanswered => "MG0431",
        }
    }

    /// Whether a node's `onError` may catch it. The caller's leaving and a script that stops the
    /// call end the run whatever its author wrote. So does a limit of the whole run, which is no
    /// failure of a node and never comes here; a limit that does is one of what a single node takes
    /// or gives.
    pub(crate) fn is_catchable(self) -> bool {
        !matches!(self, Self::Cancelled | Self::HookBlocked)
    }

    /// Whether another attempt is worth it, by what the author wrote in `retry.on`.
    pub(crate) fn is_retried(self, on: RetryOn) -> bool {
        match self {
            Self::Timeout => on.timeout,
            Self::Unavailable => on.unavailable,
            Self::ToolError | Self::CommandFailed => on.tool_error,
            Self::ProtocolError { .. } => on.protocol_error,
            Self::Expression => on.expression,
            _ => false,
        }
    }
}

/// The message says where in which expression of the node it happened; programs find the same in the
/// data.
impl From<ExprError> for RunError {
    fn from(error: ExprError) -> Self {
        let mut message = error.to_string();
        if let Some(excerpt) = error.excerpt() {
            let before = if excerpt.column.is_some() { "at" } else { "in" };
            message = format!("{message} {before} {excerpt}");
        }
        let mut data: Map = Map::from_iter([("code", error.code)]);
        if let Some(pointer) = error.pointer {
            message = format!("{message}, in `{}`", dotted(&pointer));
            data.insert("pointer", &*pointer);
        }
        if let Some(position) = error.position {
            data.insert("position", position);
        }
        if let Some(token) = error.token {
            data.insert("token", token);
        }
        Self::new(ErrorKind::Expression, message).with_data(data.into())
    }
}

/// A pointer as people write the way to a value: `conditions[0].rule`.
fn dotted(pointer: &str) -> String {
    let mut way = String::new();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            way.extend(["[", &token, "]"]);
        } else {
            if !way.is_empty() {
                way.push('.');
            }
            way.push_str(&token);
        }
    }
    way
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(node) = &self.node {
            write!(f, "node `{node}`: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RunError {}
