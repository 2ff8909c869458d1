use std::fmt;
use std::sync::Arc;

use mcpgraph_command::Backend;
use mcpgraph_diagnostics::Secrets;
use mcpgraph_outbound::OutboundError;
use mcpgraph_value::{Map, Value};

/// Why a command has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandError {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// The backend.
    pub backend: Option<Arc<str>>,
    /// What happened; where the other side said it, in its own words.
    pub message: String,
    /// What the other side said, if it said more.
    pub data: Option<Value>,
}

/// What sort of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument does not fit its place; nothing was sent.
    Refused,
    /// The backend says that it failed.
    Failed,
    /// The backend cannot be reached.
    Unavailable,
    /// It took too long.
    Timeout,
    /// The answer cannot be used.
    Answer,
}

impl CommandError {
    /// An error that is not tied to a backend yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, backend: None, message: message.into(), data: None }
    }

    /// The same error with what the other side said.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The error as others may see it: it names the backend, and shows none of its secrets, which
    /// the other side may have repeated.
    pub(crate) fn of(mut self, backend: &Backend) -> Self {
        self.backend = Some(format!("{} ({})", backend.name, backend.kind.name()).into());
        self.message = backend.secrets.hide(&self.message);
        self.data = self.data.map(|data| hidden(data, &backend.secrets));
        self
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(
            ErrorKind::Answer,
            format!(
                "the answer is larger than max_output_bytes ({limit}); ask for less, or raise it"
            ),
        )
    }
}

/// A value without the secrets in its texts.
fn hidden(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) if secrets.are_in(&text) => Value::from(secrets.hide(&text)),
        Value::Array(items) => {
            let items = items.iter().map(|item| hidden(item.clone(), secrets));
            Value::from(items.collect::<Vec<_>>())
        }
        Value::Object(members) => {
            let mut shown = Map::with_capacity(members.len());
            for (key, member) in members.iter() {
                shown.insert(secrets.hide(key), hidden(member.clone(), secrets));
            }
            Value::from(shown)
        }
        other => other,
    }
}

impl From<OutboundError> for CommandError {
    fn from(error: OutboundError) -> Self {
        let kind = match &error {
            OutboundError::Unreachable { .. } => ErrorKind::Unavailable,
            OutboundError::Timeout { .. } => ErrorKind::Timeout,
            OutboundError::TooLarge { limit, .. } => return Self::too_large(*limit),
            OutboundError::Redirects { .. } => ErrorKind::Failed,
            OutboundError::Url { .. }
            | OutboundError::Refused { .. }
            | OutboundError::NotAllowed { .. }
            | OutboundError::NotAHost(_)
            | OutboundError::Request(_) => ErrorKind::Refused,
        };
        let hint = match &error {
            OutboundError::Refused { .. } | OutboundError::NotAllowed { .. } => {
                "; `allow_hosts` of the backend can name it"
            }
            _ => "",
        };
        Self::new(kind, format!("{error}{hint}"))
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(backend) = &self.backend {
            write!(f, "{backend}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}
