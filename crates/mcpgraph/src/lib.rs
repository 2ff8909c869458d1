//! The product: files become tools, tools become runs.
//!
//! This crate wires the others together. It owns the command line ([`cli`]), reading files from
//! disk ([`load`]), the demo server ([`demo`]) and the face for Rust programs ([`McpGraph`]). What
//! a graph means, how it runs and how it is served is decided below.

mod api;
pub mod cli;
pub mod data;
pub mod demo;
mod durable;
pub mod load;
mod masks;
mod reload;
mod seals;
mod sessions;
mod sops;
mod stored;
mod tokens;
mod walkers;

pub use api::{McpGraph, OpenError};
pub use mcpgraph_runtime::{Execution, Finished, Instruments};

/// Controls of a run: where it stops, how it goes on, what it sees.
pub mod debug {
    pub use mcpgraph_runtime::{Breakpoint, DebugSession, DebugState, Debugger, RunEnded, When};
}
