//! The values of an evaluation: JSON data, and what exists only while evaluating.

use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mcpgraph_value::{Map, Number, Value};

use crate::function::Function;
use crate::stack;

/// One value. That there is none ("undefined") is said with `Option`.
#[derive(Clone)]
pub(crate) enum Item {
    /// Data, shared with the input or computed.
    Value(Value),
    /// A number JSON cannot write: NaN or an infinity.
    Irregular(f64),
    /// An array that is a sequence or holds more than data.
    List(Rc<List>),
    /// An object that holds more than data.
    Record(Rc<Record>),
    /// A function.
    Function(Rc<Function>),
    /// No value, inside an array that has a place for one.
    Hole,
}

/// The members of a [`Item::Record`].
#[derive(Clone, Default)]
pub(crate) struct Record(pub(crate) IndexMap<Arc<str>, Item, RandomState>);

/// An array made by the evaluation.
#[derive(Clone, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
    /// Whether a single item stands for itself and none for no value.
    pub(crate) is_sequence: bool,
    /// Whether a sequence of one stays an array.
    pub(crate) keep_singleton: bool,
    /// Whether it was written as an array and is one item of the path around it.
    pub(crate) is_cons: bool,
    /// Whether it only wraps an input that is an array.
    pub(crate) is_wrapper: bool,
}

/// The items of any array.
#[derive(Clone, Copy)]
pub(crate) enum Items<'i> {
    Values(&'i [Value]),
    Items(&'i [Item]),
}

/// The members of any object.
#[derive(Clone, Copy)]
pub(crate) enum Members<'i> {
    Values(&'i Map),
    Items(&'i Record),
}

impl List {
    pub(crate) fn sequence(items: Vec<Item>) -> Self {
        Self { items, is_sequence: true, ..Self::default() }
    }
}

impl Item {
    pub(crate) fn null() -> Self {
        Self::Value(Value::Null)
    }

    pub(crate) fn bool(flag: bool) -> Self {
        Self::Value(Value::Bool(flag))
    }

    pub(crate) fn number(number: f64) -> Self {
        match Number::from_f64(number) {
            Some(number) => Self::Value(Value::Number(number)),
            None => Self::Irregular(number),
        }
    }

    pub(crate) fn count(count: usize) -> Self {
        Self::Value(Value::from(count))
    }

    pub(crate) fn string(text: impl Into<Arc<str>>) -> Self {
        Self::Value(Value::String(text.into()))
    }

    pub(crate) fn sequence(items: Vec<Self>) -> Self {
        Self::List(Rc::new(List::sequence(items)))
    }

    /// An array that is not a sequence.
    pub(crate) fn array(items: Vec<Self>) -> Self {
        if items.iter().all(|item| matches!(item, Self::Value(_))) {
            let values = items.into_iter().filter_map(Self::into_data).collect();
            return Self::Value(Value::array(values));
        }
        Self::List(Rc::new(List { items, ..List::default() }))
    }

    pub(crate) fn function(function: Function) -> Self {
        Self::Function(Rc::new(function))
    }

    /// An object of members whose keys are all different.
    pub(crate) fn from_entries(mut entries: Vec<(Arc<str>, Self)>) -> Self {
        if entries.iter().any(|(key, _)| array_index(key).is_some()) {
            entries.sort_by(|(a, _), (b, _)| index_order(a, b));
        }
        if entries.iter().all(|(_, item)| matches!(item, Self::Value(_))) {
            let data = entries.into_iter().filter_map(|(key, item)| Some((key, item.into_data()?)));
            return Self::Value(Value::object(data.collect()));
        }
        Self::Record(Rc::new(Record(entries.into_iter().collect())))
    }

    /// An object; keys that are array indices come first, as in JavaScript.
    pub(crate) fn object(mut members: Record) -> Self {
        Self::from_entries(members.0.drain(..).collect())
    }

    fn into_data(self) -> Option<Value> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    /// Whether dropping it may drop others of its kind.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, Self::List(_) | Self::Record(_) | Self::Function(_))
    }

    /// The item, unless it is a place without one.
    pub(crate) fn present(self) -> Option<Self> {
        if matches!(self, Self::Hole) { None } else { Some(self) }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Value(Value::Number(number)) => Some(number.as_f64()),
            Self::Irregular(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&Arc<str>> {
        if let Self::Value(Value::String(text)) = self { Some(text) } else { None }
    }

    pub(crate) fn as_function(&self) -> Option<&Rc<Function>> {
        if let Self::Function(function) = self { Some(function) } else { None }
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Value(Value::Array(_)) | Self::List(_))
    }

    pub(crate) fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }

    pub(crate) fn is_sequence(&self) -> bool {
        matches!(self, Self::List(list) if list.is_sequence)
    }

    /// The items, if it is an array.
    pub(crate) fn items(&self) -> Option<Items<'_>> {
        match self {
            Self::Value(Value::Array(values)) => Some(Items::Values(values)),
            Self::List(list) => Some(Items::Items(&list.items)),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub(crate) fn members(&self) -> Option<Members<'_>> {
        match self {
            Self::Value(Value::Object(members)) => Some(Members::Values(members)),
            Self::Record(members) => Some(Members::Items(members)),
            _ => None,
        }
    }

    /// As data: functions inside become empty strings, as `$string` writes them; a function by
    /// itself is nothing.
    pub(crate) fn into_value(self) -> Option<Value> {
        match self {
            Self::Function(_) | Self::Hole => None,
            item => Some(item.as_data()),
        }
    }

    fn as_data(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Irregular(_) | Self::Hole => Value::Null,
            Self::Function(_) => Value::string(""),
            Self::List(list) if list.is_wrapper => {
                list.items.first().map_or(Value::Null, Self::as_data)
            }
            Self::List(list) => {
                stack::grow(|| Value::array(list.items.iter().map(Self::as_data).collect()))
            }
            Self::Record(members) => stack::grow(|| {
                let data = members.0.iter().map(|(key, item)| (key.clone(), item.as_data()));
                Value::object(data.collect())
            }),
        }
    }
}

