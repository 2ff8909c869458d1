use std::sync::Arc;

use crate::{Array, Map, Number, Object, Value};

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Self::Number(int.into())
    }
}

impl From<i32> for Value {
    fn from(int: i32) -> Self {
        Self::from(i64::from(int))
    }
}

impl From<u64> for Value {
    fn from(int: u64) -> Self {
        match i64::try_from(int) {
            Ok(int) => int.into(),
            // Digits are always a number.
            Err(_) => Number::from_json(&int.to_string()).map_or(Self::Null, Self::Number),
        }
    }
}

impl From<usize> for Value {
    fn from(int: usize) -> Self {
        Self::from(int as u64)
    }
}

/// NaN and the infinities become null, as in `JSON.stringify`.
impl From<f64> for Value {
    fn from(float: f64) -> Self {
        Number::from_f64(float).map_or(Self::Null, Self::Number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::String(text)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::array(items)
    }
}

impl From<Array> for Value {
    fn from(items: Array) -> Self {
        Self::Array(items)
    }
}

impl From<Map> for Value {
    fn from(members: Map) -> Self {
        Self::object(members)
    }
}

impl From<Object> for Value {
    fn from(members: Object) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => {
                Number::from_json(number.as_str()).map_or(Self::Null, Self::Number)
            }
            serde_json::Value::String(text) => Self::string(text),
            serde_json::Value::Array(items) => {
                Self::array(items.into_iter().map(Self::from).collect())
            }
            serde_json::Value::Object(members) => Self::object(members.into_iter().collect()),
        }
    }
}

/// For the libraries that only speak `serde_json`; copies everything.
impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => {
                Self::Number(serde_json::Number::from_string_unchecked(number.to_string()))
            }
            Value::String(text) => Self::String(text.to_string()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members.iter().map(|(key, member)| (key.to_string(), Self::from(member))).collect(),
            ),
        }
    }
}
