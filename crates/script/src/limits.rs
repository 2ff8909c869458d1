use std::time::Duration;

/// What one execution of a script may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Real time, waiting included.
    pub time: Duration,
    /// The heap of its engine, in bytes.
    pub memory: usize,
    /// The stack of its engine, in bytes.
    pub stack: usize,
    /// Its result as JSON, in bytes.
    pub result: usize,
    /// What it writes to the console, in bytes.
    pub console: usize,
}

/// How much a [`Sandbox`](crate::Sandbox) does at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Executions under way at the same time, each on a thread.
    pub running: usize,
    /// Executions that wait for their turn; one more is refused.
    pub waiting: usize,
    /// Threads that may be lost in calls that cannot be interrupted before nothing more begins.
    pub lost: usize,
    /// How long after its time limit a thread counts as lost.
    pub grace: Duration,
}

/// How long a script may be, in bytes.
pub(crate) const MAX_SCRIPT_BYTES: usize = 1 << 20;
/// How many timers of one execution may run at once.
pub(crate) const MAX_TIMERS: usize = 1000;
/// How many requests of one execution may be under way at once.
pub(crate) const MAX_FETCHES: usize = 8;

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            memory: 32 << 20,
            stack: 512 << 10,
            result: 4 << 20,
            console: 64 << 10,
        }
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self { running: 64, waiting: 1024, lost: 8, grace: Duration::from_secs(1) }
    }
}
