//! Functions that take functions.

use std::rc::Rc;

use mcpgraph_value::Value;

use super::take;
use crate::compare::{as_number, js_truth, truth};
use crate::error::{Outcome, fail};
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::{Arguments, Function};
use crate::item::{Item, Items, Members, Record};
use crate::js;

/// Calls `function` with every item, its index and the array.
fn for_each(
    evaluator: &mut Evaluator<'_>,
    array: &Item,
    function: &Rc<Function>,
    scope: &Scope,
    mut visit: impl FnMut(&mut Evaluator<'_>, Item, Option<Item>) -> Outcome<()>,
) -> Outcome<()> {
    let Some(items) = array.items() else { return Ok(()) };
    let arity = function.arity();
    for (index, item) in items.iter().enumerate() {
        let value = item.clone().present();
        let result = match arity {
            0 | 1 => evaluator.call_with(function, vec![value], scope)?,
            _ => {
                let arguments = [value, Some(Item::count(index)), Some(array.clone())];
                evaluator.call_back(function, arguments, scope)?
            }
        };
        visit(evaluator, item, result)?;
    }
    Ok(())
}

pub(super) fn map(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [array, function] = take(arguments);
    let (Some(array), Some(Item::Function(function))) = (array, function) else { return Ok(None) };
    let mut results = Vec::new();
    for_each(evaluator, &array, &function, scope, |evaluator, _, result| match result {
        Some(result) => evaluator.push(&mut results, result),
        None => Ok(()),
    })?;
    Ok(Some(Item::sequence(results)))
}

pub(super) fn filter(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [array, function] = take(arguments);
    let (Some(array), Some(Item::Function(function))) = (array, function) else { return Ok(None) };
    let mut results = Vec::new();
    for_each(evaluator, &array, &function, scope, |evaluator, item, verdict| {
        if truth(verdict.as_ref(), &mut evaluator.budget)? {
            evaluator.push(&mut results, item)?;
        }
        Ok(())
    })?;
    Ok(Some(Item::sequence(results)))
}

pub(super) fn single(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [array, function] = take(arguments);
    let Some(array) = array else { return Ok(None) };
    let mut matching: Vec<Item> = Vec::new();
    let mut add = |item: Item| {
        matching.push(item);
        if matching.len() > 1 {
            return Err(fail("D3138", "`$single` expects one match and found more"));
        }
        Ok(())
    };
    match function {
        Some(Item::Function(function)) => {
            for_each(evaluator, &array, &function, scope, |evaluator, item, verdict| {
                if truth(verdict.as_ref(), &mut evaluator.budget)? { add(item) } else { Ok(()) }
            })?;
        }
        _ => {
            for item in array.items().into_iter().flat_map(Items::iter) {
                add(item)?;
            }
        }
    }
    match matching.pop() {
        Some(item) => Ok(item.present()),
        None => Err(fail("D3139", "`$single` expects one match and found none")),
    }
}

pub(super) fn reduce(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [array, function, start] = take(arguments);
    let (Some(array), Some(Item::Function(function))) = (array, function) else { return Ok(None) };
    let Some(items) = array.items() else { return Ok(None) };
    let arity = function.arity();
    if arity < 2 {
        let message = "the second argument must be a function of at least two arguments";
        return Err(fail("D3050", message));
    }
    let (mut result, skip) = match start {
        None => (items.get(0), 1),
        start => (start, 0),
    };
    for (index, item) in items.iter().enumerate().skip(skip) {
        let mut arguments = evaluator.spare.arguments();
        arguments.extend([result, item.present()]);
        if arity >= 3 {
            arguments.push(Some(Item::count(index)));
        }
        if arity >= 4 {
            arguments.push(Some(array.clone()));
        }
        result = evaluator.call_with(&function, arguments, scope)?;
    }
    Ok(result)
}

/// Calls `function` with the value, the key and the object of every member.
fn for_each_member(
    evaluator: &mut Evaluator<'_>,
    object: &Item,
    function: &Rc<Function>,
    scope: &Scope,
    mut visit: impl FnMut(&mut Evaluator<'_>, std::sync::Arc<str>, Item, Option<Item>) -> Outcome<()>,
) -> Outcome<()> {
    for (key, member) in object.members().into_iter().flat_map(Members::entries) {
        let arguments = [
            member.clone().present(),
            Some(Item::Value(Value::String(key.clone()))),
            Some(object.clone()),
        ];
        let result = evaluator.call_back(function, arguments, scope)?;
        visit(evaluator, key, member, result)?;
    }
    Ok(())
}

pub(super) fn each(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [object, function] = take(arguments);
    let mut results = Vec::new();
    if let (Some(object), Some(Item::Function(function))) = (object, function) {
        for_each_member(
            evaluator,
            &object,
            &function,
            scope,
            |evaluator, _, _, result| match result {
                Some(result) => evaluator.push(&mut results, result),
                None => Ok(()),
            },
        )?;
    }
    Ok(Some(Item::sequence(results)))
}

pub(super) fn sift(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [object, function] = take(arguments);
    let Some(object) = object else { return Ok(None) };
    let Some(Item::Function(function)) = function else {
        // Without members there is nothing to call a function with.
        return match object.members() {
            Some(members) if members.len() > 0 => {
                Err(fail("T0410", "argument 2 does not match the signature of the function"))
            }
            _ => Ok(None),
        };
    };
    let mut record = Record::default();
    for_each_member(evaluator, &object, &function, scope, |evaluator, key, member, verdict| {
        if truth(verdict.as_ref(), &mut evaluator.budget)? {
            evaluator.budget.allocate(2 * size_of::<Item>())?;
            record.0.insert(key, member);
        }
        Ok(())
    })?;
    Ok(if record.0.is_empty() { None } else { Some(Item::object(record)) })
}

pub(super) fn sort(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [array, function] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items).filter(|items| items.len() > 1) else {
        return Ok(array);
    };
    let items = items.to_vec();
    evaluator.budget.allocate(items.len() * size_of::<Item>())?;
    if let Some(Item::Function(function)) = function {
        let sorted = evaluator.merge_sort(items, |evaluator, a, b| {
            let arguments = vec![a.clone().present(), b.clone().present()];
            let after = evaluator.call_with(&function, arguments, scope)?;
            Ok(js_truth(after.as_ref()))
        })?;
        return Ok(Some(Item::array(sorted)));
    }
    let mut all_numbers = true;
    for item in &items {
        all_numbers &= as_number(item)?.is_some();
    }
    if !all_numbers && !items.iter().all(|item| item.as_str().is_some()) {
        let message = "an array of anything but numbers or strings needs a function to compare \
                       its items";
        return Err(fail("D3070", message));
    }
    let sorted = evaluator.merge_sort(items, |_, a, b| {
        Ok(match (a.as_f64(), b.as_f64(), a.as_str(), b.as_str()) {
            (Some(a), Some(b), ..) => a > b,
            (.., Some(a), Some(b)) => js::text::compare(a, b).is_gt(),
            _ => false,
        })
    })?;
    Ok(Some(Item::array(sorted)))
}
