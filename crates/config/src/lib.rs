//! Files users write: read with positions, decoded, checked for shape.
//!
//! This crate owns the way from the text of a graph file or an `mcp.json` to the typed [`model`],
//! the two dialects of graph files, the replacing of `${VARIABLES}`, and the JSON Schema editors
//! use. Reading never stops at the first problem: it gives what could be read and everything that
//! is wrong with it.
//!
//! It knows nothing of how graphs are checked or run, of expressions beyond where they stand, or
//! of transports; it does not touch the disk or the environment.

mod align;
mod json;
pub mod model;
mod pointers;
mod text;
mod tree;

pub use json::Json;
pub use text::{Style, Text};
pub use tree::{Kind, Member, Tree};
