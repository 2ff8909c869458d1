//! The three tools as clients see them, and their arguments.

use mcpgraph_sop::TodoDraft;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const LOAD_GRAPH: &str = "load_graph";
pub(crate) const TODO: &str = "todo";
pub(crate) const GOTO_NODE: &str = "goto_node";

/// The names of all three.
pub(crate) const NAMES: [&str; 3] = [LOAD_GRAPH, TODO, GOTO_NODE];

/// The name of the argument that says which conversation is meant.
pub(crate) const CONVERSATION: &str = "conversation";

/// What models are told.
pub(crate) const INSTRUCTIONS: &str = "\
Work through a standard operating procedure: call load_graph once and take what it returns as your \
instructions, plan with todo when the user wants several things, then move with goto_node, which \
returns the instructions of one node at a time and the nodes that can follow.";

/// The tools, with an argument for the conversation where the client has to say which it is.
pub(crate) fn listed(with_conversation: bool) -> Vec<Value> {
    let mut tools = vec![load_graph(), todo(), goto_node()];
    if with_conversation {
        for tool in &mut tools {
            tool["inputSchema"]["properties"][CONVERSATION] = conversation();
        }
    }
    tools
}

/// The schema of the argument for the conversation.
pub(crate) fn conversation() -> Value {
    json!({ "type": "string", "description": "The `conversation` that load_graph returned" })
}

fn load_graph() -> Value {
    json!({
        "name": LOAD_GRAPH,
        "description": "Parse an agent SOP markdown file. Extracts the mermaid graph for the system prompt and stores node prompts for progressive delivery via goto_node.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "sop_file": {
                    "type": "string",
                    "description": "Path or URL to the agent SOP markdown file"
                }
            },
            "required": ["sop_file"]
        }
    })
}

fn todo() -> Value {
    let item = json!({
        "properties": {
            "content": {
                "type": "string",
                "minLength": 1,
                "description": "Task description"
            },
            "note": {
                "type": "string",
                "description": "Optional context, dependencies, or findings from other tasks"
            },
            "status": {
                "type": "string",
                "enum": ["pending", "in_progress", "completed"],
                "description": "Current task status"
            },
            "completion_node": {
                "type": "string",
                "description": "Terminal SOP node ID that marks this task as done. When goto_node reaches this node, it reminds the agent to update todos."
            }
        },
        "required": ["content", "status"],
        "type": "object"
    });
    json!({
        "name": TODO,
        "description": "Create and manage a structured task list for the current conversation. Write the full updated list on each call. Tasks are internal to the agent and not shown to the user.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "todos": { "description": "The updated todo list", "items": item, "type": "array" }
            },
            "required": ["todos"]
        }
    })
}

fn goto_node() -> Value {
    json!({
        "name": GOTO_NODE,
        "description": "Move to a node in the SOP graph. Returns the node description, prompt, tools, examples, and valid next edges. Validates that the transition is legal from the current position.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "node_id": { "type": "string", "description": "Target node ID to move to" }
            },
            "required": ["node_id"]
        }
    })
}

/// The arguments of `load_graph`.
#[derive(Deserialize)]
pub(crate) struct LoadGraph {
    pub(crate) sop_file: String,
}

/// The arguments of `goto_node`.
#[derive(Deserialize)]
pub(crate) struct GotoNode {
    pub(crate) node_id: String,
}

/// The arguments of `todo`.
#[derive(Deserialize)]
pub(crate) struct Todos {
    todos: Vec<Value>,
}

#[derive(Deserialize)]
struct Item {
    content: String,
    status: String,
    note: Option<String>,
    completion_node: Option<String>,
}

impl Todos {
    /// The list; an item of the wrong shape is named by its position.
    pub(crate) fn drafts(self) -> Result<Vec<TodoDraft>, (usize, String)> {
        let drafts = self.todos.into_iter().enumerate().map(|(index, item)| {
            let item: Item =
                serde_json::from_value(item).map_err(|error| (index + 1, error.to_string()))?;
            let Item { content, status, note, completion_node } = item;
            Ok(TodoDraft { content, status, note, completion_node })
        });
        drafts.collect()
    }
}
