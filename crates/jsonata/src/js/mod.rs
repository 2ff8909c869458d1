//! What JavaScript does with numbers and strings, where JSONata shows it.

pub(crate) mod number;
pub(crate) mod text;
