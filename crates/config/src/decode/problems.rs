use std::sync::Arc;

use mcpgraph_diagnostics::{Code, Diagnostic, Diagnostics, Source, Span, shortened};

/// The problems of one file.
pub(crate) struct Problems {
    source: Arc<Source>,
    pub(crate) found: Diagnostics,
}

impl Problems {
    pub(crate) fn new(source: &Arc<Source>, found: Diagnostics) -> Self {
        Self { source: Arc::clone(source), found }
    }

    /// The file.
    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// An error at a place of the file, to be completed and pushed.
    pub(crate) fn error(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, span, "")
    }

    /// A warning at a place of the file, to be completed and pushed.
    pub(crate) fn warning(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message).at(&self.source, span, "")
    }

    /// Adds a problem.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}

/// A user's text in backticks, short enough for a message.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text, 60))
}
