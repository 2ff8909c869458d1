//! How much a server takes on.

use std::time::Duration;

/// Limits of a server, the same for all transports. Each has a default that fits one machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest line on stdio, in bytes: 16 MiB.
    pub max_line_bytes: usize,
    /// The longest body of an HTTP request, in bytes: 16 MiB.
    pub max_body_bytes: usize,
    /// How many requests one stdio connection or one HTTP session has under way: 256.
    pub max_in_flight: usize,
    /// How many further requests of one stdio connection wait until one of those ends: 10,000.
    pub max_waiting: usize,
    /// How many bytes of parameters the requests that wait have together: 256 MiB.
    pub max_waiting_bytes: usize,
    /// How many requests all HTTP clients together have under way: 1024.
    pub max_http_in_flight: usize,
    /// How many `subscriptions/listen` streams are open at once: 1000.
    pub max_listeners: usize,
    /// How many resources one client watches: 1000.
    pub max_watched_resources: usize,
    /// How many messages a batch of revision 2025-03-26 holds: 64.
    pub max_batch: usize,
    /// How many messages wait for a client that reads slowly before the sender waits too: 64.
    pub queue: usize,
    /// How long a cancelled call may take to end: 5 seconds.
    pub cancel_grace: Duration,
    /// How long calls may go on when the server shuts down: 5 seconds.
    pub shutdown_grace: Duration,
    /// How long calls may go on when standard input has ended, so that a request can be piped in
    /// and its answer read: 1 second.
    pub input_end_grace: Duration,
    /// How many legacy HTTP sessions exist at once: 1000.
    pub max_sessions: usize,
    /// How long a legacy HTTP session lives without a request: 30 minutes.
    pub session_idle: Duration,
    /// How many events one legacy stream keeps for a client that comes back: 256.
    pub max_replay_events: usize,
    /// How many bytes of events one legacy stream keeps for a client that comes back, and all
    /// finished streams of a session together: 1 MiB.
    pub max_replay_bytes: usize,
    /// How many finished streams a legacy session keeps for a client that comes back: 16.
    pub max_finished_streams: usize,
    /// How many HTTP connections are open at once: 1024.
    pub max_connections: usize,
    /// How long a client may take to send the head or the body of an HTTP request: 30 seconds.
    pub read_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_line_bytes: 16 << 20,
            max_body_bytes: 16 << 20,
            max_in_flight: 256,
            max_waiting: 10_000,
            max_waiting_bytes: 256 << 20,
            max_http_in_flight: 1024,
            max_listeners: 1000,
            max_watched_resources: 1000,
            max_batch: 64,
            queue: 64,
            cancel_grace: Duration::from_secs(5),
            shutdown_grace: Duration::from_secs(5),
            input_end_grace: Duration::from_secs(1),
            max_sessions: 1000,
            session_idle: Duration::from_mins(30),
            max_replay_events: 256,
            max_replay_bytes: 1 << 20,
            max_finished_streams: 16,
            max_connections: 1024,
            read_timeout: Duration::from_secs(30),
        }
    }
}
