//! JSON that is all a program had to say.
//!
//! A program may print anything, and what it prints is its answer. So brackets in the middle of a
//! text are part of the text; JSON counts only where nothing else is said besides.

use mcpgraph_value::Value;

use super::{clean, extent};

/// The words a line of a log begins with. Errors are not among them: whoever reads the answer has
/// to see those.
const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING"];

/// The JSON that a text is. Prompts, marks and lines of a log may stand before it and behind it;
/// several objects and arrays, each on lines of its own, are a list. Anything else is text.
pub(crate) fn whole_json(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Ok(value) = Value::from_json(text) {
        return Some(value);
    }
    let text = clean(text);
    let mut values = in_lines(without_log_lines(&text))?;
    match values.len() {
        0 => None,
        1 => values.pop(),
        _ => Some(values.into()),
    }
}

/// The objects and arrays of a text that consists of nothing else. Each begins a line and ends one.
fn in_lines(text: &str) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if !rest.starts_with(['[', '{']) {
            return None;
        }
        let (value, behind) = rest.split_at(extent(rest).ok()?);
        values.push(Value::from_json(value).ok()?);
        let (line, next) = behind.split_once('\n').unwrap_or((behind, ""));
        if !line.trim().is_empty() {
            return None;
        }
        rest = next.trim_start();
    }
    Some(values)
}

/// A text without the lines of a log at its beginning and at its end. Those in its middle stay: a
/// text with such lines here and there is a log, and its answer.
fn without_log_lines(text: &str) -> &str {
    let is_noise = |line: &str| line.trim().is_empty() || is_log_line(line);
    let mut rest = text;
    while !rest.is_empty() {
        let (line, next) = rest.split_once('\n').unwrap_or((rest, ""));
        if !is_noise(line) {
            break;
        }
        rest = next;
    }
    while !rest.is_empty() {
        let (before, line) = rest.rsplit_once('\n').unwrap_or(("", rest));
        if !is_noise(line) {
            break;
        }
        rest = before;
    }
    rest
}

/// Whether a line begins with a time (`2026-01-02 03:04:05`, `03:04:05`, `[2026-01-02]`) or with a
/// level (`INFO`, `info:`, `[info]`).
fn is_log_line(line: &str) -> bool {
    let line = line.trim_start();
    let in_brackets = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((inside, _)) = in_brackets {
        return has_shape(inside, "0000-00-00")
            || has_shape(inside, "00:00:00")
            || is_level(inside);
    }
    if has_shape(line, "0000-00-00T00:00") || has_shape(line, "0000-00-00 00:00") {
        return true;
    }
    let word = line.split_whitespace().next().unwrap_or_default();
    let level = word.strip_suffix(':').unwrap_or(word);
    has_shape(word, "00:00:00")
        || LEVELS.contains(&level)
        || (level.len() < word.len() && is_level(level))
}

fn is_level(word: &str) -> bool {
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word.trim()))
}

/// Whether a text begins like this, where `0` stands for any digit.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() >= shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, expected)| match expected {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

#[cfg(test)]
mod tests;
