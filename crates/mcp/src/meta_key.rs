//! Keys of `_meta` that the protocol defines.

/// Modern requests: the version they are made in.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Modern requests: what the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Modern requests: the client's name.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Modern requests: the least severe log message that is wanted.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// What modern requests say about their client, which legacy ones say at the beginning.
pub(crate) const ENVELOPE: [&str; 4] =
    [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL];
/// Modern results: the server's name.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Modern notifications of a subscription: the id of the request that opened it.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Requests: the token that progress is reported under.
pub const PROGRESS_TOKEN: &str = "progressToken";
