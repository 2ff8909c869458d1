//! Expressions: JSONata, JSON Logic and JSONPath behind one face.
//!
//! This crate owns what an expression means in the product: what it sees ([`Scope`]), what it may
//! spend ([`Budget`]), what it reads ([`Reads`]) and how it fails ([`ExprError`]). The languages
//! themselves are JSONata from `mcpgraph-jsonata`, JSON Logic written here, and JSONPath from a
//! library.
//!
//! It knows nothing of graphs, of MCP and of async code: an evaluation is a function call that ends
//! in time, on any thread with an ordinary stack, whatever the expression and the data are.

mod bounds;
mod budget;
mod error;
mod excerpt;
mod jsonata;
mod jsonpath;
mod logic;
mod reads;
mod scope;

pub use budget::{Budget, Cancel, Chance, Env};
pub use error::{ExprError, Limit, code};
pub use excerpt::Excerpt;
pub use jsonata::Jsonata;
pub use jsonpath::{Filter, JsonPath, Located, Pipeline, Wanted};
pub use logic::{JsonLogic, MAX_RULE_DEPTH, truthy};
pub use reads::{Read, Reads, function_names};
pub use scope::{PlainScope, Scope};
