//! Data for `jsonata-core`.

use jsonata_core::value::JValue;
use mcpgraph_value::Value;

/// A value as `jsonata-core` needs it. Its own reader of JSON depends on how `serde_json` is built,
/// which other crates decide.
pub(crate) fn converted(value: &Value) -> JValue {
    match value {
        Value::Null => JValue::Null,
        Value::Bool(flag) => JValue::from(*flag),
        Value::Number(number) => JValue::from(number.as_f64()),
        Value::String(text) => JValue::string(&**text),
        Value::Array(items) => JValue::array(items.iter().map(converted).collect()),
        Value::Object(members) => JValue::object(
            members.iter().map(|(key, value)| (key.to_string(), converted(value))).collect(),
        ),
    }
}
