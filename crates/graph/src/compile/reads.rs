//! Whether the nodes that expressions read and the functions that they call exist.

use std::collections::BTreeSet;
use std::ops::Range;

use mcpgraph_config::{Json, Text};
use mcpgraph_diagnostics::{Diagnostic, Span, codes, suggest};
use mcpgraph_expr::{Read, Reads, function_names};

use super::report::Report;

/// The names an expression may read: nodes of its body and of those around it, items, the error.
pub(super) type Names<'a> = BTreeSet<&'a str>;

/// What there is for an expression.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// What it may read.
    pub(super) names: &'a Names<'a>,
    /// The ids of all nodes of the tool, those in other bodies included.
    pub(super) ids: &'a Names<'a>,
}

/// Checks the reads of an expression that stands alone.
pub(super) fn check_expression(reads: &Reads, text: &Text, known: Known<'_>, report: &mut Report) {
    check(reads, known, report, |_| Some(text), |_| text.span());
}

/// Checks the reads of the expressions inside a rule.
pub(super) fn check_rule(reads: &Reads, rule: &Json, known: Known<'_>, report: &mut Report) {
    let pointer = |read: &Read| read.pointer.clone().unwrap_or_default();
    let text = |read: &Read| rule.text_at(&pointer(read));
    check(reads, known, report, text, |read| rule.span_at(&pointer(read)));
}

/// Checks reads, of which `text` is the expression and `whole` its place.
fn check<'t>(
    reads: &Reads,
    known: Known<'_>,
    report: &mut Report,
    text: impl Fn(&Read) -> Option<&'t Text>,
    whole: impl Fn(&Read) -> Span,
) {
    let place =
        |read: &Read, range: Option<Range<usize>>, report: &Report| match (text(read), range) {
            (Some(text), Some(range)) => text.locate(report.source(), range),
            _ => whole(read),
        };
    // What a subtraction takes for several names: the place of a node's id with hyphens.
    let mut hyphenated: Option<(Option<&str>, Range<usize>)> = None;
    let history = reads.history.iter().map(|read| (read, true));
    for (read, is_history) in reads.paths.iter().map(|read| (read, false)).chain(history) {
        let Some(name) = read.names.first().filter(|name| !known.names.contains(&***name)) else {
            continue;
        };
        let pointer = read.pointer.as_deref();
        let is_inside = |range: &Range<usize>| {
            hyphenated
                .as_ref()
                .is_some_and(|(at, whole)| *at == pointer && whole.contains(&range.start))
        };
        if read.span.as_ref().is_some_and(is_inside) {
            continue;
        }
        let (message, range, hint) = match hyphenated_id(text(read), read.span.as_ref(), known) {
            Some((id, range)) => {
                hyphenated = Some((pointer, range.clone()));
                let message = format!("there is no node `{name}` to read");
                let hint = format!("`-` subtracts; write the name in backticks: $.`{id}`");
                (message, Some(range), hint)
            }
            None => {
                let (message, hint) = unknown(name, known);
                (message, read.span.clone(), hint)
            }
        };
        let span = place(read, range, report);
        // What the history says of a node that is not there is defined: it never ran.
        let diagnostic = if is_history {
            Diagnostic::warning(codes::NODE_UNKNOWN, message)
        } else {
            Diagnostic::error(codes::NODE_UNKNOWN, message)
        };
        report.push(diagnostic.at(report.source(), span, "").hint(hint));
    }
    for call in &reads.unknown_functions {
        let Some(name) = call.names.first() else { continue };
        let hint = match suggest::nearest(name, function_names()) {
            Some(nearest) => format!("did you mean `${nearest}`?"),
            None => format!("an expression can define it: `${name} := function($x) {{ … }}`"),
        };
        let span = place(call, call.span.clone(), report);
        report.push(
            Diagnostic::error(
                codes::FUNCTION_UNKNOWN,
                format!("there is no function `${name}` to call"),
            )
            .at(report.source(), span, "")
            .hint(hint),
        );
    }
}

/// The id with hyphens that stands where a read begins, and its place in the expression.
fn hyphenated_id<'a>(
    text: Option<&Text>,
    span: Option<&Range<usize>>,
    known: Known<'a>,
) -> Option<(&'a str, Range<usize>)> {
    let start = span?.start;
    let rest = text?.get(start..)?;
    let ids = known.names.iter().filter(|id| id.contains('-') && rest.starts_with(**id));
    let id = ids.max_by_key(|id| id.len())?;
    Some((id, start..start + id.len()))
}

/// What is said of a name that cannot be read.
fn unknown(name: &str, known: Known<'_>) -> (String, String) {
    if known.ids.contains(name) {
        return (
            format!("node `{name}` is in another body and cannot be read here"),
            String::from(
                "the nodes of a `foreach` or of a branch are seen only inside it; outside, read \
                 the output of the `foreach` or `parallel` node",
            ),
        );
    }
    let hint = suggest::did_you_mean(name, known.names.iter().copied()).unwrap_or_else(|| {
        format!(
            "an expression reads outputs by node id; here there are {}",
            known.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        )
    });
    (format!("there is no node `{name}` to read"), hint)
}
