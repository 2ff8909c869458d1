//! The same expressions on the same data, here and in the reference implementation under Node.

mod common;
#[path = "differential/failures.rs"]
mod failures;
#[path = "differential/generate.rs"]
mod generate;
#[path = "common/reference.rs"]
mod reference;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use failures::{failing_calls_back, failures};
use generate::{DATA, Generator, edge_calls};
use mcpgraph_jsonata::{Environment, Limits, parse};
use mcpgraph_value::{Map, Value};
use reference::{reference, run};

/// What the reference says about every case.
fn ask_reference(cases: &[(String, usize)], data: &[Value]) -> Result<Vec<Value>, String> {
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
fn ask_ours(expr: &str, data: &Value) -> Value {
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

/// Where an error is, as far as it says so.
fn place(answer: &Value) -> String {
    let part = |key| answer.get(key).map_or_else(|| "-".to_owned(), ToString::to_string);
    format!("token {} position {}", part("token"), part("position"))
}

/// The value written as the reference writes it, so that key order counts.
fn text(answer: &Value) -> String {
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

#[test]
fn answers_are_those_of_the_reference() {
    let mut data: Vec<Value> = DATA.iter().map(|text| Value::from_json(text).unwrap()).collect();
    let mut cases: Vec<(String, usize)> = Vec::new();
    cases.extend(edge_calls().into_iter().map(|call| (call, 0)));
    cases.extend(failures().into_iter().chain(failing_calls_back()).map(|case| (case, 0)));
    // Another seed gives other expressions.
    let seed = std::env::var("MCPGRAPH_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut generator = Generator::new(seed.unwrap_or(20_260_704));
    for index in 0..16_000 {
        let depth = 1 + index % 3;
        cases.push((generator.expression(depth), generator.data()));
    }
    if let Some(suite) = common::suite() {
        for case in common::cases(&suite) {
            if case.name.starts_with("tail-recursion/")
                || case.name.starts_with("performance/")
                || case.expr.contains("$millis")
                || case.expr.contains("$now")
                || case.expr.contains("$random")
                || case.expr.contains("$shuffle")
            {
                continue;
            }
            cases.push((case.expr.clone(), generator.data()));
            for _ in 0..3 {
                cases.push((generator.mutate(&case.expr), generator.data()));
            }
            if let Some(input) = common::data(&suite, &case) {
                let index = data.iter().position(|other| *other == input).unwrap_or_else(|| {
                    data.push(input);
                    data.len() - 1
                });
                cases.push((generator.mutate(&case.expr), index));
            }
        }
    }
    let answers = match ask_reference(&cases, &data) {
        Ok(answers) => answers,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    assert_eq!(answers.len(), cases.len());
    assert!(cases.len() >= 20_000);
    let mut differences = Vec::new();
    let mut known_counts = std::collections::BTreeMap::new();
    let mut placed = 0;
    for ((expr, index), expected) in cases.iter().zip(&answers) {
        let got = ask_ours(expr, &data[*index]);
        if let Some(known) = known_difference(expr, expected, &got) {
            *known_counts.entry(known).or_insert(0) += 1;
            continue;
        }
        placed += usize::from(expected.get("position").is_some());
        let is_known = known_place(expr, expected, &got);
        if let Some(known) = is_known {
            *known_counts.entry(known).or_insert(0) += 1;
        }
        if text(expected) != text(&got) || (is_known.is_none() && place(expected) != place(&got)) {
            differences.push(format!(
                "{expr}\n    on {index}: reference {} {} {}\n    ours      {} {}",
                text(expected),
                place(expected),
                expected.get("detail").map(ToString::to_string).unwrap_or_default(),
                text(&got),
                place(&got)
            ));
        }
    }
    println!(
        "{} cases, {placed} of them errors with a position; {} differ",
        cases.len(),
        differences.len()
    );
    for (reason, count) in known_counts {
        println!("{count} differ for a known reason: {reason}");
    }
    if let Some(report) = std::env::var_os("MCPGRAPH_DIFFERENCES") {
        std::fs::write(report, differences.join("\n")).unwrap();
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Why the position of the same error may differ.
fn known_place(expr: &str, expected: &Value, got: &Value) -> Option<&'static str> {
    let is_same = |key| expected.get(key) == got.get(key);
    if !is_same("code") || !is_same("token") || is_same("position") {
        return None;
    }
    let units = expr.encode_utf16().count();
    if expected.get("position").and_then(Value::as_i64) > i64::try_from(units).ok() {
        return Some("the reference points behind the end of the source");
    }
    let function = |answer: &Value| called_at(expr, answer.get("position")?.as_f64()? as usize);
    (function(expected).is_some() && function(expected) == function(got))
        .then_some("the reference points at another call of the same function")
}

/// The function that is called where a position points, behind its name or the bracket.
fn called_at(expr: &str, position: usize) -> Option<String> {
    let units: Vec<u16> = expr.encode_utf16().take(position).collect();
    let before = String::from_utf16_lossy(&units);
    let before = before.strip_suffix('(').unwrap_or(&before);
    let start =
        before.rfind(|c: char| !c.is_alphanumeric()).filter(|&at| before[at..].starts_with('$'));
    start.map(|start| before[start..].to_owned())
}

/// Why an answer may differ.
fn known_difference(expr: &str, expected: &Value, got: &Value) -> Option<&'static str> {
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
