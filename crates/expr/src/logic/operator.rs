//! The operators that evaluate all their operands first.

use std::sync::Arc;

use mcpgraph_value::Value;

use super::coerce::{
    Js, less_than, loosely_equal, number_of, number_prefix_of, strictly_equal, text_of,
};
use crate::bounds::CELL;
use crate::budget::Meter;
use crate::{ExprError, Limit, code};

/// An operator that is a function of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    StrictlyEqual,
    NotEqual,
    StrictlyNotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Truthy,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Min,
    Max,
    Merge,
    In,
    Cat,
    Substr,
    Log,
}

impl Operator {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "==" => Self::Equal,
            "===" => Self::StrictlyEqual,
            "!=" => Self::NotEqual,
            "!==" => Self::StrictlyNotEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            "!!" => Self::Truthy,
            "!" => Self::Not,
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "%" => Self::Remainder,
            "min" => Self::Min,
            "max" => Self::Max,
            "merge" => Self::Merge,
            "in" => Self::In,
            "cat" => Self::Cat,
            "substr" => Self::Substr,
            "log" => Self::Log,
            _ => return None,
        })
    }

    pub(super) fn apply(self, operands: Vec<Js>, meter: &Meter<'_>) -> Result<Js, ExprError> {
        let [a, b, c] = [0, 1, 2].map(|index| operands.get(index).unwrap_or(&Js::Undefined));
        Ok(match self {
            Self::Equal => loosely_equal(a, b, meter)?.into(),
            Self::StrictlyEqual => strictly_equal(a, b).into(),
            Self::NotEqual => (!loosely_equal(a, b, meter)?).into(),
            Self::StrictlyNotEqual => (!strictly_equal(a, b)).into(),
            Self::Greater => less(b, a, meter)?.into(),
            Self::GreaterOrEqual => less_or_equal(b, a, meter)?.into(),
            Self::Less => between(a, b, c, less, meter)?.into(),
            Self::LessOrEqual => between(a, b, c, less_or_equal, meter)?.into(),
            Self::Truthy => a.truthy().into(),
            Self::Not => (!a.truthy()).into(),
            Self::Add => {
                let mut sum = 0.0;
                for operand in &operands {
                    sum += number_prefix_of(operand, meter)?;
                }
                Js::number(sum)
            }
            Self::Subtract if b.is_undefined() => Js::number(-number_of(a, meter)?),
            Self::Subtract => Js::number(number_of(a, meter)? - number_of(b, meter)?),
            // A single factor is not even read as a number.
            Self::Multiply if operands.len() == 1 => a.clone(),
            Self::Multiply => {
                let mut product = 1.0;
                for operand in &operands {
                    product *= number_prefix_of(operand, meter)?;
                }
                Js::number(product)
            }
            Self::Divide => Js::number(number_of(a, meter)? / number_of(b, meter)?),
            Self::Remainder => Js::number(number_of(a, meter)? % number_of(b, meter)?),
            Self::Min => extreme(&operands, f64::INFINITY, |a, b| a < b, meter)?,
            Self::Max => extreme(&operands, f64::NEG_INFINITY, |a, b| a > b, meter)?,
            Self::Merge => merge(operands, meter)?,
            Self::In => contains(b, a, meter)?.into(),
            Self::Cat => {
                let mut text = String::new();
                for operand in &operands {
                    if !operand.is_nullish() {
                        text.push_str(&text_of(operand, meter)?);
                    }
                }
                Js::Json(Value::string(text))
            }
            Self::Substr => Js::Json(substr(a, b, c, meter)?),
            Self::Log => a.clone(),
        })
    }
}

type Comparison = fn(&Js, &Js, &Meter<'_>) -> Result<bool, ExprError>;

fn less(a: &Js, b: &Js, meter: &Meter<'_>) -> Result<bool, ExprError> {
    Ok(less_than(a, b, meter)? == Some(true))
}

fn less_or_equal(a: &Js, b: &Js, meter: &Meter<'_>) -> Result<bool, ExprError> {
    Ok(less_than(b, a, meter)? == Some(false))
}

/// Two operands in order, or three.
fn between(
    a: &Js,
    b: &Js,
    c: &Js,
    compare: Comparison,
    meter: &Meter<'_>,
) -> Result<bool, ExprError> {
    Ok(compare(a, b, meter)? && (c.is_undefined() || compare(b, c, meter)?))
}

fn extreme(
    operands: &[Js],
    start: f64,
    better: fn(f64, f64) -> bool,
    meter: &Meter<'_>,
) -> Result<Js, ExprError> {
    let mut best = start;
    for operand in operands {
        let number = number_of(operand, meter)?;
        if number.is_nan() || better(number, best) {
            best = number;
        }
        if best.is_nan() {
            break;
        }
    }
    Ok(Js::number(best))
}

fn merge(operands: Vec<Js>, meter: &Meter<'_>) -> Result<Js, ExprError> {
    let mut merged = Vec::new();
    for operand in operands {
        match operand.into_json() {
            Value::Array(items) => {
                meter.spend(items.len() * CELL)?;
                merged.extend_from_slice(&items);
            }
            other => merged.push(other),
        }
        let limit = meter.env.budget.sequence;
        if merged.len() > limit {
            let message = format!("a list has more than the limit of {limit} items");
            return Err(ExprError::exceeded(code::SEQUENCE, Limit::Sequence, message));
        }
    }
    Ok(Js::Json(Value::array(merged)))
}

/// Whether a text has a part or a list an item; nothing else has anything in it.
fn contains(whole: &Js, part: &Js, meter: &Meter<'_>) -> Result<bool, ExprError> {
    match whole {
        Js::Json(Value::String(text)) if !text.is_empty() => {
            Ok(text.contains(&*text_of(part, meter)?))
        }
        Js::Json(Value::Array(items)) => {
            Ok(items.iter().any(|item| strictly_equal(&Js::Json(item.clone()), part)))
        }
        _ => Ok(false),
    }
}

/// JavaScript's `substr`, which counts UTF-16 units; a negative length leaves off that many.
fn substr(source: &Js, start: &Js, length: &Js, meter: &Meter<'_>) -> Result<Value, ExprError> {
    let text: Arc<str> = text_of(source, meter)?;
    meter.spend(2 * text.len())?;
    let units: Vec<u16> = text.encode_utf16().collect();
    let rest = part(&units, start, &Js::Undefined, meter)?;
    let taken = if less(length, &Js::number(0.0), meter)? {
        // Where the length is not a number JavaScript joins texts, from which no number comes.
        let left = match length {
            Js::Json(Value::Number(_)) | Js::Number(_) => number_of(length, meter)?,
            _ => f64::NAN,
        };
        part(rest, &Js::number(0.0), &Js::number(rest.len() as f64 + left), meter)?
    } else {
        part(rest, &Js::number(0.0), length, meter)?
    };
    Ok(Value::string(String::from_utf16_lossy(taken)))
}

fn part<'a>(
    units: &'a [u16],
    start: &Js,
    length: &Js,
    meter: &Meter<'_>,
) -> Result<&'a [u16], ExprError> {
    let size = units.len() as f64;
    let whole = |number: f64| if number.is_nan() { 0.0 } else { number.trunc() };
    let start = whole(number_of(start, meter)?);
    let start = if start < 0.0 { (size + start).max(0.0) } else { start.min(size) };
    let length = match length {
        Js::Undefined => size,
        _ => whole(number_of(length, meter)?),
    };
    let end = (start + length.max(0.0)).min(size);
    Ok(&units[start as usize..end as usize])
}
