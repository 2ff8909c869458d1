//! What a tool gives back.

use mcpgraph_diagnostics::suggest::nearest;
use serde_json::{Map, Value, json};

/// What a tool gives: an object, or an error that an agent can act on.
pub(crate) type Answer = Result<Value, Failure>;

/// Why a tool did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure(Map<String, Value>);

/// How many known names an error lists.
const MAX_NAMES: usize = 200;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(Map::from_iter([("message".to_owned(), message.into().into())]))
    }

    /// The same with another fact.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// A name that means nothing, with those that do and the nearest of them.
    pub(crate) fn unknown<'a>(
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let listed: Vec<&str> = known.clone().take(MAX_NAMES).collect();
        let failure =
            Self::new(format!("there is no {what} `{name}`")).with("known", json!(listed));
        match nearest(name, known) {
            Some(near) => {
                failure.with("nearest", near).with("suggestion", format!("did you mean `{near}`?"))
            }
            None => failure,
        }
    }

    fn into_value(self) -> Value {
        json!({ "error": self.0 })
    }
}

/// The result of `tools/call`.
pub(crate) fn result(answer: Answer) -> Value {
    let is_error = answer.is_err();
    let value = answer.unwrap_or_else(Failure::into_value);
    let mut result = json!({ "content": [{ "type": "text", "text": value.to_string() }] });
    if is_error {
        result["isError"] = true.into();
    }
    result["structuredContent"] = value;
    result
}
