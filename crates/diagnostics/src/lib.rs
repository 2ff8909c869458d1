//! Problems with a code, a place and a hint, and how they are shown.
//!
//! This crate owns the one form in which anything that is wrong with a file reaches a person, an
//! editor or an agent: a [`Diagnostic`] with a [`Code`] from the central table in [`codes`], spans
//! into a [`Source`], and a hint. It also owns the two renderings, for terminals and as JSON, and
//! what no message may show: [`Secrets`].
//!
//! It knows nothing of YAML, graphs, expressions or protocols, and writes to nothing.

pub mod codes;
mod diagnostic;
mod diagnostics;
mod render;
mod secrets;
mod source;
mod span;
pub mod suggest;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use diagnostics::{Diagnostics, MAX_DIAGNOSTICS};
pub use render::json::to_json;
pub use render::printable::{printable, shortened};
pub use render::terminal::{Colour, to_terminal};
pub use secrets::Secrets;
pub use source::{Position, Source};
pub use span::Span;

#[cfg(test)]
mod tests;
