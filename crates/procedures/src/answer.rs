//! What the tools answer.

use mcpgraph_diagnostics::{Code, Diagnostics, codes, to_json};
use mcpgraph_mcp::message::{Raw, RpcError, code, raw};
use mcpgraph_sop::{
    Guarded, MAX_CALLS, MAX_STEPS, MAX_TODOS, Mode, Move, NodeId, NotAccepted, Procedure, Refusal,
    Walk,
};
use serde_json::{Map, Value, json};

/// How many nodes an answer names when it is asked for one that does not exist.
const MAX_NAMES: usize = 50;

/// What a tool gives: an object, or an error that an agent can act on.
pub(crate) type Answer = Result<Value, Failure>;

/// Why a tool did not do what was asked.
pub(crate) struct Failure(Value);

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self(json!({ "error": message.into(), "code": code.id() }))
    }

    /// The same with another fact.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = value.into();
        self
    }

    /// The same as the failure of a request that calls no tool.
    pub(crate) fn into_error(self) -> RpcError {
        let message = self.0["error"].as_str().unwrap_or_default().to_owned();
        RpcError::new(code::UNAVAILABLE, message).with_data(&json!({ "code": self.0["code"] }))
    }

    /// A fault of ours.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        Self::new(codes::RUN_INTERNAL, error.to_string())
    }

    /// Nothing has been loaded in this conversation.
    pub(crate) fn nothing_loaded() -> Self {
        Self::new(codes::NOTHING_LOADED, "Graph not loaded. Call load_graph first.")
    }
}

/// The result of `tools/call`.
pub(crate) fn result(answer: Answer) -> Raw {
    let is_error = answer.is_err();
    let value = answer.unwrap_or_else(|failure| failure.0);
    let mut result = json!({ "content": [{ "type": "text", "text": value.to_string() }] });
    if is_error {
        result["isError"] = true.into();
    }
    result["structuredContent"] = value;
    raw(&result)
}

/// The answer of `load_graph`.
pub(crate) fn loaded(procedure: &Procedure, mode: Mode, warnings: &Diagnostics) -> Value {
    let chart = &procedure.chart;
    let servers = procedure.server_infos().into_iter().map(|server| {
        let mut info = Map::new();
        for (key, text) in
            [("name", server.name), ("url", server.url), ("description", server.description)]
        {
            if let Some(text) = text {
                info.insert(key.into(), json!(text));
            }
        }
        Value::from(info)
    });
    let mut answer = json!({
        "agent": procedure.agent(),
        "version": procedure.version(),
        "entry_node": chart.nodes[procedure.entry].id,
        "model": procedure.front.model.as_ref().map(mcpgraph_config::Json::value),
        "mcp_servers": servers.collect::<Vec<_>>(),
        "graph": {
            "node_count": chart.nodes.len(),
            "decision_nodes": procedure.ids_where(|_, node| node.is_decision()),
            "terminal_nodes": procedure.ids_where(|number, node| node.is_terminal(number)),
            "nodes_with_prompts": procedure.ids_where(|_, node| node.has_prompt),
        },
        "system_prompt_sections": procedure.sections,
        "system_prompt": procedure.system_prompt,
        "warnings": to_json(warnings)["diagnostics"],
    });
    if let Some(hub) = procedure.hub {
        answer["hub_node"] = json!(chart.nodes[hub].id);
    }
    if mode == Mode::Enforced {
        answer["enforced"] = true.into();
    }
    answer
}

/// The answer of `goto_node`.
pub(crate) fn moved(walk: &Walk, asked: &str, made: &Move, now: u64) -> Value {
    let (node, refusal) = match made {
        Move::Legal(node) => (Some(*node), None),
        Move::Lenient(node, refusal) => (Some(*node), Some(refusal)),
        Move::Refused(refusal) => (None, Some(refusal)),
    };
    let mut answer = node.map_or_else(|| json!({}), |node| arrived(walk, node));
    answer["path"] = json!(walk.path().collect::<Vec<_>>());
    answer["valid"] = refusal.is_none().into();
    match (refusal, node) {
        (Some(refusal), None) => {
            answer["error"] = reason(walk, asked, refusal, walk.current()).into();
            answer["current_node"] = json!(walk.current().map(|node| &walk.node(node).id));
            answer["valid_next"] = json!(names(walk, &walk.next(now)));
        }
        (Some(refusal), Some(_)) => {
            let before = walk.steps().len().checked_sub(2).map(|step| walk.steps()[step].node);
            answer["error"] = reason(walk, asked, refusal, before).into();
        }
        (None, _) => {}
    }
    if let Some(node) = node.filter(|node| walk.is_terminal(*node)) {
        let id = &walk.node(node).id;
        if walk.completes(node) {
            answer["todo_reminder"] =
                format!("Reached completion node {id}. Update todos and proceed to next task.")
                    .into();
        }
        if walk.mode() == Mode::Enforced {
            answer["receipt"] = receipt(walk, now);
        }
    }
    answer
}

/// A node as an agent sees it, with what leads on from it.
fn arrived(walk: &Walk, number: NodeId) -> Value {
    let node = walk.node(number);
    let mut shown = json!({ "id": node.id, "type": node.shape, "description": node.description });
    if let Some(prompt) = &node.prompt {
        shown["prompt"] = json!(prompt);
    }
    if !node.tools.is_empty() {
        shown["tools"] = json!(node.tools);
    }
    if let Some(examples) = &node.examples {
        shown["examples"] = json!(examples);
    }
    let edges = node
        .edges
        .iter()
        .map(|edge| json!({ "to": walk.node(edge.to).id, "condition": edge.condition }));
    json!({ "node": shown, "edges": edges.collect::<Vec<_>>() })
}

