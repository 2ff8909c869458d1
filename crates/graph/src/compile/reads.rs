//! Whether the nodes that expressions read exist.

use std::collections::BTreeSet;

use mcpgraph_config::{Json, Text};
use mcpgraph_diagnostics::{Diagnostic, Span, codes, suggest};
use mcpgraph_expr::Reads;

use super::report::Report;

/// The names an expression may read: nodes of its body and of those around it, items, the error.
pub(super) type Names<'a> = BTreeSet<&'a str>;

/// Checks the reads of an expression that stands alone.
pub(super) fn check_expression(reads: &Reads, text: &Text, names: &Names<'_>, report: &mut Report) {
    for read in &reads.paths {
        let span = match &read.span {
            Some(range) => text.locate(report.source(), range.clone()),
            None => text.span(),
        };
        check(read.names.first().map(|name| &**name), span, names, report);
    }
}

/// Checks the reads of the expressions inside a rule.
pub(super) fn check_rule(reads: &Reads, rule: &Json, names: &Names<'_>, report: &mut Report) {
    for read in &reads.paths {
        let pointer = read.pointer.as_deref().unwrap_or_default();
        let span = match (rule.text_at(pointer), &read.span) {
            (Some(text), Some(range)) => text.locate(report.source(), range.clone()),
            _ => rule.span_at(pointer),
        };
        check(read.names.first().map(|name| &**name), span, names, report);
    }
}

fn check(name: Option<&str>, span: Span, names: &Names<'_>, report: &mut Report) {
    let Some(name) = name.filter(|name| !names.contains(name)) else { return };
    let nearest = suggest::nearest(name, names.iter().copied());
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "an expression reads outputs by node id; here there are {}",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    report.push(
        Diagnostic::error(codes::NODE_UNKNOWN, format!("there is no node `{name}` to read"))
            .at(report.source(), span, "")
            .hint(hint),
    );
}
