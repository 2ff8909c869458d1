//! Graphs in compiled form: what the engine runs and everything else draws.
//!
//! This crate owns the compiled [`Graph`]: nodes with their edges resolved, expressions and
//! schemas compiled, and a digest that names the version. It owns the checks that need the whole
//! graph (reachability, references, expression syntax), which [`compile`] reports all at once.
//!
//! It knows nothing of time, input or output, and nothing of how a graph is run.

mod ask;
mod compile;
mod digest;
mod draw;
pub mod glob;
mod layout;
mod limits;
mod model;
mod rename;
mod schema;
mod template;
mod wait;
mod workflow;

pub use ask::Ask;
pub use compile::{compile, script_problem};
pub use digest::{Digest, NotADigest, hex};
pub use draw::{dot, mermaid};
pub use layout::{Layout, Link, LinkKind, Placed, layout, layout_flat, layout_workflow};
pub use limits::Limits;
pub use model::{Body, Case, Graph, Kind, Node, NodeIx, Retry, RetryOn, ServerMeta, Target, Tool};
pub use rename::rename_node;
pub use schema::{Schema, SchemaError, Violation};
pub use template::Template;
pub use wait::{read_duration, read_time};
pub use workflow::{Around, Hook, Match, Subject, Workflow};
