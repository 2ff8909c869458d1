//! Lines, columns and comments of a text, by byte offsets.

use std::ops::Range;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The start of the line that `offset` is on.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1)
}

/// The end of the line that `offset` is on, before its line break.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find(['\n', '\r']).map_or(text.len(), |at| offset + at)
}

/// The start of the next line; none on the last one.
pub(super) fn next_line(text: &str, offset: usize) -> Option<usize> {
    let end = line_end(text, offset);
    let length = if text[end..].starts_with("\r\n") { 2 } else { 1 };
    (end < text.len()).then_some(end + length)
}

/// The end of the line before the one that starts at `start`; the start of the text on the first.
pub(super) fn end_of_line_before(text: &str, start: usize) -> usize {
    let before = &text[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// How far `offset` is from the start of its line; a byte order mark does not count.
pub(super) fn column(text: &str, offset: usize) -> usize {
    text[line_start(text, offset)..offset].trim_start_matches(BYTE_ORDER_MARK).chars().count()
}

/// Whether nothing but white space stands before `offset` on its line.
pub(super) fn is_first_on_line(text: &str, offset: usize) -> bool {
    is_blank(&text[line_start(text, offset)..offset])
}

/// Whether a line or a part of it says nothing.
pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(|c| matches!(c, ' ' | '\t' | BYTE_ORDER_MARK))
}

/// Whether a line holds nothing but a comment.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('#')
}

/// The line that starts at `start`, without its line break.
pub(super) fn line_at(text: &str, start: usize) -> &str {
    &text[start..line_end(text, start)]
}

/// The first offset at or behind `from` that is neither white space nor in a comment. Only for
/// places between values.
pub(super) fn significant(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(next) = text[at..].chars().next() {
        match next {
            ' ' | '\t' | '\n' | '\r' | BYTE_ORDER_MARK => at += next.len_utf8(),
            '#' => at = line_end(text, at),
            _ => return at,
        }
    }
    at
}

/// How many lines between two offsets are empty. Only for places between values.
pub(super) fn blank_lines(text: &str, between: Range<usize>) -> usize {
    let mut count = 0;
    let mut at = between.start;
    while let Some(next) = next_line(text, at) {
        if line_end(text, next) >= between.end {
            break;
        }
        count += usize::from(is_blank(line_at(text, next)));
        at = next;
    }
    count
}

/// The line break a text uses: that of its first line.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find(['\n', '\r']).map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}
