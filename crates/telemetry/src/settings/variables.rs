use std::time::Duration;

use percent_encoding::percent_decode_str;

/// Variables, read as the specification of OpenTelemetry says: empty is as good as unset.
pub(super) struct Variables<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = (self.0)(name)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// One of a list of words, for which case means nothing.
    pub(super) fn word(&self, name: &str) -> Option<String> {
        self.text(name).map(|text| text.to_ascii_lowercase())
    }

    /// Whether the first that is set says so.
    pub(super) fn flag(&self, names: &[String]) -> bool {
        let Some((name, text)) = self.first(names) else { return false };
        match &*text.to_ascii_lowercase() {
            "true" => true,
            "false" => false,
            _ => {
                self.ignored(&name, &text, "it is `true` or `false`; `false` is taken");
                false
            }
        }
    }

    /// The first that is set, with its name.
    pub(super) fn first(&self, names: &[String]) -> Option<(String, String)> {
        names.iter().find_map(|name| Some((name.clone(), self.text(name)?)))
    }

    /// Milliseconds from the first that is set.
    pub(super) fn millis(&self, names: &[String], default: u64) -> Duration {
        let Some((name, text)) = self.first(names) else { return Duration::from_millis(default) };
        let millis = text.parse().ok().filter(|millis| *millis > 0).unwrap_or_else(|| {
            self.ignored(&name, &text, "it is a number of milliseconds");
            default
        });
        Duration::from_millis(millis)
    }

    /// How many, at least one.
    pub(super) fn count(&self, name: &str, default: usize) -> usize {
        let Some(text) = self.text(name) else { return default };
        text.parse().ok().filter(|count| *count > 0).unwrap_or_else(|| {
            self.ignored(name, &text, "it is a number above 0");
            default
        })
    }

    /// `key=value,key=value` from the first that is set, the values percent-decoded.
    pub(super) fn pairs(&self, names: &[String]) -> Vec<(String, String)> {
        let Some((name, text)) = self.first(names) else { return Vec::new() };
        let mut pairs = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let pair = part.split_once('=').and_then(|(key, value)| {
                let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
                let key = key.trim();
                (!key.is_empty()).then(|| (key.to_owned(), value.into_owned()))
            });
            match pair {
                Some(pair) => pairs.push(pair),
                // What is wrong may be a secret and is not shown.
                None => tracing::warn!("{name}: a part is not `key=value` and is left out"),
            }
        }
        pairs
    }

    /// Says that a value is not taken.
    #[expect(clippy::unused_self, reason = "it belongs to reading variables")]
    pub(super) fn ignored(&self, name: &str, value: &str, why: &str) {
        tracing::warn!("{name}: `{value}` is not taken: {why}");
    }
}
