/// The limits of a run. Each has a default and appears by its name in the message when it is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// `maxNodeExecutions`: how many nodes a run may execute, loops included.
    pub max_node_executions: u64,
    /// `maxExecutionTimeMs`: how long a run may take.
    pub max_execution_time_ms: u64,
    /// `maxContextBytes`: how much all outputs that a run keeps may take in memory.
    pub max_context_bytes: u64,
    /// `maxPayloadBytes`: how large a single output or argument may be.
    pub max_payload_bytes: u64,
    /// `maxDepth`: how deep `graph` nodes may call tools that call tools.
    pub max_depth: u64,
    /// `maxWaitMs`: how long a `wait` node may wait.
    pub max_wait_ms: u64,
}

impl ExecutionLimits {
    /// The default of `maxNodeExecutions`.
    pub const MAX_NODE_EXECUTIONS: u64 = 1000;
    /// The default of `maxExecutionTimeMs`: five minutes.
    pub const MAX_EXECUTION_TIME_MS: u64 = 300_000;
    /// The default of `maxContextBytes`: 64 MiB.
    pub const MAX_CONTEXT_BYTES: u64 = 64 << 20;
    /// The default of `maxPayloadBytes`: 16 MiB.
    pub const MAX_PAYLOAD_BYTES: u64 = 16 << 20;
    /// The default of `maxDepth`.
    pub const MAX_DEPTH: u64 = 16;
    /// The default of `maxWaitMs`: 30 days.
    pub const MAX_WAIT_MS: u64 = 30 * 24 * 60 * 60 * 1000;
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self {
            max_node_executions: Self::MAX_NODE_EXECUTIONS,
            max_execution_time_ms: Self::MAX_EXECUTION_TIME_MS,
            max_context_bytes: Self::MAX_CONTEXT_BYTES,
            max_payload_bytes: Self::MAX_PAYLOAD_BYTES,
            max_depth: Self::MAX_DEPTH,
            max_wait_ms: Self::MAX_WAIT_MS,
        }
    }
}
