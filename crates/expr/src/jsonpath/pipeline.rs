use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use mcpgraph_value::{Number, Value};

use super::JsonPath;
use crate::ExprError;

/// What is taken out of an answer: selected, filtered, mapped, freed of repetitions and sorted, in
/// that order.
#[derive(Debug)]
pub struct Pipeline {
    /// Selects. What a query for one place finds there is the list, if it is one.
    pub path: JsonPath,
    /// Keeps only some of it.
    pub filter: Option<Filter>,
    /// Takes this member of every object. Objects without it are left out; what is no object stays.
    pub map: Option<Arc<str>>,
    /// Keeps only the first of equal values.
    pub unique: bool,
    /// Sorts: null, false, true, numbers by value, texts by code point, arrays, objects.
    pub sort: bool,
}

/// Which objects are kept.
#[derive(Debug)]
pub struct Filter {
    /// The member that is looked at.
    pub field: Arc<str>,
    /// What it has to be.
    pub equals: Wanted,
}

/// Where the value to compare with comes from.
#[derive(Debug)]
pub enum Wanted {
    /// An argument; where it is not given, everything is kept.
    Argument(Arc<str>),
    /// A value of the author.
    Literal(Value),
}

impl Pipeline {
    /// A pipeline that only selects.
    pub fn new(path: JsonPath) -> Self {
        Self { path, filter: None, map: None, unique: false, sort: false }
    }

    /// What is left of a value; an empty list if nothing is.
    pub fn apply(&self, value: &Value, arguments: &Value) -> Result<Vec<Value>, ExprError> {
        let mut items = self.path.query(value)?;
        if self.path.is_singular()
            && let [Value::Array(list)] = items.as_slice()
        {
            items = list.to_vec();
        }
        if let Some(filter) = &self.filter
            && let Some(wanted) = filter.equals.given(arguments)
        {
            items.retain(|item| item.get(&filter.field) == Some(wanted));
        }
        if let Some(field) = &self.map {
            items = items.into_iter().filter_map(|item| mapped(item, field)).collect();
        }
        if self.unique {
            let mut seen = HashSet::with_capacity(items.len());
            items.retain(|item| seen.insert(key_of(item)));
        }
        if self.sort {
            items.sort_by(compare);
        }
        Ok(items)
    }
}

impl Wanted {
    fn given<'a>(&'a self, arguments: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Argument(name) => arguments.get(name).filter(|value| !value.is_null()),
            Self::Literal(value) => Some(value),
        }
    }
}

fn mapped(item: Value, field: &str) -> Option<Value> {
    match &item {
        Value::Object(members) => members.get(field).cloned(),
        _ => Some(item),
    }
}

/// A text that two values have in common exactly if they are equal.
fn key_of(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            // `1` and `1.0` are one number.
            Value::Number(number) => match number.as_i64() {
                Some(whole) => out.push_str(&whole.to_string()),
                None => out.push_str(&number.to_string()),
            },
            Value::Array(items) => {
                out.push('[');
                for item in items.iter() {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            Value::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by_key(|(key, _)| Arc::clone(key));
                out.push('{');
                for (key, member) in sorted {
                    out.push_str(&Value::String(Arc::clone(key)).to_json());
                    out.push(':');
                    write(member, out);
                    out.push(',');
                }
                out.push('}');
            }
            Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_json()),
        }
    }
    let mut key = String::new();
    write(value, &mut key);
    key
}

/// The fixed order of all JSON values.
fn compare(a: &Value, b: &Value) -> Ordering {
    fn rank(value: &Value) -> u8 {
        match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        }
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let differs = a.iter().zip(b.iter()).map(|(a, b)| compare(a, b)).find(|o| o.is_ne());
            differs.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(_), Value::Object(_)) => key_of(a).cmp(&key_of(b)),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Whole numbers are compared exactly, others as doubles.
fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().total_cmp(&b.as_f64()),
    }
}

#[cfg(test)]
mod tests;
