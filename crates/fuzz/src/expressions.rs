use std::time::{Duration, Instant};

use mcpgraph_expr::{Budget, Env, JsonLogic, JsonPath, Jsonata, PlainScope};
use mcpgraph_value::Value;

/// A little of everything for expressions to read.
const DATA: &str = r#"{
    "entry": {"n": 3, "text": "some words", "list": [1, 2.5, "x", null, {"a": {"b": [true]}}]},
    "items": [{"name": "a", "price": 1}, {"name": "b", "price": 20.5}, {"name": "c"}],
    "0": {"1": "digits"}, "": "empty", "big": 123456789012345678901234567890
}"#;

/// A budget that a fuzzer does not have to wait for.
fn env() -> Env {
    let budget =
        Budget { time: Duration::from_millis(200), depth: 500, bytes: 1 << 20, sequence: 10_000 };
    Env { budget, ..Env::at(1_700_000_000_000) }
}

/// How long an evaluation may take on a busy machine, whose budget is a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

fn data() -> Value {
    Value::from_json(DATA).unwrap_or_default()
}

/// The parser of JSONata alone: errors with their places, and what is done with a syntax tree.
pub fn jsonata_syntax(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match mcpgraph_jsonata::parse(text) {
        Ok(program) => {
            drop(program.reads());
            let once = program.syntax().to_string();
            // A printed expression may be deeper than its source by its parentheses.
            let again = mcpgraph_jsonata::parse(&once);
            let is_too_large = |code| matches!(code, "S0501" | "S0502");
            match again {
                Ok(again) => assert_eq!(again.syntax().to_string(), once, "{text}"),
                Err(errors) => assert!(is_too_large(errors[0].code), "{text} became {once}"),
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "what is wrong is said");
            for error in errors {
                assert!(text.get(error.span).is_some(), "an error is inside of the text");
            }
        }
    }
}

/// The evaluation of JSONata with a small budget: an expression, and behind a zero byte the JSON it
/// is evaluated on, if there is any.
pub fn jsonata(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let (text, data) = match text.split_once('\0') {
        Some((text, json)) => (text, Value::from_json(json).unwrap_or_default()),
        None => (text, data()),
    };
    let Ok(expression) = Jsonata::compile(text) else { return };
    let began = Instant::now();
    let outcome = expression.eval(&PlainScope::shared(data), &env());
    assert!(began.elapsed() < PATIENCE, "the budget is kept: {text}");
    if let Err(error) = outcome
        && let Some(position) = error.position
    {
        assert!(position <= text.len(), "an error is inside of the text");
    }
}

/// JSON Logic, from a JSON text to a value.
pub fn jsonlogic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(rule) = Value::from_json(text) else { return };
    if let Ok(rule) = JsonLogic::compile(&rule) {
        drop(rule.eval(&PlainScope::shared(data()), &env()));
    }
}

/// JSONPath, from text to what it finds.
pub fn jsonpath(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(path) = JsonPath::compile(text) {
        drop(path.query(&data()));
    }
}
