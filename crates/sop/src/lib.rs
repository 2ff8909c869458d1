//! Procedures: markdown files that an agent walks, node by node.
//!
//! This crate owns what such a file says (front matter, a Mermaid flowchart, a prompt for each
//! node), read with the place of everything and all problems at once ([`read`]), and the
//! [`Walk`] through it: where the agent is, which moves are legal, what it planned, which tools
//! it may call and what came of them.
//!
//! A walk is a pure state machine: time is passed in, tools are called by somebody else. The crate
//! knows neither the engine nor MCP, neither HTTP nor the disk.

mod chart;
mod check;
mod document;
mod draw;
mod mermaid;
mod procedure;
mod read;
mod walk;

pub use chart::{Chart, Edge, Guard, Node, NodeId};
pub use document::MAX_FILE_BYTES;
pub use draw::dot;
pub use mermaid::{MAX_EDGES, MAX_SUBGRAPHS, shape};
pub use procedure::{Procedure, ServerInfo};
pub use read::read;
pub use walk::{
    Answer, Denied, Guarded, MAX_CALLS, MAX_KEPT_BYTES, MAX_STEPS, MAX_TODO_BYTES, MAX_TODOS, Mode,
    Move, NotAccepted, Permit, Refusal, Status, Step, Summary, Todo, TodoDraft, ToolUse, Walk,
    digest,
};
