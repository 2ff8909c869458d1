//! The headers that repeat a modern request for those who do not read bodies.

use std::collections::HashSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::Request;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAM_PREFIX: &str = "mcp-param-";
const ANNOTATION: &str = "x-mcp-header";
const ENCODED_PREFIX: &str = "=?base64?";
const ENCODED_SUFFIX: &str = "?=";
/// How deep a schema is searched for annotations.
const MAX_DEPTH: usize = 64;

/// An argument of a tool that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    /// The keys that lead to it from the arguments.
    pub path: Vec<String>,
    /// The header's name without its prefix.
    pub header: String,
}

/// The arguments that a tool's `inputSchema` wants repeated in headers, or what is wrong with the
/// annotations; a client must not use such a tool over HTTP.
pub fn param_headers(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut found = Vec::new();
    let mut path = Vec::new();
    search(schema, &mut path, true, &mut found)?;
    let mut seen = HashSet::new();
    for ParamHeader { header, .. } in &found {
        if !seen.insert(header.to_ascii_lowercase()) {
            return Err(format!("`{ANNOTATION}: {header}` appears twice"));
        }
    }
    Ok(found)
}

/// Searches a schema. `path` leads to it, and `on_path` says that only `properties` did.
fn search(
    schema: &Value,
    path: &mut Vec<String>,
    on_path: bool,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    if path.len() > MAX_DEPTH {
        return Err(format!("the schema nests deeper than {MAX_DEPTH}"));
    }
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    ANNOTATION => found.push(annotation(value, schema, path, on_path)?),
                    "properties" => search_named(value, path, on_path, found)?,
                    "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                        search_named(value, path, false, found)?;
                    }
                    // Data, not schemas.
                    "default" | "const" | "enum" | "examples" => {}
                    _ => {
                        path.push(key.clone());
                        search(value, path, false, found)?;
                        path.pop();
                    }
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            path.push(String::new());
            items.iter().try_for_each(|item| search(item, path, false, found))?;
            path.pop();
            Ok(())
        }
        _ => Ok(()),
    }
}

fn search_named(
    schemas: &Value,
    path: &mut Vec<String>,
    on_path: bool,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    for (name, schema) in schemas.as_object().into_iter().flatten() {
        path.push(name.clone());
        search(schema, path, on_path, found)?;
        path.pop();
    }
    Ok(())
}

fn annotation(
    header: &Value,
    schema: &Value,
    path: &[String],
    on_path: bool,
) -> Result<ParamHeader, String> {
    let place = path.join(".");
    let wrong = |why: &str| Err(format!("`{ANNOTATION}` at `{place}` {why}"));
    if !on_path || path.is_empty() {
        return wrong("must be on a property reached through `properties` alone");
    }
    let Some(header) = header.as_str() else { return wrong("must be a string") };
    if HeaderName::from_bytes(format!("{PARAM_PREFIX}{header}").as_bytes()).is_err()
        || header.is_empty()
    {
        return wrong("is no name that HTTP allows");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => {
            Ok(ParamHeader { path: path.to_vec(), header: header.to_owned() })
        }
        _ => wrong("must be on a string, an integer or a boolean"),
    }
}

/// Adds the headers that repeat a request.
pub(super) fn add(headers: &mut HeaderMap, request: &Request, params: &[ParamHeader]) {
    insert(headers, METHOD, &request.method);
    let Some(raw) = &request.params else { return };
    if let Some(name) = name_of(&request.method, raw) {
        insert(headers, NAME, &encoded(&name));
    }
    if params.is_empty() {
        return;
    }
    let Ok(Arguments { arguments: Some(arguments) }) = serde_json::from_str(raw.get()) else {
        return;
    };
    for ParamHeader { path, header } in params {
        let value = path.iter().try_fold(&arguments, |value, key| value.get(key));
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        if let Ok(name) = HeaderName::from_bytes(format!("{PARAM_PREFIX}{header}").as_bytes()) {
            insert(headers, name, &encoded(&text));
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    arguments: Option<Value>,
}

/// The tool a request calls, if it calls one.
pub(super) fn tool_of(request: &Request) -> Option<String> {
    let params = request.params.as_deref()?;
    (request.method == "tools/call").then(|| name_of("tools/call", params)).flatten()
}

/// What the method is about: a tool, a prompt, a resource or a task.
fn name_of(method: &str, params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        name: Option<String>,
        uri: Option<String>,
        task_id: Option<String>,
    }
    let wanted: fn(Params) -> Option<String> = match method {
        "tools/call" | "prompts/get" => |params| params.name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => |params| params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => |params| params.task_id,
        _ => return None,
    };
    serde_json::from_str(params.get()).ok().and_then(wanted)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// A value in the form a header can carry.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with(ENCODED_PREFIX) && value.ends_with(ENCODED_SUFFIX));
    if is_plain {
        value.to_owned()
    } else {
        format!("{ENCODED_PREFIX}{}{ENCODED_SUFFIX}", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests;
