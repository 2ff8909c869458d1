//! What a server is made of, and what all have in common.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_mcp::client::{ClientInfo, EraChoice, Reaper, TransportConfig, limits};
use mcpgraph_mcp::message::{Raw, raw};

use crate::{HealthOptions, Requests};

/// One server, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// How it is reached.
    pub target: Target,
    /// Which protocol era to speak with it.
    pub era: EraChoice,
    /// How long a request may take unless the caller says otherwise.
    pub timeout: Duration,
    /// How long it may take to start.
    pub start_timeout: Duration,
    /// How long `server/discover` may take before the server counts as legacy.
    pub probe_timeout: Duration,
    /// How many requests it gets at once; more wait.
    pub max_concurrent: usize,
    /// The longest message that is read from it, in bytes.
    pub max_message_bytes: usize,
}

/// How a server is reached: a process or a URL.
pub type Target = TransportConfig;

/// What all servers have in common.
#[derive(Clone)]
pub struct UpstreamOptions {
    /// Who we say we are.
    pub info: ClientInfo,
    /// What we say we can do, as the protocol's `ClientCapabilities` object.
    pub capabilities: Raw,
    /// Answers requests of servers that cannot be tied to a call.
    pub requests: Option<Arc<dyn Requests>>,
    /// When to leave a failing server alone, and for how long.
    pub health: HealthOptions,
    /// Kills the servers' processes when this process dies without closing them.
    pub reaper: Option<Reaper>,
}

impl ServerSpec {
    /// How long a request may take by default.
    pub const TIMEOUT: Duration = limits::REQUEST_TIMEOUT;
    /// How many requests a server gets at once by default.
    pub const MAX_CONCURRENT: usize = 64;

    /// A server with the defaults.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            era: EraChoice::Auto,
            timeout: Self::TIMEOUT,
            start_timeout: limits::START_TIMEOUT,
            probe_timeout: limits::PROBE_TIMEOUT,
            max_concurrent: Self::MAX_CONCURRENT,
            max_message_bytes: limits::MESSAGE_BYTES,
        }
    }
}

impl UpstreamOptions {
    /// The defaults, for a client of this name.
    pub fn new(info: ClientInfo) -> Self {
        Self {
            info,
            capabilities: raw(&serde_json::Map::new()),
            requests: None,
            health: HealthOptions::default(),
            reaper: None,
        }
    }
}
