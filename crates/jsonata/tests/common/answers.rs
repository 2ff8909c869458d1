//! What this crate and the reference implementation say about the same cases, in one form.

#[path = "reference.rs"]
mod reference;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mcpgraph_jsonata::{Environment, Limits, parse};
use mcpgraph_value::{Map, Value};
use reference::{reference, run};

/// What the reference says about every case.
pub(crate) fn ask_reference(
    cases: &[(String, usize)],
    data: &[Value],
) -> Result<Vec<Value>, String> {
    let file = reference()?;
    let input =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cases-{}.json", std::process::id()));
    let list =
        cases.iter().map(|(expr, index)| Value::array(vec![expr.as_str().into(), (*index).into()]));
    let content = Map::from_iter([
        ("data", Value::array(data.to_vec())),
        ("cases", Value::array(list.collect())),
    ]);
    std::fs::write(&input, Value::object(content).to_json()).map_err(|error| error.to_string())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/reference.js");
    let output = run(Command::new("node")
        .arg("--max-old-space-size=2048")
        .arg(script)
        .arg(file)
        .arg(&input));
    let removed = std::fs::remove_file(&input);
    let output = output?;
    removed.map_err(|error| error.to_string())?;
    output.lines().map(|line| Value::from_json(line).map_err(|error| error.to_string())).collect()
}

/// What this crate says, in the same form.
pub(crate) fn ask_ours(expr: &str, data: &Value) -> Value {
    let environment = Environment {
        limits: Limits { time: Duration::from_mins(1), depth: 2000, ..Limits::default() },
        ..Environment::default()
    };
    let outcome = match parse(expr) {
        Err(mut errors) => {
            let first = errors.swap_remove(0);
            Err((first.code, first.token, first.position))
        }
        Ok(program) => program
            .evaluate(Some(data), &environment)
            .map_err(|error| (error.code, error.token, error.position)),
    };
    Value::object(match outcome {
        Ok(Some(value)) => Map::from_iter([("value", value)]),
        Ok(None) => Map::from_iter([("none", Value::from(true))]),
        Err((code, token, position)) => {
            let mut answer = Map::from_iter([("code", Value::from(code))]);
            if let Some(token) = token {
                answer.insert("token", Value::from(token));
            }
            if let Some(position) = position {
                // The reference counts in UTF-16.
                let units = expr[..position].encode_utf16().count();
                answer.insert("position", Value::from(units));
            }
            answer
        }
    })
}

/// The value written as the reference writes it, so that key order counts.
pub(crate) fn text(answer: &Value) -> String {
    for key in ["code", "none"] {
        if let Some(part) = answer.get(key) {
            return format!("{key}: {part}");
        }
    }
    answer.get("value").map_or_else(String::new, |value| format!("value: {}", canonical(value)))
}

/// JSON with numbers as doubles and the keys of objects in the order JavaScript has.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{}", number.as_f64()),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let mut entries: Vec<_> = members.iter().collect();
            entries
                .sort_by_key(|(key, _)| key.parse::<u32>().map_or(u64::from(u32::MAX), u64::from));
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, member)| format!("{key:?}:{}", canonical(member)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_json(),
    }
}

/// Why an answer may differ.
pub(crate) fn known_difference(expr: &str, expected: &Value, got: &Value) -> Option<&'static str> {
    let code = |answer: &Value| answer.get("code").and_then(Value::as_str).map(str::to_owned);
    match (code(expected).as_deref(), code(got).as_deref()) {
        (Some("uncoded"), _) => {
            return Some("the reference fails inside JavaScript, without a code");
        }
        (Some("D1012"), _) => return Some("the reference runs out of time"),
        (Some(expected), Some(got))
            if expected != got && !expected.starts_with('S') && expr.contains(['[', '{']) =>
        {
            return Some("the reference evaluates items at the same time, and any error may win");
        }
        (None, Some("T0410" | "T0412")) if expr.contains('?') => {
            return Some("a partially applied built-in checks its arguments");
        }
        (None, Some("D3012")) => return Some("the text of a function is not shown"),
        _ => {}
    }
    if text(expected) == text(got) {
        return None;
    }
    if expr.contains('/') && (expr.contains("?:") || expr.contains("??")) {
        return Some("the reference loses a regular expression left of ?: or ??");
    }
    if expr.contains("/./") && text(expected).len() != text(got).len() {
        return Some("half of a surrogate pair");
    }
    if expr.contains("$power(") {
        return Some("the last bit of a power that is not whole");
    }
    if text(expected).contains('\u{FFFD}') {
        return Some("half of a surrogate pair");
    }
    if expr.matches("/a(b)?/").count() == 2 {
        return Some("the text of a function is not shown");
    }
    None
}
