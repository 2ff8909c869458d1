//! Equality, truth and numbers, as the operators see them.

use std::rc::Rc;

use mcpgraph_value::Value;

use crate::error::Outcome;
use crate::item::{Item, Items, Members};
use crate::json::out_of_range;
use crate::limits::Budget;
use crate::stack;

/// Whether two values are equal at any depth.
pub(crate) fn deep_equal(a: &Item, b: &Item, budget: &mut Budget) -> Outcome<bool> {
    if let (Item::Value(a), Item::Value(b)) = (a, b)
        && let Some(answer) = shallow_equal(a, b)
    {
        return Ok(answer);
    }
    if let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) {
        return Ok(a == b);
    }
    if let (Some(a), Some(b)) = (a.items(), b.items()) {
        return nested(budget, |budget| equal_items(a, b, budget));
    }
    if let (Some(a), Some(b)) = (a.members(), b.members()) {
        return nested(budget, |budget| equal_members(a, b, budget));
    }
    Ok(match (a, b) {
        (Item::Function(a), Item::Function(b)) => Rc::ptr_eq(a, b),
        (Item::Hole, Item::Hole) => true,
        _ => false,
    })
}

fn nested(
    budget: &mut Budget,
    compare: impl FnOnce(&mut Budget) -> Outcome<bool>,
) -> Outcome<bool> {
    budget.enter()?;
    let answer = stack::grow(|| compare(budget));
    budget.leave();
    answer
}

/// The answer, unless it lies inside both.
fn shallow_equal(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Null, Value::Null) => Some(true),
        (Value::Bool(a), Value::Bool(b)) => Some(a == b),
        (Value::Number(a), Value::Number(b)) => Some(a.as_f64() == b.as_f64()),
        (Value::String(a), Value::String(b)) => Some(a == b),
        (Value::Array(a), Value::Array(b)) if a.is_same(b) => Some(true),
        (Value::Object(a), Value::Object(b)) if a.is_same(b) => Some(true),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => None,
        _ => Some(false),
    }
}

fn equal_items(a: Items<'_>, b: Items<'_>, budget: &mut Budget) -> Outcome<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b.iter()) {
        budget.step()?;
        if !deep_equal(&a, &b, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_members(a: Members<'_>, b: Members<'_>, budget: &mut Budget) -> Outcome<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, a) in a.entries() {
        budget.step()?;
        let Some(b) = b.get(&key) else { return Ok(false) };
        if !deep_equal(&a, &b, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value as a boolean; false if there is none.
pub(crate) fn truth(item: Option<&Item>, budget: &mut Budget) -> Outcome<bool> {
    Ok(match item {
        None | Some(Item::Function(_) | Item::Hole) => false,
        Some(Item::Irregular(number)) if number.is_nan() => false,
        Some(Item::Irregular(number)) => return Err(out_of_range(*number)),
        Some(Item::Record(record)) => !record.0.is_empty(),
        Some(Item::Value(value)) => match value {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Number(number) => number.as_f64() != 0.0,
            Value::String(text) => !text.is_empty(),
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => return any_true(Items::Values(items), budget),
        },
        Some(Item::List(list)) => return any_true(Items::Items(&list.items), budget),
    })
}

fn any_true(items: Items<'_>, budget: &mut Budget) -> Outcome<bool> {
    budget.enter()?;
    let mut answer = Ok(false);
    for item in items.iter() {
        answer = budget.step().and_then(|()| stack::grow(|| truth(Some(&item), budget)));
        if !matches!(answer, Ok(false)) {
            break;
        }
    }
    budget.leave();
    answer
}

/// The number, if the value is one; an infinite one is an error.
pub(crate) fn as_number(item: &Item) -> Outcome<Option<f64>> {
    match item.as_f64() {
        Some(number) if number.is_infinite() => Err(out_of_range(number)),
        Some(number) if number.is_nan() => Ok(None),
        number => Ok(number),
    }
}

/// Whether JavaScript takes the value for true, where the reference does not convert it.
pub(crate) fn js_truth(item: Option<&Item>) -> bool {
    match item {
        None | Some(Item::Hole | Item::Value(Value::Null)) => false,
        Some(Item::Value(Value::Bool(flag))) => *flag,
        Some(Item::Value(Value::Number(number))) => number.as_f64() != 0.0,
        Some(Item::Value(Value::String(text))) => !text.is_empty(),
        Some(Item::Irregular(number)) => !number.is_nan(),
        Some(_) => true,
    }
}