/// Why a move is not legal, in words.
fn reason(walk: &Walk, asked: &str, refusal: &Refusal, from: Option<NodeId>) -> String {
    let from = from.map(|node| &walk.node(node).id);
    let entry = &walk.node(walk.procedure().entry).id;
    match (refusal, from) {
        (Refusal::UnknownNode, _) => {
            let ids = walk.procedure().chart.ids();
            let left = ids.len().saturating_sub(MAX_NAMES);
            let mut known: Vec<&str> = ids.take(MAX_NAMES).collect();
            let more = format!("and {left} more");
            if left > 0 {
                known.push(&more);
            }
            format!("Node not found. Valid nodes: [{}]", known.join(", "))
        }
        (Refusal::NoWay(_), Some(from)) => format!("Cannot reach {asked} from {from}"),
        (Refusal::NoWay(_), None) => {
            format!("Cannot reach {asked}: the walk has not begun; it begins at {entry}")
        }
        (Refusal::Guarded(guarded), _) => guarded_reason(walk, asked, guarded),
        (Refusal::PathFull, _) => {
            format!(
                "The path has {MAX_STEPS} steps, which is the limit. Go to {entry} to begin a new one."
            )
        }
    }
}

fn guarded_reason(walk: &Walk, asked: &str, guarded: &Guarded) -> String {
    let from = walk.current().map_or("", |node| &*walk.node(node).id);
    let way = match &guarded.condition {
        Some(condition) => format!("the guard of `{condition}`"),
        None => String::from("the guard of that edge"),
    };
    let seen = if guarded.results.is_empty() {
        String::from("no tool has given a result at this node yet")
    } else {
        format!("it was judged by what {} gave here", guarded.results.join(", "))
    };
    let failed = guarded.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
    format!(
        "Cannot move to {asked} from {from}: {way} does not hold{failed}: {}; {seen}",
        guarded.rule
    )
}

/// What a walk can be held to: where it went, how long it was there, what it called.
fn receipt(walk: &Walk, now: u64) -> Value {
    let steps = walk.steps();
    let ends = steps.iter().skip(1).map(|step| step.entered).chain([now]);
    let nodes = steps.iter().zip(ends).map(|(step, end)| {
        let tools = step.uses.iter().map(|done| {
            json!({
                "tool": done.tool,
                "arguments_sha256": done.arguments,
                "result_sha256": done.result,
                "failed": done.failed,
                "unanswered": done.is_unanswered(),
            })
        });
        json!({
            "node": walk.node(step.node).id,
            "ms": end.saturating_sub(step.entered),
            "tools": tools.collect::<Vec<_>>(),
        })
    });
    json!({
        "agent": walk.procedure().agent(),
        "version": walk.procedure().version(),
        "file_sha256": walk.procedure().digest,
        "path": walk.path().collect::<Vec<_>>(),
        "started_ms": steps.first().map(|step| step.entered),
        "ended_ms": now,
        "nodes": nodes.collect::<Vec<_>>(),
    })
}

/// The answer of `todo`.
pub(crate) fn planned(walk: &Walk) -> Value {
    let todos = walk.todos().iter().map(|todo| {
        let mut shown = json!({ "content": todo.content, "status": todo.status.name() });
        if let Some(node) = todo.completion {
            shown["completion_node"] = json!(walk.node(node).id);
        }
        if let Some(note) = &todo.note {
            shown["note"] = json!(note);
        }
        shown
    });
    json!({ "todos": todos.collect::<Vec<_>>(), "summary": summary(walk) })
}

/// How many todos there are of each status.
pub(crate) fn summary(walk: &Walk) -> Value {
    let counts = walk.summary();
    json!({
        "pending": counts.pending,
        "in_progress": counts.in_progress,
        "completed": counts.completed,
    })
}

/// Why a list was not accepted.
pub(crate) fn not_accepted(problem: &NotAccepted) -> Failure {
    match problem {
        NotAccepted::TooMany(count) => Failure::new(
            codes::CONVERSATION_LIMIT,
            format!("there are {count} todos; the limit is {MAX_TODOS}. The list stays as it was."),
        ),
        NotAccepted::Item { position, why } => wrong_todo(*position, why),
    }
}

/// An item of the list is wrong.
pub(crate) fn wrong_todo(position: usize, why: &str) -> Failure {
    let message = format!("todo {position}: {why}. The list stays as it was.");
    Failure::new(codes::TODOS_REFUSED, message).with("position", position)
}

/// A tool that may not be called where the walk is.
pub(crate) fn not_here(walk: &Walk, tool: &str, now: u64) -> Failure {
    let tools: Vec<_> = walk.allowed().collect();
    let current = walk.current().map(|node| &*walk.node(node).id);
    let allowed = if tools.is_empty() { String::from("none") } else { tools.join(", ") };
    let next = names(walk, &walk.next(now));
    let place = current.map_or_else(
        || String::from("before the walk has begun"),
        |node| format!("at node {node}"),
    );
    let message = format!(
        "{tool} may not be called {place}. Tools here: {allowed}. Next nodes: {}.",
        next.join(", ")
    );
    Failure::new(codes::TOOL_NOT_HERE, message)
        .with("current_node", json!(current))
        .with("tools", json!(tools))
        .with("valid_next", json!(next))
}

/// A path with too many calls.
pub(crate) fn too_many_calls() -> Failure {
    let message = format!(
        "there were {MAX_CALLS} calls of tools on this path, which is the limit; go to the entry \
         node to begin a new one"
    );
    Failure::new(codes::CONVERSATION_LIMIT, message)
}

fn names<'w>(walk: &'w Walk, nodes: &[NodeId]) -> Vec<&'w str> {
    nodes.iter().map(|node| &*walk.node(*node).id).collect()
}
