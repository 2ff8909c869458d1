use mcpgraph_value::Value;

/// The arguments of a call. What does not fit the tool's schema is said in words that a model can
/// act on.
pub(super) struct Arguments<'a>(pub(super) &'a Value);

impl<'a> Arguments<'a> {
    /// An argument that must be there, whatever it is.
    pub(super) fn any(&self, key: &str) -> Result<&'a Value, String> {
        self.0.get(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    /// A text that must be there.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, String> {
        let value = self.any(key)?;
        value.as_str().ok_or_else(|| format!("`{key}` must be a text, not {}", shown(value)))
    }

    /// A text that may be left out; null counts as nothing.
    pub(super) fn optional_text(&self, key: &str) -> Result<Option<&'a str>, String> {
        self.given(key).map(|_| self.text(key)).transpose()
    }

    /// A whole number that may be left out, and how small and large it may be.
    pub(super) fn whole(
        &self,
        key: &str,
        default: u32,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, String> {
        let Some(value) = self.given(key) else { return Ok(default) };
        let number = value.as_i64().and_then(|number| u32::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            format!("`{key}` must be a whole number from {least} to {most}, not {}", shown(value))
        })
    }

    fn given(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !matches!(value, Value::Null))
    }
}

/// A value for a message.
fn shown(value: &Value) -> String {
    /// How much of it is shown.
    const MOST: usize = 80;
    let text = value.to_json();
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain(['…']).collect()
}
