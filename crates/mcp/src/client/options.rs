//! What a connection and a request are made with.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{CallEvent, Reaper};
use crate::message::{Raw, raw};

/// The limits of a connection and their defaults.
pub mod limits {
    use std::time::Duration;

    /// The longest message that is read, in bytes.
    pub const MESSAGE_BYTES: usize = 64 * 1024 * 1024;
    /// How much of a process's stderr is kept, in bytes.
    pub const STDERR_BYTES: usize = 64 * 1024;
    /// How many requests may wait for their answers on one connection.
    pub const PENDING_REQUESTS: usize = 4096;
    /// How many messages may wait to be written to a process.
    pub const WRITE_QUEUE: usize = 256;
    /// How many requests of the server may be under way at once.
    pub const SERVER_REQUESTS: usize = 64;
    /// From start to a finished handshake.
    pub const START_TIMEOUT: Duration = Duration::from_mins(1);
    /// How long `server/discover` may take before the server counts as legacy.
    pub const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
    /// How long a request may take unless it says otherwise.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
    /// How long a process may take to end after its stdin was closed.
    pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
    /// How long a full queue of events is waited for before events of that call are dropped.
    pub const EVENT_PATIENCE: Duration = Duration::from_secs(1);
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportConfig {
    /// A process of our own, spoken to over its stdin and stdout.
    Stdio(StdioConfig),
    /// A server at a URL.
    Http(HttpConfig),
}

impl TransportConfig {
    /// Whether it is reached over HTTP, with headers.
    pub fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }
}

/// A process to start. Environment values never appear in messages, logs or `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program, looked up in `PATH`; no shell is involved.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set for it.
    pub env: BTreeMap<String, String>,
    /// Whether it also sees all variables of this process. Otherwise it sees only those a program
    /// needs to run at all (`PATH`, `HOME`, locale, proxies and certificates), so that one
    /// server's secrets are not handed to another.
    pub inherit_env: bool,
    /// Its working directory, if not ours.
    pub cwd: Option<PathBuf>,
    /// Further values that must not be shown, such as a token among the arguments.
    pub secrets: Vec<String>,
}

/// A URL to talk to. Header values never appear in messages, logs or `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HttpConfig {
    /// The endpoint.
    pub url: String,
    /// Headers sent with every request.
    pub headers: IndexMap<String, String>,
    /// Which of the HTTP transports it speaks.
    pub kind: HttpKind,
    /// Further values that must not be shown, such as a token in the URL.
    pub secrets: Vec<String>,
}

/// The HTTP transports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpKind {
    /// Find out: streamable first, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP, of either era.
    Streamable,
    /// The two-endpoint transport of 2024-11-05.
    Sse,
}

/// Which era to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraChoice {
    /// Ask the server.
    #[default]
    Auto,
    /// `initialize`, without asking.
    Legacy,
    /// The stateless protocol or nothing.
    Modern,
}

/// Who the client says it is.
#[derive(Clone, Debug, Serialize)]
pub struct ClientInfo {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
}

/// How a connection is made and kept.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Who we are.
    pub info: ClientInfo,
    /// What we can do, as the protocol's `ClientCapabilities` object. In the modern era a request
    /// may carry other capabilities in its `meta`.
    pub capabilities: Raw,
    /// Which era to speak.
    pub era: EraChoice,
    /// From start to a finished handshake.
    pub start_timeout: Duration,
    /// How long `server/discover` may take before the server counts as legacy.
    pub probe_timeout: Duration,
    /// The longest message that is read, in bytes.
    pub max_message_bytes: usize,
    /// The resources whose changes are wanted. For its whole life the connection keeps the server
    /// telling us of exactly these, as far as it offers to.
    pub resources: watch::Receiver<BTreeSet<String>>,
    /// Kills the processes of this client when this process dies without closing them.
    pub reaper: Option<Reaper>,
}

/// How one request is made.
#[derive(Clone, Debug)]
pub struct RequestOptions {
    /// How long to wait for the answer, or for the next progress if `reset_on_progress`.
    pub timeout: Duration,
    /// How long to wait at most, whatever progress there is.
    pub max_total: Option<Duration>,
    /// Whether progress starts `timeout` anew.
    pub reset_on_progress: bool,
    /// Ends the request, and tells the server.
    pub cancel: CancellationToken,
    /// Where progress, logs and the server's own requests go. Without it they go to the
    /// connection's events, and progress is not asked for.
    pub events: Option<mpsc::Sender<CallEvent>>,
    /// Entries of `_meta` to set, such as the trace context or other client capabilities.
    pub meta: Vec<(String, Raw)>,
    /// Whether to ask for progress.
    pub progress: bool,
}

// === impl configurations ===

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioConfig")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("inherit_env", &self.inherit_env)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("origin", &super::http::origin_of(&self.url))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl ClientOptions {
    /// The defaults, for a client of this name.
    pub fn new(info: ClientInfo) -> Self {
        Self {
            info,
            capabilities: raw(&serde_json::Map::new()),
            era: EraChoice::Auto,
            start_timeout: limits::START_TIMEOUT,
            probe_timeout: limits::PROBE_TIMEOUT,
            max_message_bytes: limits::MESSAGE_BYTES,
            resources: watch::channel(BTreeSet::new()).1,
            reaper: None,
        }
    }
}

impl Default for RequestOptions {
    fn default() -> Self {
        Self {
            timeout: limits::REQUEST_TIMEOUT,
            max_total: None,
            reset_on_progress: false,
            cancel: CancellationToken::new(),
            events: None,
            meta: Vec::new(),
            progress: false,
        }
    }
}
