//! How JavaScript turns one kind of value into another.

use std::borrow::Cow;
use std::sync::Arc;

use mcpgraph_value::{MAX_DEPTH, Number, Value};

use crate::ExprError;
use crate::bounds::too_deep;
use crate::budget::Meter;

/// A value of JavaScript: JSON and what JSON cannot write.
#[derive(Clone, Debug)]
pub(super) enum Js {
    Undefined,
    /// NaN or an infinity; every other number is JSON.
    Number(f64),
    Json(Value),
}

impl Js {
    pub(super) fn number(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Number(number), |number| Self::Json(number.into()))
    }

    pub(super) fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    pub(super) fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Json(Value::Null))
    }

    pub(super) fn truthy(&self) -> bool {
        match self {
            Self::Undefined => false,
            Self::Number(number) => !number.is_nan(),
            Self::Json(value) => crate::truthy(value),
        }
    }

    /// Null in the place of undefined.
    pub(super) fn or_null(self) -> Self {
        if self.is_undefined() { Self::Json(Value::Null) } else { self }
    }

    /// As `JSON.stringify` writes it in a list.
    pub(super) fn into_json(self) -> Value {
        match self {
            Self::Undefined | Self::Number(_) => Value::Null,
            Self::Json(value) => value,
        }
    }
}

impl From<bool> for Js {
    fn from(flag: bool) -> Self {
        Self::Json(Value::Bool(flag))
    }
}

/// What objects and lists become before they are compared or calculated with.
enum Primitive<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(Cow<'a, Number>),
    NotJson(f64),
    Text(Cow<'a, str>),
}

impl Primitive<'_> {
    fn number(&self) -> f64 {
        match self {
            Self::Undefined => f64::NAN,
            Self::Null => 0.0,
            Self::Bool(flag) => f64::from(u8::from(*flag)),
            Self::Number(number) => number.as_f64(),
            Self::NotJson(number) => *number,
            Self::Text(text) => text_to_number(text),
        }
    }
}

fn primitive<'a>(value: &'a Js, meter: &Meter<'_>) -> Result<Primitive<'a>, ExprError> {
    Ok(match value {
        Js::Undefined => Primitive::Undefined,
        Js::Number(number) => Primitive::NotJson(*number),
        Js::Json(Value::Null) => Primitive::Null,
        Js::Json(Value::Bool(flag)) => Primitive::Bool(*flag),
        Js::Json(Value::Number(number)) => Primitive::Number(Cow::Borrowed(number)),
        Js::Json(Value::String(text)) => Primitive::Text(Cow::Borrowed(text)),
        Js::Json(Value::Array(_) | Value::Object(_)) => {
            Primitive::Text(Cow::Owned(text_of(value, meter)?.to_string()))
        }
    })
}

/// `Number(value)`.
pub(super) fn number_of(value: &Js, meter: &Meter<'_>) -> Result<f64, ExprError> {
    Ok(primitive(value, meter)?.number())
}

/// `parseFloat(value)`: the number that the value's text begins with.
pub(super) fn number_prefix_of(value: &Js, meter: &Meter<'_>) -> Result<f64, ExprError> {
    match value {
        Js::Json(Value::Number(number)) => Ok(number.as_f64()),
        Js::Number(number) => Ok(*number),
        _ => Ok(number_prefix(&text_of(value, meter)?)),
    }
}

/// `String(value)`.
pub(super) fn text_of(value: &Js, meter: &Meter<'_>) -> Result<Arc<str>, ExprError> {
    match value {
        Js::Json(Value::String(text)) => {
            meter.spend(text.len())?;
            Ok(Arc::clone(text))
        }
        Js::Undefined => Ok("undefined".into()),
        Js::Number(number) => Ok(number_text(*number).into()),
        Js::Json(value) => {
            let mut text = String::new();
            write_text(value, 0, &mut text, meter)?;
            Ok(text.into())
        }
    }
}

fn write_text(
    value: &Value,
    depth: usize,
    into: &mut String,
    meter: &Meter<'_>,
) -> Result<(), ExprError> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    let before = into.len();
    match value {
        // In a list null is nothing.
        Value::Null if depth > 0 => {}
        Value::Null => into.push_str("null"),
        Value::Bool(flag) => into.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => into.push_str(&number_text(number.as_f64())),
        Value::String(text) => into.push_str(text),
        Value::Object(_) => into.push_str("[object Object]"),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_text(item, depth + 1, into, meter)?;
            }
            return meter.spend(items.len());
        }
    }
    meter.spend(into.len() - before)
}

