//! What the fuzz targets do with arbitrary bytes, so that `cargo fuzz` and the ordinary tests run
//! the same code.
//!
//! A target is a function that must come back, whatever it is given: no panic, no hang, no
//! overflow of the stack. The targets for `cargo fuzz` are in the folder `fuzz` at the root.

mod expressions;
mod files;
mod mutate;
mod wire;

pub use expressions::{jsonata, jsonata_syntax, jsonlogic, jsonpath};
pub use files::{graph_file, mcp_json, procedure, test_file};
pub use mutate::Mutations;
pub use wire::json_rpc;
