use mcpgraph_value::Value;

use super::take;
use crate::compare::{as_number, truth};
use crate::error::{Outcome, fail};
use crate::eval::{Evaluator, wrap_array};
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;
use crate::plan::{self, Embedding};
use crate::syntax;

pub(super) fn boolean(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    match item {
        Some(item) => Ok(Some(Item::bool(truth(Some(&item), &mut evaluator.budget)?))),
        None => Ok(None),
    }
}

pub(super) fn not(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    match item {
        Some(item) => Ok(Some(Item::bool(!truth(Some(&item), &mut evaluator.budget)?))),
        None => Ok(None),
    }
}

pub(super) fn exists(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    Ok(Some(Item::bool(item.is_some())))
}

pub(super) fn type_name(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    let Some(item) = item else { return Ok(None) };
    as_number(&item)?;
    Ok(Some(Item::string(match &item {
        Item::Value(value) => value.type_name(),
        Item::List(_) => "array",
        Item::Function(_) => "function",
        Item::Record(_) | Item::Irregular(_) | Item::Hole => "object",
    })))
}

pub(super) fn error(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [message] = take(arguments);
    Err(fail("D3137", message_or(message.as_ref(), "$error() was called")))
}

pub(super) fn assert(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [condition, message] = take(arguments);
    if matches!(condition, Some(Item::Value(Value::Bool(true)))) {
        return Ok(None);
    }
    Err(fail("D3141", message_or(message.as_ref(), "the condition of $assert() is not true")))
}

fn message_or(message: Option<&Item>, default: &str) -> String {
    match message.and_then(Item::as_str) {
        Some(message) if !message.is_empty() => message.to_string(),
        _ => default.to_owned(),
    }
}

/// Evaluates a text as an expression, in the scope and, unless another is given, the context of
/// the call.
pub(super) fn eval(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    context: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [source, focus] = take(arguments);
    let Some(source) = source.as_ref().and_then(Item::as_str) else { return Ok(None) };
    let input = match focus {
        Some(focus) => Some(wrap_array(focus)),
        None => context.cloned(),
    };
    evaluator.budget.steps(source.len())?;
    evaluator.budget.allocate(source.len().saturating_mul(16))?;
    let plan = syntax::parse(source).and_then(|syntax| plan::lower(&syntax, Embedding::Nested));
    let plan = plan.map_err(|errors| {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        let mut failure =
            fail("D3120", format!("the text given to $eval is no expression: {first}"));
        failure.value = errors.first().map(|error| Value::from(error.message.as_str()));
        failure
    })?;
    evaluator.eval(&plan.root, input.as_ref(), scope).map_err(|inner| {
        if inner.is_limit() {
            return inner;
        }
        let message = format!("the expression given to $eval failed: {}", *inner);
        let mut failure = fail("D3121", message);
        failure.value = Some(Value::from(inner.message.as_str()));
        failure
    })
}
