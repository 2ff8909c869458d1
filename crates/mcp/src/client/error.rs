//! Why a request or a connection failed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::message::RpcError;

/// Why a request or the start of a connection failed. Nothing secret is in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// The process could not be started.
    #[error("could not start `{command}`: {reason}")]
    Spawn {
        /// The program.
        command: String,
        /// What the system said.
        reason: String,
    },
    /// The handshake took too long.
    #[error("the server was not ready within {} ms", .after.as_millis())]
    Start {
        /// The limit.
        after: Duration,
        /// The end of what its process wrote to stderr.
        stderr: String,
    },
    /// The connection is gone, or went while the request was under way.
    #[error("{0}")]
    Closed(Arc<CloseReason>),
    /// No answer in time.
    #[error("`{method}` was not answered within {} ms", .after.as_millis())]
    Timeout {
        /// What was asked.
        method: String,
        /// How long it was waited.
        after: Duration,
    },
    /// The caller cancelled it.
    #[error("the request was cancelled")]
    Cancelled,
    /// The server answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// The server answered with an HTTP status that is no success.
    #[error("{origin} answered HTTP {status}{}", detail_of(.detail))]
    Http {
        /// Scheme, host and port.
        origin: String,
        /// The status.
        status: u16,
        /// The beginning of the body, or what the status means here.
        detail: String,
        /// The `WWW-Authenticate` header, where there was one.
        challenge: Option<String>,
    },
    /// The server could not be reached, or the stream broke.
    #[error("{origin}: {reason}")]
    Network {
        /// Scheme, host and port.
        origin: String,
        /// What happened.
        reason: String,
    },
    /// A message is longer than is accepted.
    #[error("a message of the server is longer than the limit of {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server broke the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// No protocol version in common.
    #[error("no protocol version in common; the server speaks {offered}")]
    Incompatible {
        /// What it offered.
        offered: String,
    },
    /// Too many requests wait already.
    #[error("more than {limit} requests wait for answers on one connection")]
    Busy {
        /// The limit.
        limit: usize,
    },
    /// The configuration cannot be used, for example a URL that is none.
    #[error("{0}")]
    Config(String),
}

/// Why a connection ended.
#[derive(Clone, Debug)]
pub enum CloseReason {
    /// We closed it.
    Closed,
    /// The process ended.
    Exited {
        /// Its exit status in words.
        status: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// It went on running but closed its stdin or stdout.
    Hangup {
        /// Which of them.
        what: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// The stream to the server broke.
    Broken(String),
}

impl ClientError {
    /// Whether the way to the server failed, rather than the request.
    pub fn is_transport(&self) -> bool {
        match self {
            Self::Spawn { .. } | Self::Start { .. } | Self::Closed(_) | Self::Network { .. } => {
                true
            }
            Self::Http { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// The end of what the process wrote to stderr, if it ended.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Closed(reason) => reason.stderr(),
            Self::Start { stderr, .. } => Some(stderr.as_str()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }
}

impl CloseReason {
    /// The end of what the process wrote to stderr, if it ended.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Exited { stderr, .. } | Self::Hangup { stderr, .. } => {
                Some(stderr.as_str()).filter(|text| !text.is_empty())
            }
            _ => None,
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection was closed"),
            Self::Exited { status, .. } => write!(f, "the process ended ({status})"),
            Self::Hangup { what, .. } => f.write_str(what),
            Self::Broken(reason) => f.write_str(reason),
        }
    }
}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

fn detail_of(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}
