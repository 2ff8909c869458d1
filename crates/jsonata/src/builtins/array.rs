use std::collections::HashSet;
use std::sync::Arc;

use mcpgraph_value::Value;

use super::take;
use crate::compare::deep_equal;
use crate::error::Outcome;
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::{Item, Items};

pub(super) fn append(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [first, second] = take(arguments);
    let (Some(first), Some(second)) = (&first, &second) else { return Ok(first.or(second)) };
    let mut all = Vec::new();
    evaluator.extend(&mut all, first.clone())?;
    evaluator.extend(&mut all, second.clone())?;
    Ok(Some(Item::array(all)))
}

pub(super) fn reverse(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items).filter(|items| items.len() > 1) else {
        return Ok(array);
    };
    let mut items = copied(evaluator, items)?;
    items.reverse();
    Ok(Some(Item::array(items)))
}

pub(super) fn shuffle(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items).filter(|items| items.len() > 1) else {
        return Ok(array);
    };
    let mut items = copied(evaluator, items)?;
    evaluator.random.shuffle(&mut items);
    Ok(Some(Item::array(items)))
}

fn copied(evaluator: &mut Evaluator<'_>, items: Items<'_>) -> Outcome<Vec<Item>> {
    evaluator.budget.steps(items.len())?;
    evaluator.budget.allocate(items.len() * size_of::<Item>())?;
    Ok(items.to_vec())
}

pub(super) fn zip(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let arrays: Vec<Option<Items<'_>>> =
        arguments.iter().map(|item| item.as_ref().and_then(Item::items)).collect();
    let shortest = arrays.iter().map(|items| items.map_or(0, Items::len)).min().unwrap_or(0);
    let mut rows = Vec::new();
    for index in 0..shortest {
        let row = arrays
            .iter()
            .map(|items| items.and_then(|items| items.get(index)).unwrap_or(Item::Hole))
            .collect::<Vec<_>>();
        evaluator.budget.allocate(row.len() * size_of::<Item>())?;
        evaluator.push(&mut rows, Item::array(row))?;
    }
    Ok(Some(Item::array(rows)))
}

/// A simple value that can be looked up.
#[derive(PartialEq, Eq, Hash)]
enum Simple {
    Null,
    Bool(bool),
    Number(u64),
    String(Arc<str>),
}

impl Simple {
    fn of(item: &Item) -> Option<Self> {
        match item {
            Item::Value(Value::Null) => Some(Self::Null),
            Item::Value(Value::Bool(flag)) => Some(Self::Bool(*flag)),
            // Adding zero makes one of the two zeros.
            Item::Value(Value::Number(number)) => {
                Some(Self::Number((number.as_f64() + 0.0).to_bits()))
            }
            Item::Value(Value::String(text)) => Some(Self::String(text.clone())),
            _ => None,
        }
    }
}

pub(super) fn distinct(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items).filter(|items| items.len() > 1) else {
        return Ok(array);
    };
    let mut simple = HashSet::new();
    let mut others: Vec<Item> = Vec::new();
    let mut results = Vec::new();
    'items: for item in items.iter() {
        match Simple::of(&item) {
            Some(key) => {
                evaluator.budget.allocate(size_of::<Simple>())?;
                if !simple.insert(key) {
                    continue;
                }
            }
            None => {
                for other in &others {
                    evaluator.budget.step()?;
                    if deep_equal(&item, other, &mut evaluator.budget)? {
                        continue 'items;
                    }
                }
                others.push(item.clone());
            }
        }
        evaluator.push(&mut results, item)?;
    }
    let is_sequence = array.as_ref().is_some_and(Item::is_sequence);
    Ok(Some(if is_sequence { Item::sequence(results) } else { Item::array(results) }))
}
