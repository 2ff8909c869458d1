//! What there is.

use mcpgraph_graph::Kind;
use serde_json::json;

use super::{Effect, Tool, answer, items, object, text};

pub(super) fn tools() -> Vec<Tool> {
    let named = json!({ "name": text(""), "description": text("") });
    vec![
        Tool {
            name: "getGraphServer",
            description: "What the graph file says about the server it describes: name, version, title, instructions",
            input: object(json!({}), &[]),
            output: answer(
                json!({ "name": text(""), "version": text(""), "title": text(""), "instructions": text(""),
                    "tools": { "type": "integer" }, "file": text("The graph file") }),
                &["name", "version", "title", "tools", "file"],
            ),
            effect: Effect::Reads,
        },
        Tool {
            name: "listGraphTools",
            description: "Lists the tools of the graph file: name and description",
            input: object(json!({}), &[]),
            output: answer(json!({ "items": items(named.clone(), &["name"]) }), &["items"]),
            effect: Effect::Reads,
        },
        Tool {
            name: "getGraphTool",
            description: "Gives the whole definition of a tool of the graph file, nodes included",
            input: object(json!({ "toolName": text("The tool") }), &["toolName"]),
            output: answer(json!({ "tool": { "type": "object" } }), &["tool"]),
            effect: Effect::Reads,
        },
        Tool {
            name: "listMcpServers",
            description: "Lists the MCP servers that nodes can call; one that cannot start is listed with its error",
            input: object(json!({}), &[]),
            output: answer(
                json!({ "items": items(json!({
                    "name": text(""), "title": text(""), "version": text(""), "instructions": text(""),
                    "status": { "enum": ["available", "unavailable", "disabled"] }, "error": text("")
                }), &["name", "status"]) }),
                &["items"],
            ),
            effect: Effect::Asks,
        },
        Tool {
            name: "listMcpServerTools",
            description: "Lists the tools of all MCP servers, or of one: name and description",
            input: object(json!({ "serverName": text("Only this server") }), &[]),
            output: answer(
                json!({
                    "items": items(json!({ "serverName": text(""), "name": text(""), "description": text("") }), &["serverName", "name"]),
                    "errors": items(json!({ "serverName": text(""), "error": text("") }), &["serverName", "error"])
                }),
                &["items", "errors"],
            ),
            effect: Effect::Asks,
        },
        Tool {
            name: "getMcpServerTool",
            description: "Gives a tool of an MCP server as the server describes it, with its schemas",
            input: object(
                json!({ "serverName": text("The server"), "toolName": text("Its tool") }),
                &["serverName", "toolName"],
            ),
            output: answer(
                json!({ "serverName": text(""), "name": text(""), "inputSchema": {} }),
                &["serverName", "name"],
            ),
            effect: Effect::Asks,
        },
        Tool {
            name: "getGraphSchema",
            description: "Gives the JSON Schema of a tool definition, or of a type of node",
            input: object(json!({ "nodeType": { "enum": Kind::NAMES } }), &[]),
            output: answer(
                json!({ "schema": { "type": "object" }, "nodeTypes": { "type": "array", "items": text("") } }),
                &["schema", "nodeTypes"],
            ),
            effect: Effect::Reads,
        },
    ]
}
