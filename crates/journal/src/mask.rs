//! Masks what nobody may read, before it is written or sent.

mod fields;
mod view;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use mcpgraph_value::{Map, Value};

use crate::Redaction;
use view::View;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "[redacted]";

/// A secret shorter than this is not masked: it would be found everywhere.
const SHORTEST_SECRET: usize = 4;

/// How often JSON inside strings inside JSON is looked into.
const MAX_NESTED_TEXTS: usize = 8;

/// How often a secret that is nothing but characters to escape may have been escaped: each time
/// doubles it.
const MAX_ESCAPED: usize = 4;

/// Looks for secrets and fields. Nearly everything has none, which one look at its text tells; only
/// what may have some is taken apart.
#[derive(Debug, Default)]
pub struct Masker {
    /// Finds everything that might have to be masked, and now and then something else.
    finder: Option<AhoCorasick>,
    /// Finds the secrets themselves; of two that overlap, the longer one.
    secrets: Option<AhoCorasick>,
    fields: Vec<String>,
    /// How long the longest of their names is.
    longest_field: usize,
}

/// A piece of a text that is not to be seen.
struct Hidden {
    place: Range<usize>,
    /// How deep in strings the field is that has it as its value, if one has.
    value_at: Option<usize>,
}

impl Masker {
    /// Masks what a redaction says.
    pub fn new(redaction: &Redaction) -> Self {
        let mut secrets: Vec<&str> = redaction.secrets.iter().map(String::as_str).collect();
        secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
        secrets.sort_unstable();
        secrets.dedup();
        let fields: Vec<String> =
            redaction.fields.iter().filter(|field| !field.is_empty()).cloned().collect();
        let hints = hints(&secrets, &fields);
        Self {
            // The patterns are too many only for a configuration that cannot be held in memory.
            finder: (!hints.is_empty())
                .then(|| AhoCorasick::builder().ascii_case_insensitive(true).build(&hints).ok())
                .flatten(),
            secrets: (!secrets.is_empty())
                .then(|| {
                    AhoCorasick::builder()
                        .match_kind(MatchKind::LeftmostLongest)
                        .build(&secrets)
                        .ok()
                })
                .flatten(),
            longest_field: fields.iter().map(String::len).max().unwrap_or(0),
            fields,
        }
    }

    /// Whether a JSON text may have something to mask.
    pub(crate) fn suspects(&self, json: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(json))
    }

    /// The value with its secrets and fields masked.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => match self.text(&number.to_string()) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(masked) => masked.into(),
            },
            // Tools often answer with JSON inside a string.
            Value::String(text) => match self.message(text) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(masked) => masked.into(),
            },
            Value::Array(items) => {
                Value::array(items.iter().map(|item| self.value(item)).collect())
            }
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| {
                    let member = if self.is_field(key) { MASK.into() } else { self.value(member) };
                    (self.message(key).into_owned(), member)
                })
                .collect::<Map>()
                .into(),
        }
    }

    /// The text with its secrets masked. Fields are left: in a graph file they are what tools take.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hide(text, false)
    }

    /// The text with its secrets masked, and the fields of all JSON that stands somewhere in it.
    pub fn message<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hide(text, true)
    }

    /// A text that is JSON, as what a client says of itself, masked as such.
    pub fn json_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.suspects(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        match Value::from_json(text) {
            Ok(value) => Cow::Owned(self.value(&value).to_json()),
            Err(_) => self.message(text),
        }
    }

    fn hide<'t>(&self, text: &'t str, with_fields: bool) -> Cow<'t, str> {
        if !self.suspects(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        let mut hidden = Vec::new();
        let mut view = View::of(text);
        for depth in 0..=MAX_NESTED_TEXTS {
            if let Some(secrets) = &self.secrets {
                let found = secrets.find_iter(&view.text).map(|found| found.range());
                hidden.extend(
                    found.map(|piece| Hidden { place: view.origin(piece), value_at: None }),
                );
            }
            if with_fields && !self.fields.is_empty() {
                let is_wanted = |name: &str| self.is_field(name);
                let found = fields::values(&view.text, self.longest_field, is_wanted);
                hidden.extend(
                    found
                        .into_iter()
                        .map(|piece| Hidden { place: view.origin(piece), value_at: Some(depth) }),
                );
            }
            match view.inside() {
                Some(inside) => view = inside,
                None => break,
            }
        }
        replaced(text, hidden)
    }

    fn is_field(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.eq_ignore_ascii_case(key))
    }
}

/// What a text has if there is something to mask in it, however deep in strings it is. The fewer
/// there are, the less looking for them costs.
fn hints(secrets: &[&str], fields: &[String]) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for secret in secrets {
        // What JSON does not escape is the same at every depth.
        let plain = secret.split(is_escaped).max_by_key(|piece| piece.len()).unwrap_or("");
        if plain.len() >= SHORTEST_SECRET {
            hints.push(plain.to_owned());
        } else {
            hints.extend(at_every_depth(secret));
        }
    }
    for field in fields {
        if field.contains(is_escaped) {
            hints.extend(at_every_depth(&Value::from(field.as_str()).to_json()));
        } else {
            hints.push(format!("\"{field}\""));
            // The quote after it is escaped, however often.
            hints.push(format!("\"{field}\\"));
        }
    }
    if !hints.is_empty() {
        // Whoever wrote JSON in a string may have escaped what need not be.
        let known = secrets.iter().copied().chain(fields.iter().map(String::as_str));
        for character in known.flat_map(str::chars).chain(['"', '\\']) {
            for cased in [character.to_ascii_lowercase(), character.to_ascii_uppercase()] {
                let units = cased.encode_utf16(&mut [0; 2]).to_vec();
                hints.extend(units.into_iter().map(|unit| format!("\\u{unit:04x}")));
            }
            if character == '/' {
                hints.push("\\/".to_owned());
            }
        }
    }
    hints.sort_unstable();
    hints.dedup();
    hints
}

/// A text as it is, and as it is in strings inside strings.
fn at_every_depth(text: &str) -> impl Iterator<Item = String> {
    std::iter::successors(Some(text.to_owned()), |text| {
        let quoted = Value::from(text.as_str()).to_json();
        Some(quoted[1..quoted.len() - 1].to_owned())
    })
    .take(MAX_ESCAPED + 1)
}

/// Whether JSON cannot have a character in a string as it is.
fn is_escaped(character: char) -> bool {
    matches!(character, '"' | '\\' | '\0'..='\x1f')
}

/// The text with a mask in the place of each piece, and of those that overlap one for all.
fn replaced(text: &str, mut hidden: Vec<Hidden>) -> Cow<'_, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    // Of those that begin together the one that goes furthest says what stands there.
    hidden.sort_by_key(|piece| (piece.place.start, usize::MAX - piece.place.end));
    let mut masked = String::with_capacity(text.len());
    let mut shown = 0;
    for piece in hidden {
        if piece.place.start >= shown {
            masked.push_str(&text[shown..piece.place.start]);
            // A value stays one: a string, with quotes as they are at its depth.
            let quote = piece.value_at.map(|depth| "\\".repeat((1 << depth) - 1) + "\"");
            let quote = quote.as_deref().unwrap_or("");
            masked.extend([quote, MASK, quote]);
        }
        shown = shown.max(piece.place.end);
    }
    masked.push_str(&text[shown..]);
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests;
