//! JSON values as YAML that people like to read.

use std::fmt::Write as _;

use mcpgraph_value::{Map, Value};

/// A value on one line may make the line this long.
const WIDTH: usize = 96;

/// Plain texts longer than this are put in quotes.
const MAX_PLAIN: usize = 120;

/// Words that some readers of YAML take for something else than text.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// An item of a list in block style, whose dash stands at `indent`.
pub(super) fn list_item(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    write_item(&mut out, value, indent);
    out
}

/// A text as it stands in YAML.
pub(super) fn text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn write_item(out: &mut String, value: &Value, indent: usize) {
    pad(out, indent);
    match value {
        Value::Object(members) if !members.is_empty() && flow(value, room(indent)).is_none() => {
            out.push_str("- ");
            write_members(out, members, indent + 2, false);
        }
        _ => {
            out.push('-');
            write_value(out, value, indent);
        }
    }
}

/// What follows a key or a dash that stands at `indent`.
fn write_value(out: &mut String, value: &Value, indent: usize) {
    if let Some(line) = flow(value, room(indent)) {
        out.push(' ');
        out.push_str(&line);
        out.push('\n');
        return;
    }
    out.push('\n');
    match value {
        Value::Object(members) => write_members(out, members, indent + 2, true),
        Value::Array(items) if items.iter().all(is_word) => write_words(out, items, indent + 2),
        Value::Array(items) => items.iter().for_each(|item| write_item(out, item, indent + 2)),
        // Everything else fits on a line.
        _ => {}
    }
}

fn write_members(out: &mut String, members: &Map, indent: usize, pads_first: bool) {
    for (index, (key, member)) in members.iter().enumerate() {
        if index > 0 || pads_first {
            pad(out, indent);
        }
        out.push_str(&text(key));
        out.push(':');
        write_value(out, member, indent);
    }
}

/// A list of words, as many on each line as there is room for.
fn write_words(out: &mut String, items: &[Value], indent: usize) {
    pad(out, indent);
    let mut left = room(indent);
    for (index, word) in items.iter().filter_map(Value::as_str).enumerate() {
        let word = text(word);
        out.push(if index == 0 { '[' } else { ',' });
        let length = word.chars().count() + 2;
        if index > 0 && length > left {
            out.push('\n');
            pad(out, indent);
            left = room(indent);
        }
        if index > 0 {
            out.push(' ');
        }
        left = left.saturating_sub(length);
        out.push_str(&word);
    }
    out.push_str("]\n");
}

/// Whether a value is a text that is short enough to stand among others.
fn is_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() <= WIDTH / 2)
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn room(indent: usize) -> usize {
    WIDTH.saturating_sub(indent)
}

/// A value on one line; none if it takes more than `room`. What has no parts always fits.
fn flow(value: &Value, room: usize) -> Option<String> {
    let (open, close, parts) = match value {
        Value::String(string) => return Some(text(string)),
        Value::Array(items) => ("[", "]", fill(items.iter().map(|item| (None, item)), room)?),
        Value::Object(members) if members.is_empty() => return Some("{}".to_owned()),
        Value::Object(members) => {
            ("{ ", " }", fill(members.iter().map(|(key, member)| (Some(&**key), member)), room)?)
        }
        other => return Some(other.to_json()),
    };
    let line = format!("{open}{}{close}", parts.join(", "));
    (line.chars().count() <= room).then_some(line)
}

/// The parts of a value, each on one line, as long as there is room for them.
fn fill<'a>(
    parts: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
    mut room: usize,
) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    for (key, value) in parts {
        let line = flow(value, room)?;
        let line = match key {
            Some(key) => format!("{}: {line}", text(key)),
            None => line,
        };
        room = room.checked_sub(line.chars().count())?;
        lines.push(line);
    }
    Some(lines)
}

/// Whether a text means itself without quotes, wherever it stands: words and paths.
fn is_plain(text: &str) -> bool {
    let is_inner = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '/' | ' ')
    };
    let start = text.trim_start_matches("../").trim_start_matches("./");
    text.len() <= MAX_PLAIN
        && start.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(is_inner)
        && !text.ends_with(' ')
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// A text in double quotes. JSON's escapes are YAML's; what YAML wants escaped besides is.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_json();
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                // Writing to a text does not fail.
                write!(out, "\\u{:04x}", character as u32).unwrap_or_default();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
