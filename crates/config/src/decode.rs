//! From a [`Tree`](crate::Tree) to the [`model`](crate::model), by hand and by the tables in
//! [`keys`](crate::keys). Nothing stops at the first problem.

mod args;
mod clients;
mod command;
mod graph;
mod node;
mod problems;
mod procedure;
mod record;
mod server;
mod switch;
mod test;
mod tool;
mod variables;
mod workflow;

pub(crate) use graph::graph_file;
pub(crate) use problems::Problems;
pub(crate) use procedure::{front_matter, procedure_servers, prompt, prompts};
pub(crate) use server::mcp_json;
pub(crate) use test::test_file;
pub use variables::{FILE_PREFIX, GRAPH_FOLDER, Lookup, OWN_PROGRAM};
