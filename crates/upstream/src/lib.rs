//! Other MCP servers as this product uses them: started on first use, supervised, called.
//!
//! [`Upstreams`] holds the servers of a configuration by name. Each has a life of its own: it is
//! started when it is first needed, kept, started again after a death with growing pauses, and
//! left alone for a while when it keeps failing. One server's failure never touches another.
//!
//! This crate owns that life, the catalogue of what servers offer and the rule that turns a tool's
//! result into a value ([`output_of`]). It must not know graphs or runs.

mod bounds;
mod catalogue;
mod config;
mod context;
mod error;
mod health;
mod output;
mod rounds;
mod server;
mod spec;
mod status;
mod upstreams;

pub use catalogue::{ItemInfo, ToolInfo};
pub use config::{Specs, specs};
pub use context::{CallContext, CallResult, Change, Changed, Requests};
pub use error::UpstreamError;
pub use health::HealthOptions;
pub use mcpgraph_mcp::client::{CallEvent, ClientInfo, Reaper, Reply};
pub use mcpgraph_mcp::message::{Raw, RpcError, raw};
pub use output::{NodeOutput, output_of};
pub use spec::{ServerSpec, Target, UpstreamOptions};
pub use status::{Peer, ServerState, ServerStatus};
pub use upstreams::Upstreams;
