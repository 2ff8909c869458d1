//! What goes through workflows: a value for their scripts, and the text that it came as, for those
//! who get what no script replaced.

use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_value::{MAX_DEPTH, Map, Value};
use serde_json::value::RawValue;

/// A request or a response on its way through workflows.
#[derive(Clone, Default)]
pub(crate) struct Carried {
    /// What scripts see.
    pub(crate) value: Value,
    /// What it came as; none if a script made it.
    pub(crate) text: Option<Raw>,
}

impl Carried {
    /// What came as a text. What no value can hold, scripts see in part.
    pub(crate) fn read(text: Raw) -> Self {
        let value = Value::from_json(text.get()).unwrap_or_else(|_| in_part(&text));
        Self { value, text: Some(text) }
    }

    /// What a workflow gives that had this: the same again, or something in its place.
    pub(crate) fn or(&self, given: Value) -> Self {
        if is_same(&self.value, &given) { self.clone() } else { Self { value: given, text: None } }
    }

    /// What it came as, or the text of what a script made.
    pub(crate) fn into_text(self) -> Raw {
        self.text.unwrap_or_else(|| raw(&self.value))
    }
}

/// Whether nothing was put in the place of a value. Scripts never give back what they were given,
/// but a copy of it.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => one.is_same(other),
        (Value::Array(one), Value::Array(other)) => one.is_same(other),
        _ => false,
    }
}

/// As much of a text as a value can hold: null for what is nested too deep, and the replacement
/// character for halves of characters.
fn in_part(text: &RawValue) -> Value {
    Value::from_json(&readable(text.get())).unwrap_or_else(|_| Map::new().into())
}

fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(at) = rest.find(['"', '[', ']', '{', '}']) {
        let (before, from) = rest.split_at(at);
        let is_kept = depth < MAX_DEPTH;
        if is_kept {
            out.push_str(before);
        }
        let length = match from.as_bytes()[0] {
            b'"' => {
                let string = &from[..string_length(from)];
                if is_kept {
                    write_string(&mut out, string);
                }
                string.len()
            }
            b'[' | b'{' => {
                depth += 1;
                match depth {
                    MAX_DEPTH => out.push_str("null"),
                    _ if depth < MAX_DEPTH => out.push_str(&from[..1]),
                    _ => {}
                }
                1
            }
            _ => {
                if is_kept {
                    out.push_str(&from[..1]);
                }
                depth = depth.saturating_sub(1);
                1
            }
        };
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

/// The length of the string that a text begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}

/// Writes a string with every half of a character replaced.
fn write_string(out: &mut String, string: &str) {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match unit(escape) {
            None => escape.len().min(2),
            Some(0xD800..=0xDBFF)
                if escape
                    .get(6..)
                    .and_then(unit)
                    .is_some_and(|low| (0xDC00..0xE000).contains(&low)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                out.push(char::REPLACEMENT_CHARACTER);
                rest = &escape[6..];
                continue;
            }
            Some(_) => 6,
        };
        out.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    out.push_str(rest);
}

/// The number of an escape `\\u....` that a text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Carried {
        Carried::read(RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn what_no_value_can_hold_is_seen_in_part() {
        for (text, seen) in [
            (r#"{"a":"\ud800"}"#, "{\"a\":\"\u{fffd}\"}"),
            (
                r#"["\ud83d\ude00 \ude00\\ud800 \ud83d\n é"]"#,
                "[\"😀 \u{fffd}\\\\ud800 \u{fffd}\\n é\"]",
            ),
            (r#"{"\udfff":["]","\"[",1e2]}"#, "{\"\u{fffd}\":[\"]\",\"\\\"[\",1e2]}"),
        ] {
            let value = read(text).value;
            assert_eq!(value, Value::from_json(seen).unwrap(), "{text}");
        }
        let nested = |levels: usize| format!("{}7{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(read(&nested(127)).value.to_json(), nested(127));
        let cut = format!("{}null{}", "[".repeat(127), "]".repeat(127));
        assert_eq!(read(&nested(128)).value.to_json(), cut);
        let deep = format!(r#"{{"a":{},"b":[{{"c":"["}}]}}"#, nested(100_000));
        let value = read(&deep).value;
        assert_eq!(value.pointer("/b/0/c").and_then(Value::as_str), Some("["));
    }

    #[test]
    fn what_nothing_replaced_is_what_it_came_as() {
        for text in [r#"{"a":1e2,"a":"\ud800"}"#, "[1e2,[]]"] {
            let carried = read(text);
            assert_eq!(carried.or(carried.value.clone()).into_text().get(), text);
            let copy = Value::from_json(&carried.value.to_json()).unwrap();
            assert_ne!(carried.or(copy).into_text().get(), text);
        }
    }
}
