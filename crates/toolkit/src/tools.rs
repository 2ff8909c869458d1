//! The tools, as clients see them.

use std::sync::LazyLock;

use mcpgraph_graph::Kind;
use mcpgraph_journal::RunStatus;
use serde_json::{Value, json};

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    description: &'static str,
    pub(crate) input: Value,
    output: Value,
    effect: Effect,
}

/// What calling a tool does to the world.
#[derive(Clone, Copy)]
enum Effect {
    /// It only looks.
    Reads,
    /// It looks, and starts servers to ask them.
    Asks,
    /// It does what upstream tools do.
    Runs,
    /// It adds something to the file.
    Adds,
    /// It changes or removes something of the file.
    Changes,
}

impl Tool {
    /// The tool for `tools/list`.
    pub(crate) fn listed(&self) -> Value {
        let (reads, destroys, repeats, open) = match self.effect {
            Effect::Reads => (true, false, true, false),
            Effect::Asks => (true, false, true, true),
            Effect::Runs => (false, true, false, true),
            Effect::Adds => (false, false, false, false),
            Effect::Changes => (false, true, true, false),
        };
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": reads,
                "destructiveHint": destroys,
                "idempotentHint": repeats,
                "openWorldHint": open,
            },
        })
    }
}

/// Every tool.
pub(crate) fn all() -> &'static [Tool] {
    static ALL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        let mut all = discovery();
        all.extend(trying());
        all.extend(running());
        all.extend(changing());
        all
    });
    &ALL
}

fn discovery() -> Vec<Tool> {
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

fn trying() -> Vec<Tool> {
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

fn context() -> Value {
    json!({ "type": "object", "description": "The outputs of nodes: {node_id: output}" })
}

fn history() -> Value {
    let entry = object(json!({ "node": text("The node's id"), "output": {} }), &["node"]);
    json!({
        "type": "array",
        "items": entry,
        "description": "Outputs in the order in which nodes ran, for $previousNode() and the like"
    })
}

fn running() -> Vec<Tool> {
    let logging = json!({ "type": "boolean", "description": "Give every step" });
    let ran = || {
        answer(
            json!({
                "run": text("The id of the run"),
                "result": {},
                "steps": { "type": "array", "items": { "type": "object" } },
                "stepsLeftOut": { "type": "integer" },
                "mayHaveCalled": { "type": "array", "items": { "type": "object" } }
            }),
            &["run", "result"],
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
            name: "testMcpTool",
            description: "Evaluates the args of an mcp node on a context and calls the tool",
            input: object(
                json!({
                    "serverName": text("The server"),
                    "toolName": text("Its tool"),
                    "args": { "type": "object", "description": "As in a node: a text that starts with $ is JSONata" },
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
                    "next": { "type": "integer" }
                }),
                &["run", "steps"],
            ),
            effect: Effect::Reads,
        },
    ]
}

fn changing() -> Vec<Tool> {
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
            description: "Removes a tool from the graph file",
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

fn definition() -> Value {
    json!({
        "type": "object",
        "description": "A definition of a tool: name, description, inputSchema, outputSchema, nodes; getGraphSchema gives its schema"
    })
}

fn diagnostics() -> Value {
    let problem = json!({
        "code": text(""), "severity": { "enum": ["error", "warning"] }, "pointer": text("Where in the definition"),
        "message": text(""), "suggestion": text(""), "in": { "enum": ["file"] }
    });
    items(problem, &["severity", "message"])
}

fn text(description: &str) -> Value {
    match description {
        "" => json!({ "type": "string" }),
        description => json!({ "type": "string", "description": description }),
    }
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

/// An object with these members and no others.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

fn items(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "array",
        "items": { "type": "object", "properties": properties, "required": required }
    })
}

/// The schema of an answer: what was asked for, or an error.
fn answer(mut properties: Value, required: &[&str]) -> Value {
    properties["error"] = json!({
        "type": "object",
        "properties": { "message": text("What is wrong"), "suggestion": text("What to do about it") },
        "required": ["message"]
    });
    json!({
        "type": "object",
        "properties": properties,
        "anyOf": [{ "required": required }, { "required": ["error"] }]
    })
}
