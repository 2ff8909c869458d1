//! Workflows around real calls: the product over stdio, the demo server behind it.

mod guarding;
mod listing;
mod managed;
mod recorded;
mod untouched;
mod watched;

use serde_json::{Value, json};

use crate::product::{Era, Served};

/// A graph with an exposed server, a tool of its own and these workflows.
fn graph(workflows: &Value) -> String {
    json!({
        "version": "2",
        "server": { "name": "guarded", "version": "1" },
        "mcpServers": {
            "demo": {
                "command": "${MCPGRAPH_BIN}", "args": ["demo-server"], "expose": true
            }
        },
        "tools": [{
            "name": "double",
            "inputSchema": { "type": "object", "properties": { "n": { "type": "number" } } },
            "nodes": [
                { "id": "entry", "type": "entry", "next": "twice" },
                { "id": "twice", "type": "transform", "transform": { "expr": "{ 'n': $.entry.n * 2 }" },
                  "next": "exit" },
                { "id": "exit", "type": "exit" }
            ]
        }],
        "hookModules": { "tag": "return { context: { tagged: true } }" },
        "workflows": workflows
    })
    .to_string()
}

/// A workflow around calls: `before` and `after` are scripts.
fn around(name: &str, before: &str, after: &str) -> Value {
    json!({
        "name": name,
        "workflowType": "tools/call",
        "nodes": [
            { "id": "start", "type": "start", "next": "before" },
            { "id": "before", "type": "hook", "hook": { "script": before }, "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "after" },
            { "id": "after", "type": "hook", "hook": { "script": after }, "next": "end" },
            { "id": "end", "type": "end" }
        ]
    })
}

fn serve(workflows: &Value, era: Era) -> Served {
    Served::text(&graph(workflows), era)
}

/// The text of a result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
