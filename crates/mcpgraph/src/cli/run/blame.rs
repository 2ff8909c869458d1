use std::sync::Arc;

use mcpgraph_config::model::GraphFile;
use mcpgraph_config::{Tree, expression_at};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, codes};
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_runtime::Finished;
use mcpgraph_value::Value;

use crate::cli::output;

/// The file that a run is of, to show what in it failed.
pub(super) struct Blame {
    source: Arc<Source>,
    tree: Arc<Tree>,
}

impl Blame {
    pub(super) fn new(file: &GraphFile) -> Self {
        Self { source: Arc::clone(&file.source), tree: Arc::clone(&file.tree) }
    }

    /// Tells why the run failed; where an expression did, with its place in the file.
    pub(super) fn tell(&self, finished: &Finished, error: &RunError) {
        let text = finished.explained(error);
        match self.diagnostic(&text, finished, error) {
            Some(diagnostic) => {
                let mut diagnostics = Diagnostics::new();
                diagnostics.push(diagnostic);
                output::diagnostics(&diagnostics);
            }
            None => output::error(&format!("{text} [{}]", error.kind.code())),
        }
        output::say(&format!("  run {}\n", finished.run));
    }

    fn diagnostic(&self, text: &str, finished: &Finished, error: &RunError) -> Option<Diagnostic> {
        if error.kind != ErrorKind::Expression {
            return None;
        }
        let (data, place) = (error.data.as_ref()?, &finished.place.as_ref()?.node);
        let text_of = |key| data.get(key).and_then(Value::as_str);
        let expression = expression_at(&self.tree, &place.tool, &place.node, text_of("pointer")?)?;
        let position = data.get("position").and_then(Value::as_i64);
        let span = match position.and_then(|position| usize::try_from(position).ok()) {
            Some(start) => {
                let length = text_of("token").map_or(1, str::len);
                let end = start.saturating_add(length).min(expression.len());
                expression.locate(&self.source, start..end.max(start))
            }
            None => expression.span(),
        };
        Some(Diagnostic::error(codes::RUN_EXPRESSION, text).at(&self.source, span, ""))
    }
}
