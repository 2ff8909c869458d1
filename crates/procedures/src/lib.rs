//! Procedures over MCP: an agent loads one, plans, and is handed its instructions node by node.
//!
//! This crate owns the three tools `load_graph`, `todo` and `goto_node`, the conversations they
//! belong to, how a procedure that binds limits the other tools, and how a walk is recorded as a
//! run. It stands in front of another [`Service`](mcpgraph_mcp::server::Service), whose tools are
//! offered beside its own.
//!
//! What a legal move is, `mcpgraph-sop` knows. It must not know the command line or the disk: a
//! [`Library`] finds the files.

mod answer;
mod binding;
mod conversation;
mod library;
mod memory;
mod noted;
mod others;
mod procedures;
mod record;
mod shared;
mod tools;
mod trail;
mod walking;

pub use conversation::{Act, Conversation, Key, Store, StoreError};
pub use library::{Catalogue, Library, NotLoaded};
pub use memory::{IDLE, InMemory, MAX_CONVERSATIONS};
pub use procedures::{Audience, Elsewhere, Options, Procedures};
pub use shared::InStore;
