//! The arguments of a call, which fit the tool's schema when they come here.

use mcpgraph_value::{Map, Value};

/// The arguments of a call.
pub(crate) struct Arguments(pub(crate) Value);

impl Arguments {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A text that the schema requires.
    pub(crate) fn required(&self, key: &str) -> &str {
        self.text(key).unwrap_or_default()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_i64).and_then(|number| u64::try_from(number).ok())
    }

    /// An object; an empty one if it is not given.
    pub(crate) fn object(&self, key: &str) -> Value {
        self.get(key).cloned().unwrap_or_else(|| Value::object(Map::new()))
    }
}
