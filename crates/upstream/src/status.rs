use std::sync::Arc;

/// How a server stands.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it runs.
    pub state: ServerState,
    /// Why it failed last, if it ever did; it may be well again.
    pub failure: Option<String>,
    /// The end of what its process wrote to stderr, as long as it is known.
    pub stderr: Option<String>,
}

/// Where a server is, and what is spoken with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its URL; none of a process of our own.
    pub url: Option<String>,
    /// The protocol version; none while there is no connection.
    pub version: Option<&'static str>,
}

/// Whether a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It is started when it is needed.
    Idle,
    /// It is being started.
    Starting,
    /// It runs.
    Ready,
    /// It failed several times in a row and is left alone for a while.
    Resting,
}

impl ServerState {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Resting => "resting",
        }
    }
}
