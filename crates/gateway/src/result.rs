//! What a run's outcome looks like to an MCP client.

use mcpgraph_diagnostics::Code;
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_graph::{Graph, Schema, Tool, Workflow};
use mcpgraph_journal::{Question, rfc3339};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::version::{Era, Version};
use mcpgraph_runtime::Finished;
use mcpgraph_value::{Map, Value};

use crate::wrap;

/// The key under which an error result carries what programs want to know of it.
const ERROR_META: &str = "mcpgraph/error";

/// The tool that a run is of, which may not be there any more when the run ends.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    name: &'a str,
    /// What its results are, if it says so and is there.
    output: Option<&'a Schema>,
}

impl<'a> Called<'a> {
    /// A tool of a graph by its name.
    pub(crate) fn of(graph: &'a Graph, name: &'a str) -> Self {
        Self { name, output: graph.tool(name).and_then(|tool| tool.output.as_ref()) }
    }
}

impl<'a> From<&'a Tool> for Called<'a> {
    fn from(tool: &'a Tool) -> Self {
        Self { name: &tool.name, output: tool.output.as_ref() }
    }
}

/// The answer to `tools/call`.
///
/// A failed run is a result that the model can read. Only an upstream's protocol error stays one,
/// with its code and data: it is about the protocol, not about the task.
pub(crate) fn answer(
    finished: &Finished,
    tool: Called<'_>,
    version: Version,
) -> Result<Raw, RpcError> {
    match &finished.outcome {
        Ok(value) => Ok(raw(&success(value, tool, version))),
        Err(error) => match error.kind {
            ErrorKind::ProtocolError { code } => Err(RpcError {
                code,
                message: format!("{} (run {})", finished.explained(error), finished.run),
                data: error.data.as_ref().map(raw),
            }),
            _ => Ok(raw(&failure(error, tool, finished))),
        },
    }
}

fn success(value: &Value, tool: Called<'_>, version: Version) -> Value {
    let mut result = Map::new();
    result.insert("content", content(value));
    if let Some(structured) = structured(value, tool, version) {
        result.insert("structuredContent", structured);
    }
    result.into()
}

/// Content items for people and models: media as such, text as it is, everything else as JSON.
fn content(value: &Value) -> Value {
    let items = match value {
        Value::Array(items) if !items.is_empty() && items.iter().any(is_media) => {
            items.iter().map(content_item).collect()
        }
        single => vec![content_item(single)],
    };
    items.into()
}

fn content_item(value: &Value) -> Value {
    match value {
        media if is_media(media) => media.clone(),
        Value::String(text) => text_item(text),
        other => text_item(&other.to_json()),
    }
}

fn text_item(text: &str) -> Value {
    Map::from_iter([("type", Value::from("text")), ("text", Value::from(text))]).into()
}

/// Whether a value is a content item that is not text, as `mcp` nodes hand them through.
fn is_media(value: &Value) -> bool {
    let has = |key: &str| value.get(key).and_then(Value::as_str).is_some();
    match value.get("type").and_then(Value::as_str) {
        Some("image" | "audio") => has("data") && has("mimeType"),
        Some("resource_link") => has("uri") && has("name"),
        Some("resource") => value.get("resource").is_some_and(|inner| inner.get("uri").is_some()),
        _ => false,
    }
}

/// The structured result: always for objects, for anything else only where the tool declares it.
fn structured(value: &Value, tool: Called<'_>, version: Version) -> Option<Value> {
    if wrapped_schema(tool.output, version).is_some() {
        return Some(Map::from_iter([(wrap::MEMBER, value.clone())]).into());
    }
    (matches!(value, Value::Object(_)) || tool.output.is_some()).then(|| value.clone())
}

/// The declared schema of results that have to be wrapped for a client of this version.
///
/// The legacy era allows only objects as structured results. What the schema says decides, not the
/// value at hand: the client was shown one schema for all of them.
fn wrapped_schema(output: Option<&Schema>, version: Version) -> Option<&Value> {
    let schema = output?.source();
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    (version.era() == Era::Legacy && !is_object).then_some(schema)
}

fn failure(error: &RunError, tool: Called<'_>, finished: &Finished) -> Value {
    let text = match &finished.place {
        Some(place) => located(error, &place.to_string(), finished),
        None => explained(error, &format!("tool `{}`", tool.name), finished),
    };
    error_result(&text, error, "tool", tool.name, finished)
}

