//! Texts with `{placeholders}`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text with placeholders, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Stands as it is.
    Text(String),
    /// Is filled.
    Hole(Hole),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// The argument.
    pub(crate) name: Arc<str>,
    /// What the author says of it.
    pub(crate) kind: HoleKind,
    /// Where it stands in the text.
    pub(crate) range: Range<usize>,
}

/// What the author says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoleKind {
    /// Nothing: its place decides.
    Plain,
    /// `{id:name}`: a name.
    Identifier,
    /// `{number:name}`: a number.
    Number,
    /// `{string:name}`: a text.
    Text,
    /// `{raw:name}`: it may be part of the structure.
    Raw,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateError {
    pub(crate) message: String,
    pub(crate) range: Range<usize>,
}

const KINDS: [(&str, HoleKind); 4] = [
    ("id", HoleKind::Identifier),
    ("number", HoleKind::Number),
    ("string", HoleKind::Text),
    ("raw", HoleKind::Raw),
];

impl Template {
    /// Takes a text apart. `{{` and `}}` are braces.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find(['{', '}']) {
            let start = at + found;
            plain.push_str(&text[at..start]);
            let rest = &text[start..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push_str(&rest[..1]);
                at = start + 2;
                continue;
            }
            if rest.starts_with('}') {
                return Err(error("a `}` without its `{`; a plain one is `}}`", start..start + 1));
            }
            let Some(length) = rest.find('}') else {
                return Err(error("a `{` without its `}`; a plain one is `{{`", start..start + 1));
            };
            let range = start..start + length + 1;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Hole(hole(&rest[1..length], range)?));
            at = start + length + 1;
        }
        plain.push_str(&text[at..]);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }

    /// The placeholders.
    pub(crate) fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(hole),
            Piece::Text(_) => None,
        })
    }

    /// The text, if nothing is to be filled.
    pub(crate) fn as_plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The quote that is open behind each piece; a placeholder stands in it.
    pub(crate) fn open_quotes(&self) -> Vec<Option<char>> {
        let mut quote: Option<char> = None;
        let after = self.pieces.iter().map(|piece| {
            if let Piece::Text(text) = piece {
                for c in text.chars() {
                    match (quote, c) {
                        (None, '"' | '\'') => quote = Some(c),
                        (Some(open), _) if open == c => quote = None,
                        _ => {}
                    }
                }
            }
            quote
        });
        after.collect()
    }

    /// Whether the structure may depend on an argument.
    pub(crate) fn has_raw(&self) -> bool {
        self.holes().any(|hole| hole.kind == HoleKind::Raw)
    }
}

fn hole(inside: &str, range: Range<usize>) -> Result<Hole, TemplateError> {
    let (kind, name) = match inside.split_once(':') {
        Some((word, name)) => {
            let Some((_, kind)) = KINDS.into_iter().find(|(known, _)| *known == word) else {
                let words = KINDS.map(|(word, _)| format!("`{word}`")).join(", ");
                let message = format!(
                    "`{word}` is no kind of placeholder; there are {words}, and a plain brace, as \
                     in JSON, is `{{{{`"
                );
                return Err(TemplateError { message, range });
            };
            (kind, name)
        }
        None => (HoleKind::Plain, inside),
    };
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$'));
    if !is_name {
        return Err(error(
            "a placeholder is `{` and the name of an argument and `}`; a plain brace is `{{`",
            range,
        ));
    }
    Ok(Hole { name: name.into(), kind, range })
}

fn error(message: &str, range: Range<usize>) -> TemplateError {
    TemplateError { message: message.to_owned(), range }
}

impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name)
    }
}

#[cfg(test)]
mod tests;
