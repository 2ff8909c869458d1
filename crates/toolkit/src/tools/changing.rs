//! Changes of the graph file.

use serde_json::json;

use super::{Effect, Tool, answer, definition, diagnostics, object, text};

pub(super) fn tools() -> Vec<Tool> {
    let changed = || {
        answer(
            json!({ "changed": { "type": "boolean" }, "diff": text("A unified diff"), "diagnostics": diagnostics() }),
            &["changed", "diff", "diagnostics"],
        )
    };
    let name = text("The tool");
    vec![
        Tool {
            name: "addGraphTool",
            description: "Adds a tool to the graph file, after checking it",
            input: object(json!({ "tool": definition() }), &["tool"]),
            output: changed(),
            effect: Effect::Adds,
        },
        Tool {
            name: "updateGraphTool",
            description: "Puts another definition in the place of a tool of the graph file, after checking it; the name may change",
            input: object(json!({ "toolName": name, "tool": definition() }), &["toolName", "tool"]),
            output: changed(),
            effect: Effect::Changes,
        },
        Tool {
            name: "deleteGraphTool",
            description: "Removes a tool from the graph file; a tool that is not there is an error, and nothing changes",
            input: object(json!({ "toolName": name }), &["toolName"]),
            output: changed(),
            effect: Effect::Changes,
        },
        Tool {
            name: "diffGraphTool",
            description: "Shows what updateGraphTool would change in the file, as a unified diff, without saving it",
            input: object(json!({ "toolName": name, "tool": definition() }), &["toolName", "tool"]),
            output: changed(),
            effect: Effect::Asks,
        },
    ]
}
