use std::fmt;
use std::sync::Arc;

use crate::Span;

/// A text that diagnostics point into, with the name under which its user knows it.
pub struct Source {
    name: String,
    text: String,
    /// The byte offset at which each line starts; the first is 0.
    lines: Vec<usize>,
}

/// A place as people count it: lines and columns from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Source {
    /// A source of this name (usually a path) and text, ready to be shared.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let text = text.into();
        let lines = std::iter::once(0).chain(line_starts(&text)).collect();
        Arc::new(Self { name: name.into(), text, lines })
    }

    /// The name, usually a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; whatever of it lies outside the source, or inside a character, is left
    /// out.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(self.floor(span.start)..self.floor(span.end)).unwrap_or_default()
    }

    /// The line and column of a byte offset; one behind the end counts as the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.line_start(line);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Position { line, column: column + 1 }
    }

    /// How many lines there are; an empty text has one.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The bytes of a line (counted from 1) without its line break; empty for a line there is not.
    pub fn line_span(&self, line: usize) -> Span {
        let start = self.line_start(line);
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end).unwrap_or_default();
        Span::new(start, start + text.trim_end_matches(['\n', '\r']).len())
    }

    fn line_start(&self, line: usize) -> usize {
        line.checked_sub(1)
            .and_then(|index| self.lines.get(index))
            .copied()
            .unwrap_or(self.text.len())
    }

    /// The nearest character boundary at or before `offset`.
    fn floor(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }
}

/// Lines end as YAML says: with `\n`, `\r\n`, or a lone `\r`.
fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter_map(move |(at, byte)| match byte {
        b'\n' => Some(at + 1),
        b'\r' if bytes.get(at + 1) != Some(&b'\n') => Some(at + 1),
        _ => None,
    })
}

/// The text is left out: it may be long.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name)
    }
}
