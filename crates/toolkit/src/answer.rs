//! What a tool gives back.

use mcpgraph_diagnostics::codes::{self, Code};
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
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self::unnumbered(message).with("code", code.id())
    }

    /// A failure whose `code` is not one of ours, or comes from elsewhere.
    pub(crate) fn unnumbered(message: impl Into<String>) -> Self {
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
        let message = format!("there is no {what} `{name}`");
        let failure = Self::new(codes::TOOLKIT_UNKNOWN_NAME, message).with("known", json!(listed));
        match nearest(name, known) {
            Some(near) => {
                failure.with("nearest", near).with("suggestion", format!("did you mean `{near}`?"))
            }
            None => failure,
        }
    }

    /// What is said of it, without the frame of an answer.
    pub(crate) fn into_facts(self) -> Value {
        Value::Object(self.0)
    }

    pub(crate) fn into_value(self) -> Value {
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
