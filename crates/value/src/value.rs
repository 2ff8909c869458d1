use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Map, Number};

/// A JSON value.
#[derive(Clone, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with its digits.
    Number(Number),
    /// A string.
    String(Arc<str>),
    /// An array.
    Array(Array),
    /// An object; keys keep their order.
    Object(Object),
}

/// The shared items of an array.
#[derive(Clone, Default, PartialEq)]
pub struct Array(pub(crate) Arc<Vec<Value>>);

/// The shared members of an object.
#[derive(Clone, Default, PartialEq)]
pub struct Object(pub(crate) Arc<Map>);

impl Value {
    /// A string value.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// An array value.
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(Array::from(items))
    }

    /// An object value.
    pub fn object(members: Map) -> Self {
        Self::Object(Object::from(members))
    }

    /// The word JSON uses for this kind of value.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number as JavaScript would hold it, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// The number as an integer, if it is one exactly.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&Array> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The member `key`, if this is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object().and_then(|members| members.get(key))
    }

    /// The item at `index`, if this is an array that long.
    pub fn at(&self, index: usize) -> Option<&Self> {
        self.as_array().and_then(|items| items.as_slice().get(index))
    }

    /// The value at an RFC 6901 pointer such as `/tools/0/name`.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value {
                Self::Object(members) => members.get(&token),
                Self::Array(items) => items.as_slice().get(token.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }

    /// The bytes this value holds in memory, about; the measure behind the size limits.
    pub fn approximate_bytes(&self) -> usize {
        const CELL: usize = size_of::<Value>();
        let own = |value: &Self| match value {
            Self::Number(number) => CELL + number.heap_bytes(),
            Self::String(text) => CELL + text.len(),
            Self::Object(members) => {
                CELL + members.keys().map(|key| key.len() + CELL).sum::<usize>()
            }
            Self::Null | Self::Bool(_) | Self::Array(_) => CELL,
        };
        let mut total = own(self);
        self.walk(|_, value| {
            total += own(value);
            true
        });
        total
    }

    /// Whether arrays and objects nest deeper than `limit`.
    pub fn is_deeper_than(&self, limit: usize) -> bool {
        // It goes no deeper than the limit, so that the stack holds it.
        let is_too_deep = |inner: &Self| match limit.checked_sub(1) {
            Some(left) => inner.is_deeper_than(left),
            None => true,
        };
        match self {
            Self::Array(items) => items.iter().any(is_too_deep),
            Self::Object(members) => members.values().any(is_too_deep),
            _ => false,
        }
    }

    /// Shows every value inside this one, with its depth, for as long as it is told to go on;
    /// whether it was until the end.
    ///
    /// Nothing is allocated for a value that has no containers inside.
    pub fn walk<'v>(&'v self, mut look: impl FnMut(usize, &'v Self) -> bool) -> bool {
        let mut pending = Vec::new();
        let mut next = Some((self, 1));
        while let Some((value, depth)) = next.take().or_else(|| pending.pop()) {
            let mut see = |inner: &'v Self| {
                if matches!(inner, Self::Array(_) | Self::Object(_)) {
                    pending.push((inner, depth + 1));
                }
                look(depth, inner)
            };
            let goes_on = match value {
                Self::Array(items) => items.iter().all(&mut see),
                Self::Object(members) => members.values().all(&mut see),
                _ => true,
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Reads a JSON text.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value as JSON text on one line.
    pub fn to_json(&self) -> String {
        let mut text = Vec::new();
        self.write_json(&mut text);
        // It is made of texts.
        String::from_utf8(text).unwrap_or_default()
    }

    /// The value as indented JSON text.
    pub fn to_json_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

// === impl Array ===

impl Array {
    /// The items.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// Whether both are the same allocation: the cheap test that comes before a deep comparison.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The items for changing; copies the list (not the items) if it is shared.
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.0)
    }
}

impl Deref for Array {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Borrow<[Value]> for Array {
    fn borrow(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Self(Arc::new(items))
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

// === impl Object ===

impl Object {
    /// Whether both are the same allocation.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The members for changing; copies the table (not the members' values) if it is shared.
    pub fn make_mut(&mut self) -> &mut Map {
        Arc::make_mut(&mut self.0)
    }
}

impl Deref for Object {
    type Target = Map;

    fn deref(&self) -> &Map {
        &self.0
    }
}

impl From<Map> for Object {
    fn from(members: Map) -> Self {
        Self(Arc::new(members))
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter()).finish()
    }
}
