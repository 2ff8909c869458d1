use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use mcpgraph_diagnostics::{Source, Span};

use crate::align::Alignment;

/// A piece of text a user wrote, with its place in the file.
///
/// It reads as a `str`. [`Text::locate`] finds the place of a part of it, whatever quotes, escapes
/// or block indentation stand in between.
#[derive(Clone)]
pub struct Text {
    value: Arc<str>,
    span: Span,
    style: Style,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'single quotes'`.
    Single,
    /// In `"double quotes"`, with escapes.
    Double,
    /// A `|` block: lines as they are.
    Literal,
    /// A `>` block: lines joined.
    Folded,
}

impl Text {
    pub(crate) fn new(value: impl Into<Arc<str>>, span: Span, style: Style) -> Self {
        Self { value: value.into(), span, style }
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// The text itself, shared.
    pub fn to_arc(&self) -> Arc<str> {
        Arc::clone(&self.value)
    }

    /// Where it stands in the file; quotes are included, and a block is its lines without the
    /// header.
    pub fn span(&self) -> Span {
        self.span
    }

    /// How it is written.
    pub fn style(&self) -> Style {
        self.style
    }

    /// The place in the file of a range of bytes of this text, so that an error at offset 17 of an
    /// expression is underlined where the user wrote it.
    ///
    /// `source` must be the source the text was read from. A range that ends inside a character,
    /// or behind the end, is moved to the nearest place before.
    pub fn locate(&self, source: &Source, range: Range<usize>) -> Span {
        self.alignment(source).span(range)
    }

    /// The range of bytes of this text that stands at a place in the file: what [`Text::locate`]
    /// finds, from the other side. None if the place is not in this text.
    pub fn range_at(&self, source: &Source, span: Span) -> Option<Range<usize>> {
        self.span.contains(span).then(|| self.alignment(source).range(span))
    }

    /// What [`Text::locate`] works with, for many places of one text.
    pub(crate) fn alignment(&self, source: &Source) -> Alignment {
        // A block starts behind the indentation of its first line.
        let indent = source.position(self.span.start).column - 1;
        Alignment::new(source, self.span, &self.value, self.style, indent)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.value
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.value
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.value
    }
}

/// Texts are equal when they read the same, wherever they stand.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.value == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self.value == **other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{}..{}", self.as_str(), self.span.start, self.span.end)
    }
}
