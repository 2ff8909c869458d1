//! Runs and their records.

use mcpgraph_gateway::DECLINE;
use mcpgraph_journal::RunStatus;
use serde_json::{Value, json};

use super::debugging::{stands, wait};
use super::{
    Effect, Tool, answer, answer_of, context, count, definition, history, items, object, question,
    text,
};

pub(super) fn tools() -> Vec<Tool> {
    let logging = json!({ "type": "boolean", "description": "Give every step" });
    let ran = || {
        answer_of(
            json!({
                "run": text("The id of the run"),
                "result": {},
                "question": question(),
                "steps": { "type": "array", "items": { "type": "object" } },
                "stepsLeftOut": { "type": "integer" },
                "mayHaveCalled": { "type": "array", "items": { "type": "object" } },
                "masked": { "type": "boolean", "description": "Whether the record has [redacted] where the run had secrets" },
                "note": text("What could not be compared with the record, and why")
            }),
            &[&["run", "result"], &["run", "question"]],
        )
    };
    let statuses = RunStatus::ALL.map(RunStatus::name);
    vec![
        Tool {
            name: "runGraphTool",
            description: "Runs a tool of the graph file, or a definition that is not saved; a failure comes with its steps and context",
            input: object(
                json!({
                    "toolName": text("A tool of the graph file"),
                    "toolDefinition": definition(),
                    "arguments": { "type": "object" },
                    "logging": logging
                }),
                &[],
            ),
            output: ran(),
            effect: Effect::Runs,
        },
        Tool {
            name: "answerQuestion",
            description: "Answers the question of a run that this toolkit started, and gives what the run comes to: its result, or the next question; of a debugged run how it stands. Ask the user; do not make answers up",
            input: object(
                json!({
                    "questionId": text("The `id` of the question"),
                    "answer": {
                        "description": format!("What the user answers, as the question's schema says; or \"{DECLINE}\". Leave it out to see how the run stands"),
                        "anyOf": [{ "type": "object" }, { "const": DECLINE }]
                    },
                    "waitMs": wait(),
                    "logging": logging
                }),
                &["questionId"],
            ),
            output: answered(ran()),
            effect: Effect::Runs,
        },
        Tool {
            name: "testMcpTool",
            description: "Evaluates the args of an mcp node on a context and calls the tool",
            input: object(
                json!({
                    "serverName": text("The server"),
                    "toolName": text("Its tool"),
                    "args": { "type": "object", "description": "As in a node of this file: an argument that starts with $ is JSONata, or {expr: …}" },
                    "context": context(),
                    "history": history()
                }),
                &["serverName", "toolName"],
            ),
            output: answer(
                json!({ "args": {}, "output": {}, "durationMs": { "type": "number" } }),
                &["args", "output", "durationMs"],
            ),
            effect: Effect::Runs,
        },
        Tool {
            name: "rerunGraphTool",
            description: "Runs a recorded run again: from a step on with other outputs before it, or anew with other arguments",
            input: object(
                json!({
                    "runId": text("The run, or the beginning of its id"),
                    "from": count("The first step that is executed again"),
                    "changes": { "type": "object", "description": "Other outputs: {node_id: output}" },
                    "arguments": { "type": "object", "description": "Other arguments, for a run anew" },
                    "recorded": { "type": "boolean", "description": "Run the version of the tool that was recorded, not the one in the file" },
                    "logging": logging
                }),
                &["runId"],
            ),
            output: ran(),
            effect: Effect::Runs,
        },
        Tool {
            name: "listRuns",
            description: "Lists recorded runs, the newest first",
            input: object(
                json!({
                    "toolName": text("Runs of this tool"),
                    "status": { "enum": statuses },
                    "text": text("Runs with this text in their tool, error or payloads"),
                    "limit": { "type": "integer", "minimum": 1, "maximum": 1000 },
                    "before": text("The `next` of the page before")
                }),
                &[],
            ),
            output: answer(
                json!({ "items": items(json!({ "id": text(""), "tool": text(""), "status": { "enum": statuses } }), &["id", "tool", "status"]), "next": text("") }),
                &["items"],
            ),
            effect: Effect::Reads,
        },
        Tool {
            name: "getRun",
            description: "Gives a recorded run with its steps; one step comes with the context it saw",
            input: object(
                json!({
                    "runId": text("The run, or the beginning of its id"),
                    "step": count("Only this step, with its context"),
                    "from": count("The first step to give"),
                    "limit": { "type": "integer", "minimum": 1, "maximum": 2000 }
                }),
                &["runId"],
            ),
            output: answer(
                json!({
                    "run": { "type": "object" },
                    "steps": { "type": "array", "items": { "type": "object" } },
                    "context": { "type": "object" },
                    "questions": { "type": "array", "items": question(), "description": "What a run under way asks people" },
                    "changes": { "type": "object", "description": "The outputs that were changed where the run went on from another" },
                    "next": { "type": "integer" }
                }),
                &["run", "steps"],
            ),
            effect: Effect::Reads,
        },
    ]
}

/// What comes of an answer: what comes of a run, or how one stands that is debugged.
fn answered(ran: Value) -> Value {
    json!({ "type": "object", "anyOf": [ran, stands()] })
}
