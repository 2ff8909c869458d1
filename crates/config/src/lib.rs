//! Files users write: read with positions, decoded, checked for shape.
//!
//! This crate owns the way from the text of a graph file, an `mcp.json`, a file of tests or a YAML
//! part of a procedure to the typed [`model`], the two dialects of graph files, the replacing of `${VARIABLES}`, and the JSON
//! Schemas editors use. Reading never stops at the first problem: it gives what could be read and
//! everything that is wrong with it.
//!
//! It knows nothing of how graphs are checked or run, of expressions beyond where they stand, or
//! of transports; it does not touch the disk or the environment.

pub mod edit;
pub mod model;
mod read;
mod schema;

mod decode;
mod keys;

mod align;
mod json;
mod locate;
mod pointers;
mod text;
mod tree;
mod yaml;

pub use decode::{FILE_PREFIX, GRAPH_FOLDER, Lookup, OWN_PROGRAM};
pub use json::Json;
pub use keys::NODE_TYPES;
pub use locate::expression_at;
pub use read::{
    UNSET, merge_servers, read_front_matter, read_graph, read_graph_alone, read_mcp_json,
    read_procedure_servers, read_prompt, read_prompts, read_tests, set_edgelake,
};
pub use schema::{json_schema, test_schema};
pub use text::{Style, Text};
pub use tree::{Kind, Member, Tree};
pub use yaml::{MAX_DEPTH, MAX_FILE_BYTES, MAX_VALUES};
