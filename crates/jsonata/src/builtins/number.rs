use mcpgraph_value::Value;

use super::take;
use crate::error::{Failure, Outcome, fail};
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;
use crate::js;
use crate::picture::integer::IntegerFormat;
use crate::picture::{number as number_picture, parse};

fn with_value(mut failure: Failure, value: f64) -> Failure {
    failure.value = Some(Value::from(value));
    failure
}

/// Applies a function to the number that is the first argument.
fn mapped(arguments: Arguments, compute: impl FnOnce(f64) -> f64) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    Ok(item.as_ref().and_then(Item::as_f64).map(|number| Item::number(compute(number))))
}

pub(super) fn floor(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    mapped(arguments, f64::floor)
}

pub(super) fn ceil(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    mapped(arguments, f64::ceil)
}

pub(super) fn abs(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    mapped(arguments, f64::abs)
}

pub(super) fn random(
    evaluator: &mut Evaluator<'_>,
    _: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    Ok(Some(Item::number(evaluator.random.f64())))
}

pub(super) fn sqrt(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    match item.as_ref().and_then(Item::as_f64) {
        None => Ok(None),
        Some(number) if number < 0.0 => {
            Err(with_value(fail("D3060", "a negative number has no square root"), number))
        }
        Some(number) => Ok(Some(Item::number(number.sqrt()))),
    }
}

pub(super) fn power(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [base, exponent] = take(arguments);
    let Some(base) = base.as_ref().and_then(Item::as_f64) else { return Ok(None) };
    let exponent = exponent.as_ref().and_then(Item::as_f64).unwrap_or(f64::NAN);
    let result = base.powf(exponent);
    // One to an infinite or missing power is not a number in JavaScript.
    if !result.is_finite() || !exponent.is_finite() {
        let message = format!("{base} to the power of {exponent} is not a number JSON can write");
        return Err(with_value(fail("D3061", message), base));
    }
    Ok(Some(Item::number(result)))
}

pub(super) fn round(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, precision] = take(arguments);
    let precision = precision.as_ref().and_then(Item::as_f64).unwrap_or(0.0);
    Ok(item.as_ref().and_then(Item::as_f64).map(|number| Item::number(round_to(number, precision))))
}

/// Rounds to a number of decimal places, halves to the even neighbour.
pub(crate) fn round_to(number: f64, precision: f64) -> f64 {
    // The point is moved in the decimal text, since multiplying would add an error of its own.
    let shifted = |number: f64, by: f64| -> f64 {
        if by == 0.0 {
            return number;
        }
        let text = js::number::to_string(number);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent = exponent.parse::<f64>().unwrap_or(0.0) + by;
        // Such an exponent would be written in a way that no number has.
        if exponent.fract() != 0.0 || exponent.abs() >= 1e21 {
            return f64::NAN;
        }
        format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
    };
    let moved = shifted(number, precision);
    let mut result = js::number::round_half_up(moved);
    if (result - moved).abs() == 0.5 && (result % 2.0).abs() == 1.0 {
        result -= 1.0;
    }
    let result = shifted(result, -precision);
    if result == 0.0 { 0.0 } else { result }
}

pub(super) fn number(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item] = take(arguments);
    let Some(item) = item else { return Ok(None) };
    let number = match &item {
        Item::Value(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
        Item::Value(Value::String(text)) => read_number(text),
        Item::Value(Value::Number(_)) | Item::Irregular(_) => return Ok(Some(item)),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(Item::number(number))),
        None => {
            let mut failure = fail("D3030", "the value cannot be read as a number");
            failure.value = item.into_value();
            Err(failure)
        }
    }
}

/// A number in the decimal form of JSON (leading zeros are allowed), or in base 16, 8 or 2.
fn read_number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if is_decimal(unsigned) {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_some() {
            return number;
        }
    }
    let (radix, digits) = match text.get(..2) {
        Some("0x" | "0X") => (16, &text[2..]),
        Some("0o" | "0O") => (8, &text[2..]),
        Some("0b" | "0B") => (2, &text[2..]),
        _ => return None,
    };
    if digits.is_empty() {
        return None;
    }
    let base = f64::from(radix);
    let value = digits
        .chars()
        .try_fold(0.0, |value, c| c.to_digit(radix).map(|digit| value * base + f64::from(digit)));
    // The reference takes any text that begins like a hexadecimal number, and gets no number.
    let begins_well = radix == 16 && digits.starts_with(|c: char| c.is_ascii_hexdigit());
    value.or(begins_well.then_some(f64::NAN))
}

fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return whole > 0 && !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    whole > 0 && rest.is_empty()
}

pub(super) fn format_base(
    _: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, radix] = take(arguments);
    let Some(number) = item.as_ref().and_then(Item::as_f64) else { return Ok(None) };
    let radix = radix.as_ref().and_then(Item::as_f64).map_or(10.0, |radix| round_to(radix, 0.0));
    if !(2.0..=36.0).contains(&radix) {
        let message = format!("the base must be between 2 and 36, not {radix}");
        return Err(with_value(fail("D3100", message), radix));
    }
    Ok(Some(Item::string(js::number::to_base(round_to(number, 0.0), radix as u32))))
}

pub(super) fn format_number(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, picture, options] = take(arguments);
    let Some(number) = item.as_ref().and_then(Item::as_f64) else { return Ok(None) };
    let picture = picture.as_ref().and_then(Item::as_str).map_or("", |text| &**text);
    let text = number_picture::format(number, picture, options.as_ref(), &mut evaluator.budget)?;
    evaluator.string(text).map(Some)
}

pub(super) fn format_integer(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, picture] = take(arguments);
    let Some(number) = item.as_ref().and_then(Item::as_f64) else { return Ok(None) };
    let picture = picture.as_ref().and_then(Item::as_str).map_or("", |text| &**text);
    let format = IntegerFormat::parse(picture)?;
    let text = format.format(number.floor(), &mut evaluator.budget)?;
    evaluator.string(text).map(Some)
}

pub(super) fn parse_integer(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let [item, picture] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len())?;
    let picture = picture.as_ref().and_then(Item::as_str).map_or("", |text| &**text);
    Ok(Some(Item::number(parse::parse_integer(text, picture)?)))
}
