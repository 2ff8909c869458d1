//! The MCP server that clients connect to.
//!
//! This crate owns what a client sees: the tools of the graph, what exposed upstream servers offer
//! next to them, and how calls reach the one or the other. It speaks through the transport-free
//! [`Service`](mcpgraph_mcp::server::Service) face of the protocol crate.
//!
//! It must not know the studio, the command line or the disk.

mod adapt;
mod aliases;
mod apart;
mod around;
mod asking;
mod call;
mod carried;
mod discovery;
mod elicit;
mod gate;
mod gateway;
mod listing;
mod missing;
mod names;
mod offer;
mod parked;
mod passage;
mod rank;
mod relay;
mod requests;
mod result;
mod seal;
mod shown;
mod tasks;
mod template;
mod view;
mod workflows;
mod wrap;

pub use call::{Watch, attend, origin};
pub use elicit::{DECLINE, elicit, spoken};
pub use gate::Gate;
pub use gateway::Gateway;
pub use missing::Missing;
pub use offer::Offer;
pub use requests::{RequestLog, about};
