use std::time::Duration;

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

fn data() -> Value {
    Value::from_json(DATA).unwrap_or_default()
}

/// JSONata, from text to value.
pub fn jsonata(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match Jsonata::compile(text) {
        Ok(expression) => drop(expression.eval(&PlainScope::shared(data()), &env())),
        Err(error) => {
            if let Some(position) = error.position {
                assert!(position <= text.len(), "an error is inside of the text");
            }
        }
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
