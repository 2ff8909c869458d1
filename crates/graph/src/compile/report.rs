use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span};
use mcpgraph_expr::ExprError;

/// Collects what is wrong with one file.
pub(super) struct Report {
    source: Arc<Source>,
    diagnostics: Diagnostics,
}

impl Report {
    pub(super) fn new(file: &GraphFile) -> Self {
        Self { source: Arc::clone(&file.source), diagnostics: Diagnostics::new() }
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(super) fn error_count(&self) -> usize {
        self.diagnostics.error_count()
    }

    pub(super) fn finish(self) -> Diagnostics {
        self.diagnostics
    }

    /// Where in the file an error inside an expression is.
    pub(super) fn place_in(&self, text: &Text, error: &ExprError) -> Span {
        let Some(start) = error.position else { return text.span() };
        let length = error.token.as_ref().map_or(1, |token| token.len().max(1));
        text.locate(&self.source, start..start.saturating_add(length).min(text.len().max(start)))
    }
}
