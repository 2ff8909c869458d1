//! The tools, as clients see them.

mod changing;
mod debugging;
mod discovering;
mod running;
mod trying;

use std::sync::LazyLock;

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
        let parts = [
            discovering::tools(),
            trying::tools(),
            running::tools(),
            debugging::tools(),
            changing::tools(),
        ];
        parts.into_iter().flatten().collect()
    });
    &ALL
}

/// What an argument of a tool may be, where that is a list of words.
pub(crate) fn choices(tool: &str, pointer: &str) -> Option<Vec<&'static str>> {
    let argument = pointer.strip_prefix('/')?;
    let tool = all().iter().find(|known| known.name == tool)?;
    let words = tool.input.get("properties")?.get(argument)?.get("enum")?.as_array()?;
    Some(words.iter().filter_map(Value::as_str).collect())
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

fn definition() -> Value {
    json!({
        "type": "object",
        "description": "A definition of a tool: name, description, inputSchema, outputSchema, nodes; getGraphSchema gives its schema"
    })
}

fn diagnostics() -> Value {
    let problem = json!({
        "code": text(""), "severity": { "enum": ["error", "warning"] }, "pointer": text("Where in the definition"),
        "message": text(""), "suggestion": text(""), "in": { "enum": ["file"] },
        "file": text("The file it is in"), "line": count("From 1"), "column": count("From 1")
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

/// A question of a run.
fn question() -> Value {
    let properties = json!({
        "id": text("What answerQuestion takes"), "run": text("The run that waits"),
        "node": text("The node that asks"), "message": text("What is asked"),
        "schema": { "type": "object", "description": "What the answer must look like" },
        "expiresAt": text("Until when it can be answered")
    });
    json!({
        "type": "object", "properties": properties,
        "required": ["id", "run", "node", "message", "schema", "expiresAt"],
        "description": "What the run asks a person, and waits for: ask the user, then answerQuestion"
    })
}

/// The schema of an answer: what was asked for, or an error.
fn answer(properties: Value, required: &[&str]) -> Value {
    answer_of(properties, &[required])
}

/// The same where there are several things it may be.
fn answer_of(mut properties: Value, alternatives: &[&[&str]]) -> Value {
    properties["error"] = json!({
        "type": "object",
        "properties": { "message": text("What is wrong"), "suggestion": text("What to do about it") },
        "required": ["message"]
    });
    let required = |members: &&[&str]| json!({ "required": members });
    let mut alternatives: Vec<Value> = alternatives.iter().map(required).collect();
    alternatives.push(json!({ "required": ["error"] }));
    json!({ "type": "object", "properties": properties, "anyOf": alternatives })
}
