use std::ops::Range;
use std::sync::Arc;

/// What an expression reads of its context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The paths it names, such as `$.node.a.b`.
    pub paths: Vec<Read>,
    /// Whether it may look at any part of the context, because of a wildcard, a computed name or
    /// `$` as a whole.
    pub whole: bool,
}

/// One path that an expression reads, with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The names from the context down; the first is a node's id.
    pub names: Vec<Arc<str>>,
    /// Where the path stands in the text of the expression, in bytes.
    pub span: Option<Range<usize>>,
    /// Where the expression stands in a JSON Logic rule, as an RFC 6901 pointer.
    pub pointer: Option<String>,
}

impl Reads {
    /// Reads that may be anything.
    pub fn everything() -> Self {
        Self { paths: Vec::new(), whole: true }
    }
}
