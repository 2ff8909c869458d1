//! The MCP server with which agents build graph tools.
//!
//! This crate owns what an agent can ask about a graph file and do with it: discovering servers and
//! tools, trying expressions and definitions, running, debugging, and changing the file. It works on the file
//! as it is when it is asked; [`Documents`] reads and saves it.
//!
//! It must not know the command line or the disk.

mod answer;
mod arguments;
mod asking;
mod attended;
mod breakpoints;
mod calls;
mod change;
mod changed;
mod check;
mod debug;
mod definition;
mod discover;
mod documents;
mod expressions;
mod predicate;
mod records;
mod run;
mod steps;
mod toolkit;
mod tools;

pub use breakpoints::{misplaced, reachable_nodes};
pub use calls::check_calls;
pub use definition::{definitions, nodes};
pub use documents::{Documents, Loaded, NotSaved};
pub use expressions::{try_jsonata, try_logic};
pub use predicate::{Predicate, StopOnDrop};
pub use toolkit::Toolkit;
