//! JSONata 2.2: parser, syntax tree with spans, evaluator.
//!
//! This crate owns the expression language: [`parse`] turns a text into a [`Program`], which can
//! be looked at ([`Program::syntax`], [`Program::reads`]) and evaluated on shared values.
//!
//! It knows nothing of graphs, nodes or protocols; what those offer to expressions comes in as
//! bindings.

mod bindings;
mod builtins;
mod compare;
mod error;
mod eval;
mod frame;
mod function;
mod item;
mod js;
mod json;
mod limits;
mod picture;
mod plan;
mod program;
mod reads;
mod regex;
mod signature;
mod span;
mod stack;
mod syntax;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use bindings::{BadSignature, Bindings};
pub use builtins::function_names;
pub use error::EvalError;
pub use eval::Environment;
pub use function::{HostCall, HostFunction, HostState};
pub use limits::Limits;
pub use program::{Program, parse};
pub use reads::{LiteralCall, ReadPath, Reads, Segment};
pub use signature::Signature;
pub use span::Span;
pub use syntax::ast;
pub use syntax::error::SyntaxError;
pub use syntax::{MAX_DEPTH, MAX_ERRORS, MAX_SOURCE_BYTES};
