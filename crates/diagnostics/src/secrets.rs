//! Keeps configured values out of messages and logs.

use std::fmt;
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
            .map(str::to_owned)
            .collect();
        // A value that contains another goes first, so that nothing of it is left over.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values.into())
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
}
