use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::take;
use crate::error::Outcome;
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::{Item, Members, Record};
use crate::stack;

/// About what one member of an object takes besides its key and value.
const MEMBER_BYTES: usize = 80;

pub(super) fn keys(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    let mut record = Record::default();
    if let Some(item) = item {
        collect_keys(evaluator, &item, &mut record.0)?;
    }
    let merged = Item::object(record);
    let mut keys = Vec::new();
    for (key, _) in merged.members().into_iter().flat_map(Members::entries) {
        evaluator.push(&mut keys, Item::string(key))?;
    }
    Ok(Some(Item::sequence(keys)))
}

fn collect_keys(
    evaluator: &mut Evaluator<'_>,
    item: &Item,
    keys: &mut IndexMap<Arc<str>, Item, RandomState>,
) -> Outcome<()> {
    evaluator.budget.enter()?;
    if let Some(members) = item.members() {
        for (key, _) in members.entries() {
            evaluator.budget.step()?;
            evaluator.budget.allocate(MEMBER_BYTES)?;
            keys.entry(key).or_insert_with(Item::null);
        }
    } else if let Some(items) = item.items() {
        for item in items.iter() {
            stack::grow(|| collect_keys(evaluator, &item, keys))?;
        }
    }
    evaluator.budget.leave();
    Ok(())
}

pub(super) fn lookup(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, key] = take(arguments);
    let Some(key) = key.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.lookup(item.as_ref(), key)
}

pub(super) fn spread(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    let Some(item) = item else { return Ok(None) };
    if item.members().is_none() && !item.is_array() {
        return Ok(Some(item));
    }
    let mut results = Vec::new();
    let is_array = item.items().is_some_and(|items| !items.is_empty());
    spread_into(evaluator, item, &mut results)?;
    Ok(Some(if !is_array { Item::sequence(results) } else { Item::array(results) }))
}

fn spread_into(evaluator: &mut Evaluator<'_>, item: Item, results: &mut Vec<Item>) -> Outcome<()> {
    if let Some(members) = item.members() {
        for (key, member) in members.entries() {
            let mut record = Record::default();
            record.0.insert(key, member);
            evaluator.budget.allocate(MEMBER_BYTES * 2)?;
            evaluator.push(results, Item::object(record))?;
        }
        return Ok(());
    }
    let Some(items) = item.items() else { return evaluator.push(results, item) };
    evaluator.budget.enter()?;
    for item in items.iter() {
        stack::grow(|| spread_into(evaluator, item, results))?;
    }
    evaluator.budget.leave();
    Ok(())
}

pub(super) fn merge(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items) else { return Ok(None) };
    let mut record = Record::default();
    for item in items.iter() {
        for (key, member) in item.members().into_iter().flat_map(Members::entries) {
            evaluator.budget.step()?;
            evaluator.budget.allocate(MEMBER_BYTES)?;
            record.0.insert(key, member);
        }
    }
    Ok(Some(Item::object(record)))
}

pub(super) fn clone(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    match item {
        Some(item) => evaluator.deep_copy(&item).map(|copy| Some(Item::Value(copy))),
        None => Ok(None),
    }
}
