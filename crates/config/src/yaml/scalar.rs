//! What a scalar without quotes means: the core schema of YAML 1.2, as far as JSON can say it.

use mcpgraph_value::Number;

/// What a plain scalar stands for.
#[derive(Debug, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Number(Number),
    String,
    /// A number, but not one that JSON and people read the same way.
    Odd(Odd),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// `.inf` or `.nan`.
    NotFinite,
    /// `012`: twelve for some readers, ten for others, and often not meant as a number at all.
    LeadingZero,
}

pub(crate) fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
        "true" | "True" | "TRUE" => Plain::Bool(true),
        "false" | "False" | "FALSE" => Plain::Bool(false),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) => {
            number(text)
        }
        _ => Plain::String,
    }
}

fn number(text: &str) -> Plain {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let (sign, unsigned) = match text.as_bytes() {
        [b'-', ..] => ("-", &text[1..]),
        [b'+', ..] => ("", &text[1..]),
        _ => ("", text),
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::Odd(Odd::NotFinite);
    }
    let whole = leading_digits(unsigned);
    let (fraction, rest) = match unsigned[whole.len()..].strip_prefix('.') {
        Some(rest) => {
            let fraction = leading_digits(rest);
            (Some(fraction), &rest[fraction.len()..])
        }
        None => (None, &unsigned[whole.len()..]),
    };
    if whole.is_empty() && fraction.is_none_or(str::is_empty) || !is_exponent(rest) {
        return Plain::String;
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return Plain::Odd(Odd::LeadingZero);
    }
    // JSON wants a digit on both sides of the point.
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = match fraction {
        None | Some("") => String::new(),
        Some(digits) => format!(".{digits}"),
    };
    Number::from_json(&format!("{sign}{whole}{fraction}{rest}"))
        .map_or(Plain::String, Plain::Number)
}

fn radix(digits: &str, radix: u32) -> Plain {
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    match u128::from_str_radix(digits, radix) {
        Ok(number) if valid => {
            Number::from_json(&number.to_string()).map_or(Plain::String, Plain::Number)
        }
        _ => Plain::String,
    }
}

fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// Nothing, or `e` with digits and perhaps a sign.
fn is_exponent(rest: &str) -> bool {
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
