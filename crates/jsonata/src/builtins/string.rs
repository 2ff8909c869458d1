use std::sync::Arc;

use mcpgraph_value::Value;

use super::take;
use crate::error::Outcome;
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;
use crate::json;

pub(super) fn string(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, pretty] = take(arguments);
    match item {
        None => Ok(None),
        Some(Item::Value(Value::String(text))) => Ok(Some(Item::Value(Value::String(text)))),
        Some(item) => {
            let pretty = matches!(pretty, Some(Item::Value(Value::Bool(true))));
            let text = json::to_text(&item, pretty, &mut evaluator.budget)?;
            Ok(Some(Item::string(text)))
        }
    }
}

/// Applies `change` to the string that is the first argument.
fn changed(
    evaluator: &mut Evaluator<'_>,
    item: Option<&Item>,
    change: impl FnOnce(&str) -> String,
) -> Outcome<Option<Item>> {
    let Some(text) = item.and_then(Item::as_str) else { return Ok(None) };
    // Changing the case can lengthen a string, by less than this.
    evaluator.budget.steps(text.len() / 16)?;
    evaluator.budget.allocate(text.len())?;
    evaluator.string(change(text)).map(Some)
}

pub(super) fn lowercase(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    changed(evaluator, item.as_ref(), str::to_lowercase)
}

pub(super) fn uppercase(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    changed(evaluator, item.as_ref(), str::to_uppercase)
}

pub(super) fn trim(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    changed(evaluator, item.as_ref(), |text| {
        let blank = [' ', '\t', '\n', '\r'];
        text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    })
}

pub(super) fn length(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len() / 64)?;
    Ok(Some(Item::count(text.chars().count())))
}

pub(super) fn substring(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, start, length] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len() / 64)?;
    let count = text.chars().count() as f64;
    let Some(mut start) = start.as_ref().and_then(Item::as_f64) else {
        // Without a start there is no end either.
        return Ok(if length.is_some() { Some(Item::string("")) } else { item });
    };
    if count + start < 0.0 {
        start = 0.0;
    }
    let end = match length.as_ref().and_then(Item::as_f64) {
        Some(length) if length <= 0.0 => return Ok(Some(Item::string(""))),
        Some(length) if start >= 0.0 => start + length,
        Some(length) => count + start + length,
        None => count,
    };
    let from = slice_index(start, count);
    let to = slice_index(end, count);
    if from >= to {
        return Ok(Some(Item::string("")));
    }
    evaluator.string(chars_between(text, from, to)).map(Some)
}

/// An index as `Array.prototype.slice` reads it: whole, from the end if negative, within bounds.
fn slice_index(index: f64, count: f64) -> usize {
    let whole = index.trunc();
    let index = if whole < 0.0 { (count + whole).max(0.0) } else { whole.min(count) };
    index as usize
}

fn chars_between(text: &str, from: usize, to: usize) -> &str {
    if text.is_ascii() {
        return &text[from..to];
    }
    let mut places = text.char_indices().map(|(byte, _)| byte).skip(from);
    let start = places.next().unwrap_or(text.len());
    let end = places.nth(to - from - 1).unwrap_or(text.len());
    &text[start..end]
}

pub(super) fn substring_before(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    beside(evaluator, arguments, |text, place, _| &text[..place])
}

pub(super) fn substring_after(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    beside(evaluator, arguments, |text, place, length| &text[place + length..])
}

/// A part of the first string beside the place where the second is found in it.
fn beside(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    part: impl Fn(&str, usize, usize) -> &str,
) -> Outcome<Option<Item>> {
    let [item, mark] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len() / 64)?;
    // A missing mark is the text `undefined` in the reference.
    let mark: Arc<str> = match mark.as_ref().and_then(Item::as_str) {
        Some(mark) => mark.clone(),
        None => "undefined".into(),
    };
    match text.find(&*mark) {
        Some(place) => evaluator.string(part(text, place, mark.len())).map(Some),
        None => Ok(item),
    }
}

/// How many characters are written between two looks at the budget.
const PART: usize = 64 * 1024;

pub(super) fn pad(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, width, filler] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len() / 64)?;
    let width = width.as_ref().and_then(Item::as_f64).unwrap_or(0.0).trunc();
    let missing = width.abs() - text.chars().count() as f64;
    if missing <= 0.0 || missing.is_nan() {
        return Ok(item);
    }
    let filler: Vec<char> = match filler.as_ref().and_then(Item::as_str) {
        Some(filler) if !filler.is_empty() => filler.chars().collect(),
        _ => vec![' '],
    };
    // Charged before it is made: the width may be anything.
    let missing = missing as usize;
    evaluator.budget.allocate(missing.saturating_add(text.len()))?;
    let mut padding = String::new();
    let mut endless = filler.iter().cycle();
    let mut left = missing;
    while left > 0 {
        // In parts, between which the time is looked at.
        let part = left.min(PART);
        evaluator.budget.steps(part)?;
        padding.extend(endless.by_ref().take(part));
        left -= part;
    }
    let padded = if width > 0.0 { format!("{text}{padding}") } else { format!("{padding}{text}") };
    evaluator.string(padded).map(Some)
}

pub(super) fn join(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [array, separator] = take(arguments);
    let Some(items) = array.as_ref().and_then(Item::items) else { return Ok(None) };
    let separator = separator.as_ref().and_then(Item::as_str).map_or("", |text| &**text);
    let mut joined = String::new();
    for (index, item) in items.iter().enumerate() {
        let text = item.as_str().map_or("", |text| &**text);
        let before = if index == 0 { "" } else { separator };
        evaluator.budget.step()?;
        evaluator.budget.allocate(before.len() + text.len())?;
        joined.push_str(before);
        joined.push_str(text);
    }
    evaluator.string(joined).map(Some)
}
