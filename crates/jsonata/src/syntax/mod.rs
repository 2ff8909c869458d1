//! From source text to syntax tree.

pub mod ast;
pub(crate) mod error;
mod lexer;
pub(crate) mod names;
mod parser;
mod print;
mod token;

pub(crate) use parser::parse;

/// How deep an expression may nest; a chain such as `a & b & c` nests once per operator.
pub const MAX_DEPTH: usize = 2_000;

/// How long an expression may be.
pub const MAX_SOURCE_BYTES: usize = 4 * 1024 * 1024;

/// How many errors are reported at most for one source.
pub const MAX_ERRORS: usize = 20;
