use mcpgraph_value::Value;

use super::take;
use crate::error::{Outcome, fail};
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;
use crate::picture::datetime::DatePicture;
use crate::picture::parse;

fn formatted(
    evaluator: &mut Evaluator<'_>,
    millis: f64,
    picture: Option<&Item>,
    timezone: Option<&Item>,
) -> Outcome<Option<Item>> {
    let timezone = timezone.and_then(Item::as_str).map(|text| &**text);
    let budget = &mut evaluator.budget;
    let text = match picture.and_then(Item::as_str) {
        Some(picture) => {
            budget.steps(picture.len())?;
            DatePicture::parse(picture)?.format(millis, timezone, budget)?
        }
        None => DatePicture::iso_8601()?.format(millis, timezone, budget)?,
    };
    evaluator.string(text).map(Some)
}

pub(super) fn now(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [picture, timezone] = take(arguments);
    let millis = evaluator.environment.now_millis as f64;
    formatted(evaluator, millis, picture.as_ref(), timezone.as_ref())
}

pub(super) fn millis(
    evaluator: &mut Evaluator<'_>,
    _: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    Ok(Some(Item::Value(Value::from(evaluator.environment.now_millis))))
}

pub(super) fn from_millis(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [millis, picture, timezone] = take(arguments);
    match millis.as_ref().and_then(Item::as_f64) {
        Some(millis) => formatted(evaluator, millis, picture.as_ref(), timezone.as_ref()),
        None => Ok(None),
    }
}

pub(super) fn to_millis(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, picture] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len())?;
    if let Some(picture) = picture.as_ref().and_then(Item::as_str) {
        evaluator.budget.steps(picture.len())?;
        let picture = DatePicture::parse(picture)?;
        let millis = picture.read(text, evaluator.environment.now_millis)?;
        return Ok(millis.map(Item::number));
    }
    match parse::parse_iso_8601(text) {
        Some(millis) => Ok(Some(Item::number(millis))),
        None => {
            let mut failure = fail("D3110", "the text is not a time in the form of ISO 8601");
            failure.value = Some(Value::String(text.clone()));
            Err(failure)
        }
    }
}
