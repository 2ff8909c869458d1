//! The HTTP headers of the protocol.

/// Names the protocol version.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// Names a legacy session.
pub const SESSION_ID: &str = "mcp-session-id";
/// Names the last event of a stream that was read, so that the rest can be had.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// Modern requests: names the method.
pub const METHOD: &str = "mcp-method";
/// Modern requests: names the tool, prompt, resource or task.
pub const NAME: &str = "mcp-name";
/// Modern requests: the beginning of headers that carry a tool's arguments.
pub const PARAMETER_PREFIX: &str = "mcp-param-";
