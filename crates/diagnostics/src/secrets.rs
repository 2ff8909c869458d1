//! Keeps configured values out of messages and logs.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The values that must not be shown: those of environment variables and headers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// Values shorter than this are words that any text may contain.
    const SHORTEST: usize = 8;

    /// Remembers what must not be shown.
    pub fn new<'a, T: AsRef<str> + ?Sized + 'a>(values: impl IntoIterator<Item = &'a T>) -> Self {
        let mut values: Vec<String> = values
            .into_iter()
            .map(AsRef::as_ref)
            // `Bearer abc`: the token alone must not be shown either.
            .flat_map(|value| std::iter::once::<&str>(value).chain(value.split_whitespace()))
            .filter(|value| value.len() >= Self::SHORTEST)
            // Programs write what they log as JSON, where a quote is not a quote any more.
            .flat_map(|value| [value.to_owned(), json(value), ascii_json(value)])
            .collect();
        // A value that contains another goes first, so that nothing of it is left over.
        values.sort_by(|one, other| (other.len(), one).cmp(&(one.len(), other)));
        values.dedup();
        Self(values.into())
    }

    /// The length of the longest, in bytes: where a text is cut, so much of it may be a part of one.
    pub fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }

    /// Whether one of them is in a text.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|value| text.contains(value.as_str()))
    }

    /// The text without them.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| {
            if text.contains(value.as_str()) {
                text.replace(value.as_str(), "[hidden]")
            } else {
                text
            }
        })
    }
}

/// How a text stands in a string of JSON.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same where only ASCII is written, as Python does.
fn ascii_json(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in json(text).chars() {
        if matches!(character, ' '..='~') {
            written.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                write!(written, "\\u{unit:04x}").unwrap_or_default();
            }
        }
    }
    written
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_values_are_hidden() {
        let secrets = Secrets::new(["Bearer abcdefgh1234", "short", "abcdefgh"]);
        assert_eq!(
            secrets.hide("short: Bearer abcdefgh1234, abcdefgh1234 and abcdefgh"),
            "short: [hidden], [hidden] and [hidden]"
        );
    }

    #[test]
    fn values_are_hidden_in_json_too() {
        let value = "pa\"ss\\wörd\n💡";
        let secrets = Secrets::new([value]);
        let json = serde_json::to_string(value).unwrap();
        assert_ne!(json, format!("\"{value}\""));
        let ascii = r#""pa\"ss\\w\u00f6rd\n\ud83d\udca1""#;
        for text in [json.as_str(), ascii] {
            assert_eq!(secrets.hide(text), "\"[hidden]\"");
            assert!(secrets.are_in(text));
        }
        assert_eq!(secrets.hide(value), "[hidden]");
        assert_eq!(secrets.longest(), ascii.len() - 2);
        assert_eq!(Secrets::default().longest(), 0);
    }
}
