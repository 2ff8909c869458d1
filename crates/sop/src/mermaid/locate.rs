//! Where a chart begins to be wrong, if the parser does not say.

use std::ops::Range;

use merman_core::{Error, ParseDiagnosticSpanKind};

use super::{Trouble, parse, words};

/// The place that an error is about: the one the parser names, or else the line without which the
/// chart does not have the error.
pub(super) fn place(text: &str, error: &Error) -> Range<usize> {
    let Error::DiagramParse { diagnostic, .. } = error else { return 0..0 };
    match diagnostic.span() {
        Some(span) if diagnostic.span_kind() != ParseDiagnosticSpanKind::Fallback => {
            span.start..span.end
        }
        _ => line(text, &words(error)),
    }
}

/// The last line of the shortest beginning of the text that has the same error.
///
/// A beginning that has it is halved until it has not: a chart of n lines is read log₂ n times
/// more, at most twenty times, since a file has at most 1 MiB.
fn line(text: &str, message: &str) -> Range<usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ends: Vec<usize> = lines
        .iter()
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    let open = open_subgraphs(&lines);
    let is_wrong = |count: usize| {
        // Subgraphs that go on are closed: else that would be the error.
        let beginning = format!("{}{}", &text[..ends[count]], "\nend".repeat(open[count]));
        matches!(parse(&beginning), Err(Trouble::Invalid(error)) if words(&error) == message)
    };
    let (mut low, mut high) = (0, ends.len().saturating_sub(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if is_wrong(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let Some(line) = lines.get(low) else { return 0..0 };
    let start = ends[low] - line.len();
    let indent = line.len() - line.trim_start().len();
    start + indent..start + line.trim_end().len().max(indent)
}

/// How many subgraphs are not closed after each line.
fn open_subgraphs(lines: &[&str]) -> Vec<usize> {
    let open = lines.iter().scan(0_usize, |open, line| {
        let line = line.trim();
        if line.starts_with("subgraph") {
            *open += 1;
        } else if line.trim_end_matches(';') == "end" {
            *open = open.saturating_sub(1);
        }
        Some(*open)
    });
    open.collect()
}
