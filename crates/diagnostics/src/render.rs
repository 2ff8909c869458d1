//! The two faces of a diagnostic: lines for people and JSON for tools.

pub(crate) mod json;
pub(crate) mod printable;
pub(crate) mod terminal;
