//! JSONata 2.2: parser, syntax tree with spans, evaluator.
//!
//! This crate owns the expression language: [`parse`] turns a text into a [`Program`], which can
//! be looked at ([`Program::syntax`], [`Program::reads`]) and evaluated on shared values.
//!
//! It knows nothing of graphs, nodes or protocols; what those offer to expressions comes in as
//! bindings.

mod builtins;
mod plan;
mod program;
mod reads;
mod signature;
mod span;
mod stack;
mod syntax;

pub use program::{Program, parse};
pub use reads::{LiteralCall, ReadPath, Reads, Segment};
pub use signature::Signature;
pub use span::Span;
pub use syntax::ast;
pub use syntax::error::SyntaxError;
pub use syntax::{MAX_DEPTH, MAX_ERRORS, MAX_SOURCE_BYTES};
