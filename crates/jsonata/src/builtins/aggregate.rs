use super::take;
use crate::error::Outcome;
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::{Item, Items};

/// Folds numbers; nothing if there is no array.
fn fold(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    start: f64,
    mut combine: impl FnMut(f64, f64) -> f64,
) -> Outcome<Option<(f64, usize)>> {
    let [array] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items) else { return Ok(None) };
    evaluator.budget.steps(items.len())?;
    let mut result = start;
    for number in items.iter().filter_map(|item| item.as_f64()) {
        result = combine(result, number);
    }
    Ok(Some((result, items.len())))
}

pub(super) fn sum(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let total = fold(evaluator, arguments, 0.0, |a, b| a + b)?;
    Ok(total.map(|(total, _)| Item::number(total)))
}

pub(super) fn average(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let total = fold(evaluator, arguments, 0.0, |a, b| a + b)?;
    Ok(total
        .filter(|(_, count)| *count > 0)
        .map(|(total, count)| Item::number(total / count as f64)))
}

pub(super) fn max(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let largest = fold(evaluator, arguments, f64::NEG_INFINITY, |a, b| {
        if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
    })?;
    Ok(largest.filter(|(_, count)| *count > 0).map(|(largest, _)| Item::number(largest)))
}

pub(super) fn min(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let smallest = fold(evaluator, arguments, f64::INFINITY, |a, b| {
        if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
    })?;
    Ok(smallest.filter(|(_, count)| *count > 0).map(|(smallest, _)| Item::number(smallest)))
}

pub(super) fn count(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array] = take(arguments);
    let count = array.as_ref().and_then(Item::items).map_or(0, Items::len);
    Ok(Some(Item::count(count)))
}
