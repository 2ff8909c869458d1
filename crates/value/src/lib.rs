//! Immutable JSON values that are shared, never copied.
//!
//! This crate owns the one representation of data inside the product: a [`Value`] is cheap to
//! clone (a reference count), may be sent to any thread, keeps the order of keys and the digits of
//! numbers as they came in, and can be dropped and measured at any depth without using the stack.
//!
//! It knows nothing of expressions, graphs or protocols.

mod convert;
mod de;
mod drop;
mod json;
mod map;
mod number;
mod ser;
mod value;

pub use json::write_text;
pub use map::Map;
pub use number::Number;
pub use value::{Array, Object, Value};

/// How deep arrays and objects may nest in a text that is read as JSON.
///
/// `serde_json` enforces it while parsing; [`Value::is_deeper_than`] enforces it for values that
/// were computed.
pub const MAX_DEPTH: usize = 128;

#[cfg(test)]
mod tests;
