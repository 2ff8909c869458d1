use std::sync::Arc;

use granit_parser::{ErrorKind, ScanError};
use mcpgraph_diagnostics::{Diagnostic, Source, Span, codes};

use super::MAX_DEPTH;

/// A problem of the syntax, at which reading ends, in the text that begins at `offset`.
pub(super) fn diagnostic(source: &Arc<Source>, error: &ScanError, offset: usize) -> Diagnostic {
    let start = offset + error.marker().byte_offset().unwrap_or_default();
    let width = source.text().get(start..).and_then(|rest| rest.chars().next());
    let span = Span::new(start, start + width.map_or(0, char::len_utf8));
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(source, span);
    }
    Diagnostic::error(codes::YAML_SYNTAX, format!("invalid YAML: {}", error.info()))
        .at(source, span, "")
        .maybe_hint(hint(error.kind()).map(str::to_owned))
}

pub(super) fn too_deep(source: &Arc<Source>, span: Span) -> Diagnostic {
    let message = format!("values nest deeper than the limit of {MAX_DEPTH} levels");
    Diagnostic::error(codes::TOO_DEEP, message).at(source, span, "this is one level too many")
}

/// What usually is behind the errors people meet.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabAtBlockScalarStart => "indent with spaces; YAML does not allow tabs there",
        ErrorKind::MappingValueNotAllowed => "put text that contains `: ` in quotes",
        ErrorKind::UnexpectedCharacter { .. } => {
            "put text that starts with this character in quotes"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "look for a bracket that is not closed, or a comma that is missing or too many"
        }
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
            "close the bracket before, write a comma, or put text with a bracket in quotes: \"${NAME}\""
        }
        ErrorKind::UnclosedQuotedScalar => "close the quotes that start here",
        ErrorKind::InvalidQuotedScalarIndent => {
            "look for quotes that are not closed in a line above, or indent this line"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "use single quotes, in which a backslash is only a backslash, or write `\\\\`"
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::SimpleKeyExpected => {
            "look at the indentation of this line and the one before, and for a missing `:`"
        }
        _ => return None,
    })
}
