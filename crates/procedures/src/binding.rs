//! What a procedure that binds leaves of the other tools.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_sop::Procedure;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::tools::{CONVERSATION, NAMES, conversation};

/// Which of the other tools a client sees.
pub(crate) enum View {
    /// All of them.
    All,
    /// Those that may be called now.
    Only(HashSet<Arc<str>>),
    /// Those that some node names, each with an argument for the conversation: which one a call
    /// belongs to is only known when it is made.
    Named(HashSet<Arc<str>>),
}

/// Members of an object, each as it was written.
type Members = IndexMap<String, Raw>;

/// The tools that some node of some procedure names.
pub(crate) fn named(procedures: &[Arc<Procedure>]) -> HashSet<Arc<str>> {
    let mut tools = HashSet::new();
    for procedure in procedures {
        tools.extend(procedure.chart.nodes.iter().flat_map(|node| node.tools.iter().cloned()));
        tools.extend(procedure.front.always_tools.iter().map(mcpgraph_config::Text::to_arc));
    }
    tools
}

/// Puts our own tools before what is left of the others.
pub(crate) fn listing(listed: &RawValue, own: &[Value], view: &View) -> Result<Raw, RpcError> {
    #[derive(Deserialize)]
    struct Name {
        name: String,
    }
    let broken = |error: serde_json::Error| RpcError::internal(error.to_string());
    let mut members: Members = serde_json::from_str(listed.get()).map_err(broken)?;
    let others: Vec<Raw> = match members.get("tools") {
        Some(tools) => serde_json::from_str(tools.get()).map_err(broken)?,
        None => Vec::new(),
    };
    let mut tools: Vec<Raw> = own.iter().map(raw).collect();
    for tool in others {
        let name = serde_json::from_str::<Name>(tool.get()).map_err(broken)?.name;
        if is_own(&name) {
            continue;
        }
        match view {
            View::All => tools.push(tool),
            View::Only(allowed) if allowed.contains(name.as_str()) => tools.push(tool),
            View::Named(named) if named.contains(name.as_str()) => {
                tools.push(with_conversation(&tool));
            }
            View::Only(_) | View::Named(_) => {}
        }
    }
    members.insert(String::from("tools"), raw(&tools));
    Ok(raw(&members))
}

/// Whether a tool is one of ours.
pub(crate) fn is_own(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The tool with a further argument. One that has an argument of that name stays as it is; its
/// caller says in `_meta` which conversation is meant.
fn with_conversation(tool: &RawValue) -> Raw {
    let mut members: Map<String, Value> = match serde_json::from_str(tool.get()) {
        Ok(members) => members,
        Err(_) => return tool.to_owned(),
    };
    if let Some(Value::Object(schema)) = members.get_mut("inputSchema")
        && let Value::Object(properties) =
            schema.entry("properties").or_insert_with(|| Map::new().into())
        && !properties.contains_key(CONVERSATION)
    {
        properties.insert(CONVERSATION.to_owned(), conversation());
        let required = schema.entry("required").or_insert_with(|| Vec::<Value>::new().into());
        if let Value::Array(required) = required {
            required.push(CONVERSATION.into());
        }
    }
    raw(&members)
}

/// Takes the conversation out of the arguments of a call: it is not for the tool.
pub(crate) fn without_conversation(params: &RawValue) -> Option<Raw> {
    let mut members: Members = serde_json::from_str(params.get()).ok()?;
    let mut arguments: Members = serde_json::from_str(members.get("arguments")?.get()).ok()?;
    arguments.shift_remove(CONVERSATION)?;
    members.insert(String::from("arguments"), raw(&arguments));
    Some(raw(&members))
}

/// Arguments without the conversation, as the tool gets them.
pub(crate) fn stripped(mut arguments: Value) -> Value {
    if let Value::Object(members) = &mut arguments {
        members.shift_remove(CONVERSATION);
    }
    arguments
}

/// Procedures that are still walked by somebody, by the digests of their files, so that a file
/// which is loaded often is kept once.
#[derive(Default)]
pub(crate) struct Shared(HashMap<Arc<str>, std::sync::Weak<Procedure>>);

impl Shared {
    /// The procedure with the same text and name, if somebody has it; else this one.
    pub(crate) fn share(&mut self, procedure: Procedure) -> Arc<Procedure> {
        let known = self.0.get(&procedure.digest).and_then(std::sync::Weak::upgrade);
        if let Some(known) = known.filter(|known| known.source.name() == procedure.source.name()) {
            return known;
        }
        self.0.retain(|_, procedure| procedure.strong_count() > 0);
        let procedure = Arc::new(procedure);
        self.0.insert(Arc::clone(&procedure.digest), Arc::downgrade(&procedure));
        procedure
    }
}
