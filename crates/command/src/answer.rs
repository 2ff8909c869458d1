//! JSON in what programs print.
//!
//! Prompts, log lines and `[From Node …]` stand around it. This is the one place that removes them.

mod whole;

use mcpgraph_value::Value;

pub(crate) use self::whole::whole_json;

/// How many bytes are looked at, again and again, before the search is given up.
const MAX_LOOKED_AT: usize = 64 * 1024 * 1024;

/// The JSON value somewhere in a text, or none. Where there are several the largest is taken; an
/// array, if one is there and wanted. This is for texts that are known to have an answer in JSON.
pub(crate) fn find_json(text: &str, wants_array: bool) -> Option<Value> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Ok(value) = Value::from_json(text) {
        return Some(value);
    }
    let mut best: Option<(bool, usize, Value)> = None;
    let mut at = 0;
    let mut looked_at = 0;
    while looked_at < MAX_LOOKED_AT {
        let Some(found) = text[at..].find(['[', '{']) else { break };
        let start = at + found;
        at = start + 1;
        let length = match extent(&text[start..]) {
            Ok(length) => length,
            Err(length) => {
                looked_at += length;
                continue;
            }
        };
        looked_at += length;
        let Ok(value) = Value::from_json(&text[start..start + length]) else { continue };
        at = start + length;
        let rank = (wants_array && matches!(value, Value::Array(_)), length);
        if best.as_ref().is_none_or(|(array, size, _)| rank > (*array, *size)) {
            best = Some((rank.0, rank.1, value));
        }
    }
    best.map(|(.., value)| value)
}

/// The list in an object that holds nothing else: policies may stand under their kind, as in
/// `{"table": […]}`.
pub(crate) fn only_list(value: Value) -> Value {
    let list = value
        .as_object()
        .filter(|members| members.len() == 1)
        .and_then(|members| members.values().next().filter(|member| member.as_array().is_some()))
        .cloned();
    list.unwrap_or(value)
}

/// Where the bracket that a text begins with is closed, or where it is clear that it is no JSON.
fn extent(text: &str) -> Result<usize, usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(index + 1);
                }
            }
            byte if !is_json_byte(byte) => return Err(index),
            _ => {}
        }
    }
    Err(text.len())
}

/// Whether a byte can stand in JSON outside of strings.
fn is_json_byte(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_digit()
        || b",:+-.".contains(&byte)
        // true, false, null and exponents
        || b"truefalsn E".contains(&byte)
}

/// A text without prompts and marks of the node it came from, nor empty lines around it.
pub(crate) fn clean(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("[From Node ").and_then(|rest| rest.split_once(']')) {
            Some((_, said)) => said.trim_start(),
            None => line,
        })
        .filter(|line| !is_prompt(line))
        .skip_while(|line| line.trim().is_empty())
        .collect();
    // The indentation of its first line belongs to a text.
    lines.join("\n").trim_end().to_owned()
}

/// `EL >`, `AL my-node +>`: a name and a sign that something may be typed.
fn is_prompt(line: &str) -> bool {
    let Some(before) = line.trim().strip_suffix('>') else { return false };
    let before = before.trim_end_matches('+');
    before.ends_with(' ')
        && (before.starts_with("EL ") || before.starts_with("AL "))
        && before.len() <= 64
}

#[cfg(test)]
mod tests;
