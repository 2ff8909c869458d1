//! The same expressions on the same data, here and in the reference implementation under Node.

#[path = "common/answers.rs"]
mod answers;
mod common;
#[path = "differential/failures.rs"]
mod failures;
#[path = "differential/generate.rs"]
mod generate;

use answers::{ask_ours, ask_reference, known_difference, text};
use failures::{failing_calls_back, failures};
use generate::{DATA, Generator, edge_calls};
use mcpgraph_value::Value;

/// Where an error is, as far as it says so.
fn place(answer: &Value) -> String {
    let part = |key| answer.get(key).map_or_else(|| "-".to_owned(), ToString::to_string);
    format!("token {} position {}", part("token"), part("position"))
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