// Lists and records can nest as deep as an evaluation is long; dropping them must not overflow
// the stack.

impl Drop for List {
    fn drop(&mut self) {
        drop_deep(&mut self.items, |items| items.iter().any(Item::is_nested));
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        drop_deep(&mut self.0, |members| members.values().any(Item::is_nested));
    }
}

fn drop_deep<T: Default>(content: &mut T, is_nested: impl Fn(&T) -> bool) {
    if is_nested(content) {
        let content = std::mem::take(content);
        stack::grow(|| drop(content));
    }
}

impl From<Value> for Item {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'i> Items<'i> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Items(items) => items.len(),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The item at `index`; holes and what lies outside are both nothing.
    pub(crate) fn get(self, index: usize) -> Option<Item> {
        match self {
            Self::Values(values) => values.get(index).cloned().map(Item::Value),
            Self::Items(items) => items.get(index).cloned().and_then(Item::present),
        }
    }

    /// The items, shared; holes stay.
    pub(crate) fn iter(self) -> impl Iterator<Item = Item> + use<'i> {
        let (values, items): (&[Value], &[Item]) = match self {
            Self::Values(values) => (values, &[]),
            Self::Items(items) => (&[], items),
        };
        values.iter().cloned().map(Item::Value).chain(items.iter().cloned())
    }

    pub(crate) fn to_vec(self) -> Vec<Item> {
        match self {
            Self::Values(values) => values.iter().cloned().map(Item::Value).collect(),
            Self::Items(items) => items.to_vec(),
        }
    }
}

impl Members<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Values(members) => members.len(),
            Self::Items(members) => members.0.len(),
        }
    }

    pub(crate) fn get(self, key: &str) -> Option<Item> {
        match self {
            Self::Values(members) => members.get(key).cloned().map(Item::Value),
            Self::Items(members) => members.0.get(key).cloned().and_then(Item::present),
        }
    }

    /// Whether there are keys that JavaScript puts first.
    pub(crate) fn has_indices(self) -> bool {
        match self {
            Self::Values(members) => members.keys().any(|key| array_index(key).is_some()),
            Self::Items(members) => members.0.keys().any(|key| array_index(key).is_some()),
        }
    }

    /// The members in the order JavaScript has: keys that are array indices first.
    pub(crate) fn entries(self) -> Vec<(Arc<str>, Item)> {
        let mut entries: Vec<_> = match self {
            Self::Values(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), Item::Value(value.clone())))
                .collect(),
            Self::Items(members) => {
                members.0.iter().map(|(key, item)| (key.clone(), item.clone())).collect()
            }
        };
        if self.has_indices() {
            entries.sort_by(|(a, _), (b, _)| index_order(a, b));
        }
        entries
    }
}

/// The number a key is, if JavaScript would treat it as an array index.
fn array_index(key: &str) -> Option<u32> {
    if !key.starts_with(|c: char| c.is_ascii_digit()) || (key.len() > 1 && key.starts_with('0')) {
        return None;
    }
    key.parse().ok().filter(|&index| index != u32::MAX)
}

/// Array indices by number, before all other keys, which keep their order.
fn index_order(a: &str, b: &str) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    match (array_index(a), array_index(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
