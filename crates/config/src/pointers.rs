use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};

use crate::Tree;

/// Gives each diagnostic that points into `source` the RFC 6901 pointer to what it marks.
pub(crate) fn fill(source: &Arc<Source>, tree: &Tree, diagnostics: &mut Diagnostics) {
    for diagnostic in diagnostics {
        if diagnostic.pointer.is_none()
            && let Some(label) = &diagnostic.primary
            && Arc::ptr_eq(&label.source, source)
        {
            diagnostic.pointer = tree.pointer_to(label.span);
        }
    }
}
