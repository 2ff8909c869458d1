//! What is wrong with a file, as editors of its parts need it.

use std::sync::Arc;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, to_json};
use serde_json::json;

/// The problems of a file. One that lies in a text has its place in this text, too: `within` says
/// the lines and columns for whoever edits nothing but the expression or the script.
pub(crate) fn report(file: Option<&GraphFile>, diagnostics: &Diagnostics) -> serde_json::Value {
    let mut report = to_json(diagnostics);
    let Some(file) = file else { return report };
    let entries = report["diagnostics"].as_array_mut().into_iter().flatten();
    for (entry, diagnostic) in entries.zip(diagnostics) {
        if let Some(place) = within(file, diagnostic) {
            entry["within"] = place;
        }
    }
    report
}

fn within(file: &GraphFile, diagnostic: &Diagnostic) -> Option<serde_json::Value> {
    let label = diagnostic.primary.as_ref().filter(|it| Arc::ptr_eq(&it.source, &file.source))?;
    let text = file.tree.pointer(diagnostic.pointer.as_deref()?)?.as_text()?;
    let range = text.range_at(&file.source, label.span)?;
    let inner = Source::new("", text.as_str());
    let (start, end) = (inner.position(range.start), inner.position(range.end));
    Some(json!({
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }))
}
