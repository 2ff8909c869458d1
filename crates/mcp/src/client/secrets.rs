//! Keeps configured values out of messages and logs.

/// The values that must not be shown: those of environment variables and headers.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Values shorter than this are words that any text may contain.
    const SHORTEST: usize = 8;

    /// Remembers what must not be shown.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a String>) -> Self {
        let mut values: Vec<String> = values
            // `Bearer abc`: the token alone must not be shown either.
            .flat_map(|value| std::iter::once(value.as_str()).chain(value.split_whitespace()))
            .filter(|value| value.len() >= Self::SHORTEST)
            .map(str::to_owned)
            .collect();
        // A value that contains another goes first, so that nothing of it is left over.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// The text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| {
            if text.contains(value.as_str()) {
                text.replace(value.as_str(), "[hidden]")
            } else {
                text
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_values_are_hidden() {
        let values = ["Bearer abcdefgh1234".to_owned(), "short".to_owned(), "abcdefgh".to_owned()];
        let secrets = Secrets::new(values.iter());
        assert_eq!(
            secrets.hide("short: Bearer abcdefgh1234, abcdefgh1234 and abcdefgh"),
            "short: [hidden], [hidden] and [hidden]"
        );
    }
}
