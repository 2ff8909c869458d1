//! Pictures: how numbers and times are written, as XPath has them.

pub(crate) mod calendar;
pub(crate) mod datetime;
pub(crate) mod integer;
pub(crate) mod number;
pub(crate) mod parse;
mod words;
