use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};

use crate::Tree;

/// In files with more values than this, diagnostics have no pointers: finding them takes time.
const MAX_VALUES_WITH_POINTERS: usize = 100_000;

/// Gives each diagnostic that points into `source` the RFC 6901 pointer to what it marks.
pub(crate) fn fill(source: &Arc<Source>, tree: &Tree, diagnostics: &mut Diagnostics) {
    if tree.size > MAX_VALUES_WITH_POINTERS {
        return;
    }
    for diagnostic in diagnostics {
        if diagnostic.pointer.is_none()
            && let Some(label) = &diagnostic.primary
            && Arc::ptr_eq(&label.source, source)
        {
            diagnostic.pointer = tree.pointer_to(label.span);
        }
    }
}
