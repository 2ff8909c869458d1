//! Runs under a debugger.

use mcpgraph_runtime::{MAX_BREAKPOINTS, Move};
use serde_json::{Value, json};

use super::{Effect, Tool, answer, definition, object, question, text};
use crate::debug::{ACTIONS, MAX_WAIT_MS};

pub(super) fn tools() -> Vec<Tool> {
    let paused = |description: &str| json!({ "type": "boolean", "description": description });
    let logging = json!({ "type": "boolean", "description": "Give every step so far" });
    let moves = Move::NAMES.into_iter().map(|(name, _)| name);
    let actions: Vec<&str> = moves.chain(ACTIONS).collect();
    vec![
        Tool {
            name: "debugGraphTool",
            description: "Starts a run under a debugger: paused before its first node, or until a breakpoint; controlRun goes on with it. A run that nothing is asked of for ten minutes is released",
            input: object(
                json!({
                    "toolName": text("A tool of the graph file"),
                    "toolDefinition": definition(),
                    "arguments": { "type": "object" },
                    "paused": paused("Pause before the first node; true unless there are breakpoints"),
                    "breakpoints": breakpoints(),
                    "waitMs": wait(),
                    "logging": logging
                }),
                &[],
            ),
            output: stands(),
            effect: Effect::Runs,
        },
        Tool {
            name: "controlRun",
            description: "Controls a run that debugGraphTool started: pause, resume, step, stepOver what is inside a node, stop, look at its state, replace its breakpoints (setBreakpoints), change a node's latest output while it is paused (setOutput), let it go on by itself (leave), or take over a run under way (join)",
            input: object(
                json!({
                    "runId": text("The run"),
                    "action": { "enum": actions },
                    "breakpoints": breakpoints(),
                    "node": text("For setOutput: the node"),
                    "output": { "description": "For setOutput: its new output" },
                    "scope": text("For state and setOutput: the body inside a node, as the path of its steps without their own position; the one that goes on next if it is left out"),
                    "paused": paused("For join: pause the run"),
                    "waitMs": wait(),
                    "logging": logging
                }),
                &["runId", "action"],
            ),
            output: stands(),
            effect: Effect::Runs,
        },
    ]
}

fn breakpoints() -> Value {
    let point = object(
        json!({
            "node": text("The node's id"),
            "when": { "enum": ["before", "after"] },
            "condition": { "description": "A JSON Logic rule: the run stops only where it holds" },
            "hits": { "type": "integer", "minimum": 1, "description": "Stop from this time on that it would" }
        }),
        &["node"],
    );
    json!({ "type": "array", "items": point, "maxItems": MAX_BREAKPOINTS })
}

/// How long an answer about a debugged run may take.
pub(super) fn wait() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": MAX_WAIT_MS,
        "description": "How long to wait for a debugged run to pause, ask or end before telling how it stands"
    })
}

/// How a run stands.
pub(super) fn stands() -> Value {
    let next = json!({
        "type": "object",
        "properties": { "node": text(""), "kind": text(""), "path": text("") },
        "required": ["node", "kind", "path"]
    });
    answer(
        json!({
            "run": text("The id of the run"),
            "state": { "enum": ["running", "paused", "ended", "released"] },
            "why": { "enum": ["asked", "stepped", "before", "after"] },
            "node": text("The node whose breakpoint was reached"),
            "next": next,
            "problem": text("What is wrong with the condition of the breakpoint"),
            "inside": { "type": "boolean", "description": "A run inside it stands still" },
            "context": { "type": "object", "description": "What the next node sees" },
            "question": question(),
            "result": {},
            "failure": { "type": "object", "description": "Why the run failed, as runGraphTool tells it" },
            "steps": { "type": "array", "items": { "type": "object" } },
            "stepsLeftOut": { "type": "integer" }
        }),
        &["run", "state"],
    )
}