/// The result of a call that a workflow stopped, or that failed with it. The words of a hook that
/// stops a call are for the caller as they are.
pub(crate) fn stopped(error: &RunError, workflow: &Workflow, finished: &Finished) -> Value {
    let text = match error.kind {
        ErrorKind::HookBlocked => error.message.clone(),
        _ => explained(error, &format!("workflow `{}`", workflow.name), finished),
    };
    error_result(&text, error, "workflow", &workflow.id, finished)
}

fn explained(error: &RunError, place: &str, finished: &Finished) -> String {
    let place = match &error.node {
        Some(node) => format!("node `{node}` of {place}"),
        None => place.to_owned(),
    };
    located(error, &place, finished)
}

fn located(error: &RunError, place: &str, finished: &Finished) -> String {
    format!("{}\n\n{} at {place}, run {}", error.message, error.kind.code(), finished.run)
}

fn error_result(
    text: &str,
    error: &RunError,
    noun: &str,
    name: &str,
    finished: &Finished,
) -> Value {
    let mut details = match error.to_value() {
        Value::Object(details) => (*details).clone(),
        _ => Map::new(),
    };
    // The text has it already, and a failed tool's whole result would say it a third time; what a
    // hook says when it stops a call is short, and has a code that programs want.
    if error.kind != ErrorKind::HookBlocked {
        details.remove("data");
    }
    details.insert(noun, name);
    // The node is one of the innermost tool, which another may have called.
    if let Some(place) = finished.place.as_ref().filter(|_| noun == "tool") {
        place.put(&mut details);
    }
    details.insert("run", finished.run.to_string());
    let meta: Map = Map::from_iter([(ERROR_META, Value::from(details))]);
    Map::from_iter([
        ("content", Value::from(vec![text_item(text)])),
        ("isError", Value::from(true)),
        ("_meta", meta.into()),
    ])
    .into()
}

/// The key under which a result that asks carries what programs want to know of the question.
const QUESTION_META: &str = "mcpgraph/question";

/// The result for a client that cannot be asked: what it is to ask, and how to go on.
pub(crate) fn asked(question: &Question, handle: &str, tool: Called<'_>) -> Value {
    let schema = question.schema.to_json();
    let text = format!(
        "`{}` asks, and goes on when it is answered:\n\n{}\n\nAsk the user. Then call \
         `continue_run` with this `handle` and an `answer` that fits the schema below, or with \
         `\"decline\"` as the answer.\n\nhandle: {handle}\nschema: {schema}",
        question.tool, question.message
    );
    let mut details = Map::new();
    details.insert("handle", handle);
    details.insert("message", question.message.as_str());
    details.insert("schema", question.schema.clone());
    details.insert("expiresAt", rfc3339(question.expires));
    details.insert("run", question.run.to_string());
    let mut result: Map = Map::from_iter([("content", Value::from(vec![text_item(&text)]))]);
    // What a client was promised as the structured result of the tool, a question is not.
    if tool.output.is_some() {
        result.insert("isError", true);
    } else {
        result.insert("structuredContent", details.clone());
    }
    result.insert("_meta", Map::from_iter([(QUESTION_META, Value::from(details))]));
    result.into()
}

/// The result of an answer that does not count.
pub(crate) fn refused(text: &str, code: Code) -> Value {
    let mut details: Map = Map::from_iter([("code", code.id())]);
    details.insert("message", text);
    let text = format!("{text}\n\n{}", code.id());
    let meta: Map = Map::from_iter([(ERROR_META, Value::from(details))]);
    Map::from_iter([
        ("content", Value::from(vec![text_item(&text)])),
        ("isError", Value::from(true)),
        ("_meta", meta.into()),
    ])
    .into()
}

/// The tool as `tools/list` shows it to a client of this version.
///
/// It is what the author wrote, except that the schema of a wrapped result is wrapped too.
pub(crate) fn listed(tool: &Tool, version: Version) -> Value {
    let definition = &tool.definition;
    let (Some(schema), Value::Object(members)) =
        (wrapped_schema(tool.output.as_ref(), version), definition)
    else {
        return definition.clone();
    };
    let mut members = (**members).clone();
    members.insert("outputSchema", wrap::wrapped(schema));
    members.into()
}
