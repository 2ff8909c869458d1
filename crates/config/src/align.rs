//! Which byte of a scalar's text stands where in the file.

use std::ops::Range;

use mcpgraph_diagnostics::{Source, Span};

use crate::Style;

/// The text of a scalar laid beside what is written in the file.
pub(crate) struct Alignment {
    /// Where the scalar starts in the file.
    start: usize,
    runs: Vec<Run>,
}

/// A stretch of the text and the stretch of the file it comes from. If both are of one length they
/// run side by side; if not, the text is what an escape or a line break stands for.
struct Run {
    text: usize,
    text_len: usize,
    file: usize,
    file_len: usize,
}

impl Alignment {
    /// Walks through the scalar as it is written at `span` (quotes included, a block without its
    /// header) and `text` (what YAML makes of it) together; `indent` is the indentation of a block.
    pub(crate) fn new(
        source: &Source,
        span: Span,
        text: &str,
        style: Style,
        indent: usize,
    ) -> Self {
        let written = source.slice(span);
        let quotes = usize::from(matches!(style, Style::Single | Style::Double));
        let mut walk = Walk { written, style, indent, at: quotes, runs: Vec::new() };
        let is_block = walk.is_block();
        let blank = if is_block { text.len() - text.trim_start_matches('\n').len() } else { 0 };
        // Empty lines before the first line of a block lie before its span.
        walk.push(0, blank, 0);
        for (offset, character) in text[blank..].char_indices() {
            walk.step(blank + offset, character);
        }
        Self { start: span.start, runs: walk.runs }
    }

    /// The place in the file of a range of bytes of the text.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let start = self.file_offset(range.start);
        let end = if range.end > range.start { self.file_end(range.end) } else { start };
        Span::new(self.start + start, self.start + end)
    }

    /// The range of bytes of the text that a place in the file stands for.
    pub(crate) fn range(&self, span: Span) -> Range<usize> {
        let (first, behind) =
            (span.start.saturating_sub(self.start), span.end.saturating_sub(self.start));
        let start = self.text_offset(first);
        let end = if behind > first { self.text_end(behind) } else { start };
        start..end.max(start)
    }

    /// Which byte of the text stands at a place of the scalar, or behind it where none does.
    fn text_offset(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|run| run.file <= at).checked_sub(1);
        let Some(run) = run.and_then(|last| self.runs.get(last)) else { return 0 };
        let into = at - run.file;
        if run.text_len == run.file_len {
            run.text + into.min(run.text_len)
        } else if into >= run.file_len {
            run.text + run.text_len
        } else {
            run.text
        }
    }

    /// Where the stretch of the text ends that stands before a place of the scalar.
    fn text_end(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|run| run.file < at).checked_sub(1);
        let Some(run) = run.and_then(|last| self.runs.get(last)) else { return 0 };
        let into = if run.text_len == run.file_len { at - run.file } else { run.text_len };
        run.text + into.min(run.text_len)
    }

    /// Where the byte at `offset` of the text starts, counted from the start of the scalar.
    fn file_offset(&self, offset: usize) -> usize {
        let Some(run) = self.run_at(offset) else { return 0 };
        let into = offset.saturating_sub(run.text);
        if run.text_len == run.file_len {
            run.file + into.min(run.file_len)
        } else if into >= run.text_len {
            run.file + run.file_len
        } else {
            run.file
        }
    }

    /// Where a stretch of the text that ends before `offset` ends in the file.
    fn file_end(&self, offset: usize) -> usize {
        let Some(run) = offset.checked_sub(1).and_then(|last| self.run_at(last)) else { return 0 };
        if run.text_len == run.file_len {
            run.file + (offset - run.text).min(run.file_len)
        } else {
            run.file + run.file_len
        }
    }

    fn run_at(&self, offset: usize) -> Option<&Run> {
        let behind = self.runs.partition_point(|run| run.text <= offset);
        self.runs.get(behind.checked_sub(1)?)
    }
}

struct Walk<'a> {
    written: &'a str,
    style: Style,
    indent: usize,
    at: usize,
    runs: Vec<Run>,
}

impl<'a> Walk<'a> {
    /// Finds where one character of the text comes from.
    fn step(&mut self, offset: usize, character: char) {
        let length = character.len_utf8();
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else { return self.push(offset, length, 0) };
            if self.style == Style::Double && next == '\\' {
                match escape_len(rest) {
                    // An escaped line break stands for nothing.
                    None => self.skip(1),
                    Some(escape) => return self.push(offset, length, escape),
                }
            } else if self.style == Style::Single && rest.starts_with("''") {
                return self.push(offset, length, 2);
            } else if let Some(ending) = line_break(rest) {
                if matches!(character, '\n' | ' ') {
                    self.push(offset, length, ending);
                    return self.skip_indent();
                }
                self.skip(ending);
                self.skip_indent();
            } else if next == character {
                return self.push(offset, length, length);
            } else if matches!(next, ' ' | '\t') {
                self.skip(1);
            } else {
                // Not reached with what the parser gives; the rest then maps to this place.
                return self.push(offset, length, 0);
            }
        }
    }

    fn push(&mut self, text: usize, text_len: usize, file_len: usize) {
        let file = self.at;
        self.at = (self.at + file_len).min(self.written.len());
        let file_len = self.at - file;
        if text_len == file_len
            && let Some(last) = self.runs.last_mut()
            && last.text_len == last.file_len
            && last.file + last.file_len == file
        {
            last.text_len += text_len;
            last.file_len += file_len;
        } else if text_len > 0 {
            self.runs.push(Run { text, text_len, file, file_len });
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.written.len());
    }

    /// Behind a line break in a block, the indentation is not part of the text; elsewhere white
    /// space is skipped when the next character does not match it.
    fn skip_indent(&mut self) {
        if self.is_block() {
            let spaces =
                self.rest().bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
            self.skip(spaces);
        }
    }

    /// What is still to come; nothing if a source does not belong to the text.
    fn rest(&self) -> &'a str {
        self.written.get(self.at..).unwrap_or_default()
    }

    fn is_block(&self) -> bool {
        matches!(self.style, Style::Literal | Style::Folded)
    }
}

/// The bytes of the line break `rest` starts with, if it does.
fn line_break(rest: &str) -> Option<usize> {
    match rest.as_bytes() {
        [b'\r', b'\n', ..] => Some(2),
        [b'\r' | b'\n', ..] => Some(1),
        _ => None,
    }
}

/// The bytes of the escape `rest` starts with; none for an escaped line break.
fn escape_len(rest: &str) -> Option<usize> {
    let kind = rest[1..].chars().next();
    Some(match kind {
        Some('\r' | '\n') => return None,
        Some('x') => 4,
        // JSON writes characters beyond U+FFFF as two escapes.
        Some('u') if is_high_surrogate(rest) => 12,
        Some('u') => 6,
        Some('U') => 10,
        Some(other) => 1 + other.len_utf8(),
        None => 1,
    })
}

fn is_high_surrogate(rest: &str) -> bool {
    let unit = rest.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit))
}
