use std::time::Duration;

/// What a run may use before it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `maxNodeExecutions`: node executions of a run in all its scopes together.
    pub node_executions: u64,
    /// `maxExecutionTimeMs`: wall-clock time of a run, pauses not counted.
    pub execution_time: Duration,
    /// `maxContextBytes`: what the outputs of a run may hold in memory together.
    pub context_bytes: usize,
    /// `maxPayloadBytes`: what a single output may hold.
    pub payload_bytes: usize,
    /// `maxDepth`: how deep `graph` nodes may call each other.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            node_executions: 1000,
            execution_time: Duration::from_mins(5),
            context_bytes: 64 * 1024 * 1024,
            payload_bytes: 16 * 1024 * 1024,
            depth: 16,
        }
    }
}
