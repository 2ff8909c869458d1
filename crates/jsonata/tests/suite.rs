//! The official suite: every case, values and codes.

mod common;

use std::time::Duration;

use mcpgraph_jsonata::{Environment, Limits, parse};
use mcpgraph_value::Value;

/// The runner of the suite has codes of its own for the limits it sets.
fn same_code(expected: &str, got: &str) -> bool {
    expected == got || (expected == "U1001" && matches!(got, "D1011" | "D1012"))
}

#[test]
fn every_case_gives_the_expected_value_or_code() {
    let Some(suite) = common::suite() else { return };
    let cases = common::cases(&suite);
    let mut failures = Vec::new();
    let (mut values, mut codes) = (0, 0);
    for case in &cases {
        let data = common::data(&suite, case);
        let mut environment = Environment {
            limits: Limits {
                time: Duration::from_mins(1),
                bytes: 4 << 30,
                depth: 20_000,
                ..Limits::default()
            },
            ..Environment::default()
        };
        if let Some(bindings) = case.fields.get("bindings").and_then(Value::as_object) {
            for (name, value) in bindings.iter() {
                environment.bindings.set(name.clone(), value.clone());
            }
        }
        if let Some(depth) = case.fields.get("depth").and_then(Value::as_i64) {
            environment.limits.depth = depth.try_into().unwrap();
        }
        if let Some(millis) = case.fields.get("timelimit").and_then(Value::as_i64) {
            // The suite thinks of a machine that does nothing else.
            environment.limits.time = 4 * Duration::from_millis(millis.try_into().unwrap());
        }
        let outcome = parse(&case.expr)
            .map_err(|errors| (errors[0].code, errors[0].token.clone()))
            .and_then(|program| {
                program
                    .evaluate(data.as_ref(), &environment)
                    .map_err(|error| (error.code, error.token))
            });
        let expected_code = case
            .fields
            .get("code")
            .or_else(|| case.fields.pointer("/error/code"))
            .and_then(Value::as_str);
        let problem = match (expected_code, outcome) {
            (Some(code), Err((got, token))) => {
                codes += 1;
                let wanted_token = case.fields.get("token").and_then(Value::as_str);
                if !same_code(code, got) {
                    Some(format!("expected {code}, got {got}"))
                } else if wanted_token.is_some() && wanted_token != token.as_deref() {
                    Some(format!("expected token {wanted_token:?}, got {token:?}"))
                } else {
                    None
                }
            }
            (Some(code), Ok(value)) => Some(format!("expected {code}, got {value:?}")),
            (None, Err((code, token))) => Some(format!("failed with {code} {token:?}")),
            (None, Ok(value)) => {
                values += 1;
                let expected = case.fields.get("result");
                let unordered = case.fields.get("unordered").is_some();
                (!common::same(expected, value.as_ref(), unordered))
                    .then(|| format!("expected {expected:?}, got {value:?}"))
            }
        };
        if let Some(problem) = problem {
            failures.push(format!("{}: {problem}: {}", case.name, case.expr));
        }
    }
    println!("{} cases: {values} values, {codes} codes, {} differ", cases.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
