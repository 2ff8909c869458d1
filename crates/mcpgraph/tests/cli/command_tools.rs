//! Command tools, served to clients: the flows of an EdgeLake `tools.yaml`, real programs, real
//! databases, a real HTTP server.

mod edgelake;
mod local;
mod postgres;

use serde_json::Value;

use crate::product::{Era, Served};

/// The text of a result.
fn text(result: &Value) -> String {
    result["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// What a tool gives; it does not fail.
fn called(served: &mut Served, tool: &str, arguments: Value) -> Value {
    let result = served.call(tool, arguments);
    assert!(result["result"]["isError"] != true, "{result}");
    serde_json::from_str(&text(&result)).unwrap_or_else(|_| Value::from(text(&result)))
}

/// What a tool says that fails, and its code.
fn failed(served: &mut Served, tool: &str, arguments: Value) -> (String, String) {
    let result = served.call(tool, arguments);
    assert_eq!(result["result"]["isError"], true, "{result}");
    let code = &result["result"]["_meta"]["mcpgraph/error"]["code"];
    (text(&result), code.as_str().unwrap().to_owned())
}

fn serve(text: &str) -> Served {
    Served::text(text, Era::Modern)
}
