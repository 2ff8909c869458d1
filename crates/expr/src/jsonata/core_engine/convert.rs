//! Values of ours to values of the engine and back.

use std::rc::Rc;

use indexmap::IndexMap;
use jsonata_core::value::JValue;
use mcpgraph_value::{MAX_DEPTH, Map, Value};

use crate::bounds::{CELL, too_deep};
use crate::budget::Meter;
use crate::{ExprError, Reads, Scope};

/// How deep a context may nest: an output in a list of outputs in a list is deeper than an output.
const MAX_CONTEXT_DEPTH: usize = 2 * MAX_DEPTH;

/// The parts of the context that an expression reads.
pub(super) fn context(scope: &dyn Scope, reads: &Reads) -> Result<JValue, ExprError> {
    if reads.whole || !scope.is_object() {
        return to_engine(&scope.context());
    }
    let mut wanted = Wanted::default();
    for read in &reads.paths {
        wanted.add(&read.names);
    }
    let mut members = IndexMap::new();
    // The order of the keys is that of the context, which some functions show.
    for name in scope.names() {
        if let Some(wanted) = wanted.members.get(&*name)
            && let Some(output) = scope.output(&name)
        {
            members.insert(name.to_string(), wanted.take(&output, 1)?);
        }
    }
    Ok(JValue::object(members))
}

/// A tree of the paths an expression reads.
#[derive(Default)]
struct Wanted<'a> {
    all: bool,
    members: IndexMap<&'a str, Wanted<'a>>,
}

impl<'a> Wanted<'a> {
    fn add(&mut self, names: &'a [std::sync::Arc<str>]) {
        match names.split_first() {
            Some((first, rest)) => self.members.entry(first).or_default().add(rest),
            None => self.all = true,
        }
    }

    /// What is wanted of a value; in an array, of each of its items.
    fn take(&self, value: &Value, depth: usize) -> Result<JValue, ExprError> {
        if depth > MAX_CONTEXT_DEPTH {
            return Err(too_deep());
        }
        match value {
            _ if self.all => all(value, depth),
            Value::Object(members) => {
                let mut taken = IndexMap::new();
                for (name, member) in members.iter() {
                    if let Some(wanted) = self.members.get(&**name) {
                        taken.insert(name.to_string(), wanted.take(member, depth + 1)?);
                    }
                }
                Ok(JValue::object(taken))
            }
            Value::Array(items) => {
                let items: Result<_, _> =
                    items.iter().map(|item| self.take(item, depth + 1)).collect();
                Ok(JValue::array(items?))
            }
            _ => all(value, depth),
        }
    }
}

/// The whole of a value.
pub(super) fn to_engine(value: &Value) -> Result<JValue, ExprError> {
    all(value, 0)
}

fn all(value: &Value, depth: usize) -> Result<JValue, ExprError> {
    if depth > MAX_CONTEXT_DEPTH {
        return Err(too_deep());
    }
    Ok(match value {
        Value::Null => JValue::Null,
        Value::Bool(flag) => JValue::Bool(*flag),
        Value::Number(number) => JValue::Number(number.as_f64()),
        Value::String(text) => JValue::String(Rc::from(&**text)),
        Value::Array(items) => {
            let items: Result<_, _> = items.iter().map(|item| all(item, depth + 1)).collect();
            JValue::array(items?)
        }
        Value::Object(members) => {
            let mut converted = IndexMap::with_capacity(members.len());
            for (key, member) in members.iter() {
                converted.insert(key.to_string(), all(member, depth + 1)?);
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
            for item in items.iter() {
                converted.push(from_engine(item, depth + 1, meter)?.unwrap_or_default());
            }
            Value::array(converted)
        }
        JValue::Object(members) => {
            let mut converted = Map::with_capacity(members.len());
            for (key, member) in members.iter() {
                if let Some(member) = from_engine(member, depth + 1, meter)? {
                    meter.spend(key.len())?;
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
