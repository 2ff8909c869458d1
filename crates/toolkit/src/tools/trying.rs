//! Expressions and definitions, tried without changing anything.

use serde_json::{Value, json};

use super::{Effect, Tool, answer, context, definition, diagnostics, history, object, text};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: "testJSONata",
            description: "Evaluates a JSONata expression on a context; `undefined` tells an expression without a result",
            input: object(tried(json!(text("The expression"))), &["expression"]),
            output: answer(
                json!({ "undefined": { "type": "boolean" }, "result": {} }),
                &["undefined"],
            ),
            effect: Effect::Reads,
        },
        Tool {
            name: "testJSONLogic",
            description: "Evaluates a JSON Logic rule on a context; `holds` tells whether a switch would take it",
            input: object(tried(json!({ "description": "The rule" })), &["expression"]),
            output: answer(
                json!({ "result": {}, "holds": { "type": "boolean" } }),
                &["result", "holds"],
            ),
            effect: Effect::Reads,
        },
        Tool {
            name: "validateGraphTool",
            description: "Finds everything that is wrong with a tool definition without saving it, its upstream calls included",
            input: object(json!({ "tool": definition() }), &["tool"]),
            output: answer(
                json!({ "valid": { "type": "boolean" }, "diagnostics": diagnostics() }),
                &["valid", "diagnostics"],
            ),
            effect: Effect::Asks,
        },
    ]
}

/// What the testers of expressions are given.
fn tried(expression: Value) -> Value {
    json!({ "expression": expression, "context": context(), "history": history() })
}
