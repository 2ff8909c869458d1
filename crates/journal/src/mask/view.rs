//! A text as it is inside the strings of the JSON in it, and where each piece of that comes from.

use std::ops::Range;

/// Stands for a quote that ends a string further out: what is inside goes no further. A text that
/// has this character itself only has a piece that ends earlier.
pub(super) const END: char = '\0';

/// A text with so many layers of escapes taken off.
pub(super) struct View {
    pub(super) text: String,
    /// Where each byte comes from in the text that was looked at, and where that ends.
    origins: Vec<usize>,
}

impl View {
    /// The text as it is.
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), origins: (0..=text.len()).collect() }
    }

    /// Where a piece comes from.
    pub(super) fn origin(&self, piece: Range<usize>) -> Range<usize> {
        self.origins[piece.start]..self.origins[piece.end]
    }

    /// The same with one layer of escapes less; none if there are no escapes.
    pub(super) fn inside(&self) -> Option<Self> {
        if !self.text.contains('\\') {
            return None;
        }
        let mut inside = Self {
            text: String::with_capacity(self.text.len()),
            origins: Vec::with_capacity(self.origins.len()),
        };
        let mut place = 0;
        while let Some((character, next)) = character(&self.text, place) {
            let is_quote = character == '"' && next == place + 1;
            let shown = if is_quote { END } else { character };
            let origin = self.origins[place];
            inside.origins.extend(std::iter::repeat_n(origin, shown.len_utf8()));
            inside.text.push(shown);
            place = next;
        }
        inside.origins.push(self.origins[self.text.len()]);
        Some(inside)
    }
}

/// The character that begins at a place of a string in JSON, and where the next one does. What is no
/// escape stands for itself.
pub(super) fn character(text: &str, place: usize) -> Option<(char, usize)> {
    let rest = &text[place..];
    let first = rest.chars().next()?;
    let escaped = if first == '\\' { escape(rest) } else { None };
    let (character, length) = escaped.unwrap_or((first, first.len_utf8()));
    Some((character, place + length))
}

/// What an escape stands for, and how long it is.
fn escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((character, 2))
}

fn unicode(text: &str) -> Option<(char, usize)> {
    const ONE: usize = 6;
    let unit = |at: usize| {
        let digits = text.get(at..at + ONE)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, ONE));
    }
    let pair = [first, unit(ONE)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 2 * ONE))
}
