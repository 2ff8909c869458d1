use std::fmt;
use std::sync::Arc;

use mcpgraph_diagnostics::Span;
use mcpgraph_value::Value;

use crate::{Text, Tree};

/// A JSON value that is kept as it is (a schema, a rule, annotations), with the place of each of
/// its parts.
#[derive(Clone)]
pub struct Json {
    value: Value,
    tree: Arc<Tree>,
}

impl Json {
    pub(crate) fn new(tree: &Arc<Tree>) -> Self {
        Self { value: tree.to_value(), tree: Arc::clone(tree) }
    }

    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value as it stands in the file.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Where the whole value stands.
    pub fn span(&self) -> Span {
        self.tree.span
    }

    /// Where the part at an RFC 6901 pointer stands; the whole if there is no such part.
    pub fn span_at(&self, pointer: &str) -> Span {
        self.tree.pointer(pointer).map_or(self.tree.span, |part| part.span)
    }

    /// The text at an RFC 6901 pointer, for places inside it.
    pub fn text_at(&self, pointer: &str) -> Option<&Text> {
        self.tree.pointer(pointer)?.as_text()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value, f)
    }
}
