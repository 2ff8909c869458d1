//! Finding tools instead of being shown all of them: `find_tools` and `call_tool`.

use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_value::Value;
use serde_json::json;

use crate::adapt;
use crate::listing::Listed;
use crate::rank::Index;
use crate::relay::{self, Params};

/// The tool that finds others.
pub(crate) const FIND: &str = "find_tools";

/// The tool that calls what was found.
pub(crate) const CALL: &str = "call_tool";

/// The names that discovery takes.
pub(crate) const NAMES: [&str; 2] = [FIND, CALL];

/// How many tools are given if the client does not say.
const DEFAULT_LIMIT: usize = 8;

/// How many may be asked for.
const MAX_LIMIT: usize = 50;

/// How much a word counts in the name, the title, the description and the parameters of a tool.
const WEIGHTS: [f64; 4] = [3.0, 2.0, 1.0, 0.5];

/// Both tools, as clients see them.
pub(crate) fn tools() -> [Raw; 2] {
    let find = json!({
        "name": FIND,
        "title": "Find tools",
        "description": "Finds the tools that fit a description of what is to be done, the best first, each with its schema. Call what you find with call_tool.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "What the tool should do, in a few words" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT }
            },
            "required": ["query"]
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "tools": { "type": "array", "items": { "type": "object" } },
                "total": { "type": "integer", "description": "How many tools there are to be found" },
                "leftOut": { "type": "array", "items": { "type": "object" }, "description": "Servers that do not tell what they have now" }
            },
            "required": ["tools", "total"]
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false }
    });
    let call = json!({
        "name": CALL,
        "title": "Call a tool",
        "description": "Calls a tool that find_tools found, with arguments that fit its inputSchema. The answer is the tool's own.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The name of the tool" },
                "arguments": { "type": "object" }
            },
            "required": ["name"]
        },
        "annotations": { "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true }
    });
    [raw(&find), raw(&call)]
}

/// The answer of `find_tools`.
pub(crate) fn find(listed: &Listed, arguments: &Value) -> Result<Raw, RpcError> {
    let Listed { items, left_out, .. } = listed;
    let query = arguments.get("query").and_then(Value::as_str);
    let query = query.ok_or_else(|| RpcError::invalid_params("`query` must be a text"))?;
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => DEFAULT_LIMIT,
        Some(limit) => limit
            .as_i64()
            .and_then(|limit| usize::try_from(limit).ok())
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| {
                RpcError::invalid_params(format!("`limit` is a whole number from 1 to {MAX_LIMIT}"))
            })?,
    };
    let definitions: Vec<Value> =
        items.iter().map(|item| Value::from_json(item.raw.get()).unwrap_or_default()).collect();
    let parameters: Vec<String> = definitions.iter().map(parameters).collect();
    let texts = definitions.iter().zip(&parameters).map(|(tool, parameters)| {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let parts = [text("name"), text("title"), text("description"), parameters.as_str()];
        parts.into_iter().zip(WEIGHTS).collect()
    });
    let best = Index::new(texts).best(query);
    let found: Vec<&Raw> = best.iter().take(limit).map(|position| &items[*position].raw).collect();
    let mut answer = json!({ "tools": found, "total": items.len() });
    if !left_out.is_empty() {
        answer["leftOut"] = json!(left_out);
    }
    let structured = raw(&answer);
    let content = json!([{ "type": "text", "text": structured.get() }]);
    Ok(raw(&json!({ "content": content, "structuredContent": structured })))
}

/// The names and descriptions of a tool's parameters.
fn parameters(tool: &Value) -> String {
    let properties = tool.pointer("/inputSchema/properties").cloned().unwrap_or_default();
    let mut words = String::new();
    for (name, schema) in properties.as_object().into_iter().flat_map(|all| all.iter()) {
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        for text in [&**name, description] {
            words.push_str(text);
            words.push(' ');
        }
    }
    words
}

/// The parameters of the call that `call_tool` stands for.
pub(crate) fn unwrapped(params: &Params) -> Result<Params, RpcError> {
    let arguments = params.get("arguments").map_or("{}", |arguments| arguments.get());
    let inner: Params =
        serde_json::from_str(arguments).map_err(|error| adapt::not_arguments(arguments, &error))?;
    let name = relay::text(&inner, "name")?;
    // One inside the other would never end.
    if NAMES.contains(&&*name) {
        return Err(RpcError::invalid_params(format!("`{name}` cannot be called by `{CALL}`")));
    }
    let mut params = params.clone();
    params.insert("name".to_owned(), raw(&name));
    match inner.get("arguments") {
        Some(arguments) => params.insert("arguments".to_owned(), arguments.clone()),
        None => params.shift_remove("arguments"),
    };
    Ok(params)
}
