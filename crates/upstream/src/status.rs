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
