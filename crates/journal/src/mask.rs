//! Masks what nobody may read, before it is written or sent.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use mcpgraph_value::{Map, Value};

use crate::Redaction;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "[redacted]";

/// A secret shorter than this is not masked: it would be found everywhere.
const SHORTEST_SECRET: usize = 4;

/// How often JSON inside strings inside JSON is looked into.
const MAX_NESTED_TEXTS: usize = 4;

/// Looks for secrets and fields. Nearly everything has none, which one look at its text tells; only
/// what may have some is taken apart.
#[derive(Debug, Default)]
pub struct Masker {
    /// Finds everything that might have to be masked, and now and then something else.
    finder: Option<AhoCorasick>,
    /// Finds the secrets themselves; of two that overlap, the longer one.
    secrets: Option<AhoCorasick>,
    fields: Vec<String>,
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
        let mut hints: Vec<String> = Vec::new();
        for secret in &secrets {
            hints.push((*secret).to_owned());
            // In JSON inside a string, and once more inside that, escapes are escaped again.
            let mut escaped = (*secret).to_owned();
            for _ in 0..MAX_NESTED_TEXTS {
                escaped = inside_quotes(&escaped);
                hints.push(escaped.clone());
            }
        }
        for field in &fields {
            let quoted = Value::from(field.as_str()).to_json();
            hints.push(quoted.clone());
            hints.push(inside_quotes(&quoted));
            hints.push(inside_quotes(&inside_quotes(&quoted)));
        }
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
            fields,
        }
    }

    /// Whether a JSON text may have something to mask.
    pub(crate) fn suspects(&self, json: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(json))
    }

    /// The value with its secrets and fields masked.
    pub(crate) fn value(&self, value: &Value) -> Value {
        self.masked(value, MAX_NESTED_TEXTS)
    }

    /// The text with its secrets masked.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.secrets {
            Some(secrets) if secrets.is_match(text) => {
                let mut masked = String::with_capacity(text.len());
                secrets.replace_all_with(text, &mut masked, |_, _, masked| {
                    masked.push_str(MASK);
                    true
                });
                Cow::Owned(masked)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// A text that is JSON, as what a client says of itself, masked as such.
    pub fn json_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.suspects(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        match Value::from_json(text) {
            Ok(value) => Cow::Owned(self.value(&value).to_json()),
            Err(_) => self.text(text),
        }
    }

    fn masked(&self, value: &Value, nested: usize) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => match self.text(&number.to_string()) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(masked) => masked.into(),
            },
            Value::String(text) => {
                self.string(text, nested).map_or_else(|| value.clone(), Into::into)
            }
            Value::Array(items) => {
                Value::array(items.iter().map(|item| self.masked(item, nested)).collect())
            }
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| {
                    let member =
                        if self.is_field(key) { MASK.into() } else { self.masked(member, nested) };
                    (self.text(key).into_owned(), member)
                })
                .collect::<Map>()
                .into(),
        }
    }

    /// A string that has to change: tools often answer with JSON inside a string.
    fn string(&self, text: &str, nested: usize) -> Option<String> {
        if nested > 0
            && text.trim_start().starts_with(['{', '['])
            && self.suspects(text.as_bytes())
            && let Ok(inner) = Value::from_json(text)
        {
            let masked = self.masked(&inner, nested - 1);
            if masked != inner {
                return Some(masked.to_json());
            }
        }
        match self.text(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => Some(masked),
        }
    }

    fn is_field(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.eq_ignore_ascii_case(key))
    }
}

/// A text as JSON writes it between quotes.
fn inside_quotes(text: &str) -> String {
    let quoted = Value::from(text).to_json();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests;
