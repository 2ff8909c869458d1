//! Why a call to a server failed.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_mcp::client::ClientError;
use mcpgraph_mcp::message::RpcError;
use mcpgraph_value::Value;

/// Why a call failed: what happened, on which server, and what to do. Nothing secret is in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It could not be started or reached, or died during the call.
    #[error("server `{server}` is not available: {reason}{}", stderr_of(.stderr.as_deref()))]
    Unavailable {
        /// The server.
        server: Arc<str>,
        /// What happened.
        reason: String,
        /// The end of what its process wrote to stderr.
        stderr: Option<String>,
    },
    /// No answer in time.
    #[error("server `{server}` did not answer `{what}` within {ms} ms")]
    Timeout {
        /// The server.
        server: Arc<str>,
        /// What was asked: a tool or a method.
        what: String,
        /// The limit, in milliseconds.
        ms: u64,
    },
    /// The caller cancelled it.
    #[error("the call to server `{server}` was cancelled")]
    Cancelled {
        /// The server.
        server: Arc<str>,
    },
    /// The server answered with a protocol error, which keeps its code and data.
    #[error("server `{server}` refused `{what}`: {error}")]
    Protocol {
        /// The server.
        server: Arc<str>,
        /// What was asked.
        what: String,
        /// The error as it came.
        error: RpcError,
    },
    /// The tool itself failed.
    #[error("tool `{tool}` of server `{server}` failed: {text}")]
    Tool {
        /// The server.
        server: Arc<str>,
        /// The tool.
        tool: Arc<str>,
        /// What the tool said.
        text: String,
        /// The whole result.
        result: Value,
    },
    /// An answer was longer than is accepted.
    #[error(
        "the answer of server `{server}` to `{what}` is longer than its maxMessageBytes ({limit})"
    )]
    TooLarge {
        /// The server.
        server: Arc<str>,
        /// What was asked.
        what: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server broke the protocol.
    #[error("server `{server}` broke the protocol: {reason}")]
    Broken {
        /// The server.
        server: Arc<str>,
        /// How.
        reason: String,
    },
    /// The configuration says that it is not to be used.
    #[error("server `{server}` is disabled")]
    Disabled {
        /// The server.
        server: Arc<str>,
    },
    /// There is no such server.
    #[error("there is no server `{server}`")]
    UnknownServer {
        /// The name asked for.
        server: String,
        /// The known name nearest to it.
        nearest: Option<String>,
    },
}

impl UpstreamError {
    /// The server it is about.
    pub fn server(&self) -> &str {
        match self {
            Self::Unavailable { server, .. }
            | Self::Timeout { server, .. }
            | Self::Cancelled { server }
            | Self::Protocol { server, .. }
            | Self::Tool { server, .. }
            | Self::TooLarge { server, .. }
            | Self::Broken { server, .. }
            | Self::Disabled { server } => server,
            Self::UnknownServer { server, .. } => server,
        }
    }

    /// A word for the kind, as `retry.on` and telemetry use it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::Timeout { .. } => "timeout",
            Self::Cancelled { .. } => "cancelled",
            Self::Protocol { .. } => "protocol",
            Self::Tool { .. } => "tool",
            Self::TooLarge { .. } => "too_large",
            Self::Broken { .. } => "broken",
            Self::Disabled { .. } => "disabled",
            Self::UnknownServer { .. } => "unknown_server",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unavailable { server, .. } => format!(
                "check `mcpServers.{server}`: that the command runs on its own, or that the URL can be reached"
            ),
            Self::Timeout { server, .. } => {
                format!("raise `mcpServers.{server}.timeoutMs`, or ask for less")
            }
            Self::Cancelled { .. } => String::from("call again if the answer is still wanted"),
            Self::Protocol { .. } => String::from(
                "compare the call with the tool's schema and the server's documentation",
            ),
            Self::Tool { .. } => {
                String::from("read the tool's text; `onError` on the node can handle it")
            }
            Self::TooLarge { server, .. } => {
                format!("ask for less at once, or raise `mcpServers.{server}.maxMessageBytes`")
            }
            Self::Broken { server, .. } => {
                format!("update `mcpServers.{server}`, or try it with another protocol era")
            }
            Self::Disabled { server } => {
                format!("take `disabled` out of `mcpServers.{server}`, or call another server")
            }
            Self::UnknownServer { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`?")
            }
            Self::UnknownServer { nearest: None, .. } => String::from("add it under `mcpServers`"),
        }
    }

    /// The error for those who log or keep it, or tell others of it: what the server said goes
    /// through `hide`, which takes out secrets.
    pub(crate) fn hidden(self, hide: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Protocol { server, what, error: RpcError { code, message, .. } } => {
                Self::Protocol { server, what, error: RpcError::new(code, hide(&message)) }
            }
            Self::Broken { server, reason } => Self::Broken { server, reason: hide(&reason) },
            // The connection made them without secrets, or nothing of the server is in them.
            other => other,
        }
    }

    /// Says where a client's error happened.
    pub(crate) fn from_client(server: &Arc<str>, what: &str, error: ClientError) -> Self {
        let server = server.clone();
        let what = what.to_owned();
        match error {
            ClientError::Timeout { after, .. } => Self::Timeout { server, what, ms: millis(after) },
            ClientError::Cancelled => Self::Cancelled { server },
            ClientError::Rpc(error) => Self::Protocol { server, what, error },
            ClientError::TooLarge { limit } => Self::TooLarge { server, what, limit },
            ClientError::Protocol(reason) => Self::Broken { server, reason },
            error @ (ClientError::Spawn { .. }
            | ClientError::Start { .. }
            | ClientError::Closed(_)
            | ClientError::Http { .. }
            | ClientError::Network { .. }
            | ClientError::Incompatible { .. }
            | ClientError::Busy { .. }
            | ClientError::Config(_)) => {
                let stderr = error.stderr().map(str::to_owned);
                Self::Unavailable { server, reason: error.to_string(), stderr }
            }
        }
    }
}

/// Whole milliseconds, for messages.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The last lines of stderr, as an appendix to a message.
fn stderr_of(stderr: Option<&str>) -> String {
    const LINES: usize = 12;
    let Some(text) = stderr.map(str::trim_end).filter(|text| !text.is_empty()) else {
        return String::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(LINES)..].join("\n  ");
    format!("; its stderr ends with:\n  {tail}")
}