/// `a === b`. Lists and objects are equal if they are the same one; integers that a double cannot
/// hold are compared by their digits.
pub(super) fn strictly_equal(a: &Js, b: &Js) -> bool {
    match (a, b) {
        (Js::Undefined, Js::Undefined) => true,
        (Js::Number(a), Js::Number(b)) => a == b,
        (Js::Json(Value::Array(a)), Js::Json(Value::Array(b))) => a.is_same(b),
        (Js::Json(Value::Object(a)), Js::Json(Value::Object(b))) => a.is_same(b),
        (Js::Json(a), Js::Json(b)) => a == b,
        _ => false,
    }
}

/// `a == b`.
pub(super) fn loosely_equal(a: &Js, b: &Js, meter: &Meter<'_>) -> Result<bool, ExprError> {
    let is_container = |value: &Js| matches!(value, Js::Json(Value::Array(_) | Value::Object(_)));
    if a.is_nullish() || b.is_nullish() {
        return Ok(a.is_nullish() && b.is_nullish());
    }
    if is_container(a) && is_container(b) {
        return Ok(strictly_equal(a, b));
    }
    Ok(match (primitive(a, meter)?, primitive(b, meter)?) {
        (Primitive::Text(a), Primitive::Text(b)) => a == b,
        (Primitive::Number(a), Primitive::Number(b)) => a == b,
        (a, b) => a.number() == b.number(),
    })
}

/// `a < b`; none where JavaScript says undefined, because one of them is not a number.
pub(super) fn less_than(a: &Js, b: &Js, meter: &Meter<'_>) -> Result<Option<bool>, ExprError> {
    Ok(match (primitive(a, meter)?, primitive(b, meter)?) {
        (Primitive::Text(a), Primitive::Text(b)) => Some(a.encode_utf16().lt(b.encode_utf16())),
        (a, b) => a.number().partial_cmp(&b.number()).map(std::cmp::Ordering::is_lt),
    })
}

fn is_space(character: char) -> bool {
    (character.is_whitespace() && character != '\u{85}') || character == '\u{feff}'
}

/// `Number("…")`.
fn text_to_number(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let radix = |digits: &str, radix: u32| {
        if digits.is_empty() {
            return f64::NAN;
        }
        digits
            .chars()
            .try_fold(0.0, |number: f64, digit| {
                Some(number * f64::from(radix) + f64::from(digit.to_digit(radix)?))
            })
            .unwrap_or(f64::NAN)
    };
    match text.as_bytes() {
        [] => 0.0,
        [b'0', b'x' | b'X', ..] => radix(&text[2..], 16),
        [b'0', b'o' | b'O', ..] => radix(&text[2..], 8),
        [b'0', b'b' | b'B', ..] => radix(&text[2..], 2),
        _ if decimal_prefix(text).len() == text.len() => number_prefix(text),
        _ => f64::NAN,
    }
}

/// `parseFloat("…")`.
fn number_prefix(text: &str) -> f64 {
    let prefix = decimal_prefix(text.trim_start_matches(is_space));
    // What is left are digits as Rust reads them too, or `Infinity`.
    prefix.parse().unwrap_or(f64::NAN)
}

/// The longest start of a text that is a decimal number or `Infinity`.
fn decimal_prefix(text: &str) -> &str {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['+', '-']));
    if text[sign..].starts_with("Infinity") {
        return &text[..sign + "Infinity".len()];
    }
    let whole = digits(sign);
    let mut end = sign + whole;
    if text[end..].starts_with('.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return "";
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return "";
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    &text[..end]
}

/// `String(number)`: the shortest digits that are this number, with a point up to 21 places and an
/// exponent beyond.
fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // The point stands after this many digits, of which there are at most 17.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = i32::try_from(digits.len()).unwrap_or(17);
    let sign = if number < 0.0 { "-" } else { "" };
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    match point {
        1..=21 if count <= point => format!("{sign}{digits}{}", zeros(point - count)),
        1..=21 => {
            let (whole, fraction) = digits.split_at(point as usize);
            format!("{sign}{whole}.{fraction}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", zeros(-point)),
        _ => {
            let exponent = point - 1;
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let plus = if exponent > 0 { "+" } else { "" };
            format!("{sign}{first}{dot}{rest}e{plus}{exponent}")
        }
    }
}
