//! Values of ours to values of the engine and back.

use std::rc::Rc;

use indexmap::IndexMap;
use jsonata_core::value::JValue;
use mcpgraph_value::{MAX_DEPTH, Map, Value};

use crate::ExprError;
use crate::bounds::{CELL, MEMBER, OBJECT, too_deep};
use crate::budget::Meter;

/// How deep a context may nest: an output in a list of outputs in a list is deeper than an output.
pub(super) const MAX_CONTEXT_DEPTH: usize = 2 * MAX_DEPTH;

/// The whole of a value that stands at some depth of the context.
pub(super) fn to_engine(value: &Value, depth: usize) -> Result<JValue, ExprError> {
    if depth > MAX_CONTEXT_DEPTH {
        return Err(too_deep());
    }
    Ok(match value {
        Value::Null => JValue::Null,
        Value::Bool(flag) => JValue::Bool(*flag),
        Value::Number(number) => JValue::Number(number.as_f64()),
        Value::String(text) => JValue::String(Rc::from(&**text)),
        Value::Array(items) => {
            let items: Result<_, _> = items.iter().map(|item| to_engine(item, depth + 1)).collect();
            JValue::array(items?)
        }
        Value::Object(members) => {
            let mut converted = IndexMap::with_capacity(members.len());
            for (key, member) in members.iter() {
                converted.insert(key.to_string(), to_engine(member, depth + 1)?);
            }
            JValue::object(converted)
        }
    })
}

/// The result of an evaluation; a function is none, as in JSON.
pub(super) fn result(value: &JValue, meter: &Meter<'_>) -> Result<Option<Value>, ExprError> {
    from_engine(value, 0, meter)
}

fn from_engine(
    value: &JValue,
    depth: usize,
    meter: &Meter<'_>,
) -> Result<Option<Value>, ExprError> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    meter.spend(CELL)?;
    Ok(Some(match value {
        JValue::Null => Value::Null,
        JValue::Bool(flag) => Value::Bool(*flag),
        JValue::Number(number) => Value::from(*number),
        JValue::String(text) => {
            meter.spend(text.len())?;
            Value::string(&**text)
        }
        JValue::Array(items) => {
            let mut converted = Vec::with_capacity(items.len());
            for item in items {
                converted.push(from_engine(item, depth + 1, meter)?.unwrap_or_default());
            }
            Value::array(converted)
        }
        JValue::Object(members) => {
            meter.spend(OBJECT)?;
            let mut converted = Map::with_capacity(members.len());
            for (key, member) in members.iter() {
                if let Some(member) = from_engine(member, depth + 1, meter)? {
                    meter.spend(MEMBER + key.len())?;
                    converted.insert(key.as_str(), member);
                }
            }
            Value::object(converted)
        }
        JValue::Undefined | JValue::Lambda(_) | JValue::Builtin { .. } | JValue::Regex { .. } => {
            return Ok(None);
        }
    }))
}
