//! What there is: the tools of the graph, the servers, their tools, the form of a definition.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcpgraph_config::model::{GraphFile, ServerDef};
use mcpgraph_diagnostics::codes;
use mcpgraph_graph::Kind;
use mcpgraph_upstream::{ToolInfo, Upstreams};
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::definition::definition;
use crate::toolkit::Toolkit;

/// How long a server may take to start and tell what it offers.
pub(crate) const DISCOVERY_LIMIT: Duration = Duration::from_secs(10);

/// `getGraphServer`.
pub(crate) async fn graph_server(toolkit: &Toolkit) -> Answer {
    let file = toolkit.file().await?;
    let server = &file.server;
    let mut answer = json!({
        "name": &*server.name,
        "version": &*server.version,
        "title": server.title.as_deref().unwrap_or(&server.name),
        "tools": file.tools.len(),
        "file": file.source.name(),
    });
    if let Some(instructions) = &server.instructions {
        answer["instructions"] = (**instructions).into();
    }
    Ok(answer)
}

/// `listGraphTools`.
pub(crate) async fn graph_tools(toolkit: &Toolkit) -> Answer {
    let file = toolkit.file().await?;
    let items: Vec<_> = file
        .tools
        .iter()
        .map(|tool| {
            let mut item = json!({ "name": &*tool.name });
            if let Some(description) = &tool.description {
                item["description"] = (**description).into();
            }
            item
        })
        .collect();
    Ok(json!({ "items": items }))
}

/// `getGraphTool`.
pub(crate) async fn graph_tool(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let file = toolkit.file().await?;
    Ok(json!({ "tool": definition(&file, arguments.required("toolName"))? }))
}

/// `listMcpServers`.
pub(crate) async fn servers(toolkit: &Toolkit) -> Answer {
    let file = toolkit.with_servers().await?;
    let items = file.servers.iter().map(|server| described(&toolkit.upstreams, server));
    Ok(json!({ "items": join_all(items).await }))
}

async fn described(upstreams: &Upstreams, server: &ServerDef) -> serde_json::Value {
    let mut item = json!({ "name": &*server.name });
    if server.disabled {
        item["status"] = "disabled".into();
        return item;
    }
    match bounded(upstreams.connection(&server.name)).await {
        Ok(connection) => {
            item["status"] = "available".into();
            let info = connection.server_info().and_then(|info| Value::from_json(info.get()).ok());
            for key in ["title", "version"] {
                if let Some(text) = info.as_ref().and_then(|info| info.get(key)?.as_str()) {
                    item[key] = text.into();
                }
            }
            if let Some(instructions) = connection.instructions() {
                item["instructions"] = instructions.into();
            }
        }
        Err(why) => {
            item["status"] = "unavailable".into();
            item["error"] = why.into();
        }
    }
    item
}

/// `listMcpServerTools`.
pub(crate) async fn server_tools(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let file = toolkit.with_servers().await?;
    let wanted: Vec<&ServerDef> = match arguments.text("serverName") {
        Some(name) => vec![usable(&file, name)?],
        None => file.servers.iter().filter(|server| !server.disabled).collect(),
    };
    let listed = wanted
        .into_iter()
        .map(async |server| (&*server.name, tools_of(&toolkit.upstreams, &server.name).await));
    let (mut items, mut errors) = (Vec::new(), Vec::new());
    for (server, tools) in join_all(listed).await {
        match tools {
            Ok(tools) => items.extend(tools.iter().map(|tool| {
                let mut item = json!({ "serverName": server, "name": &*tool.name });
                if let Some(text) = tool.value.get("description").and_then(Value::as_str) {
                    item["description"] = text.into();
                }
                item
            })),
            Err(why) => errors.push(json!({ "serverName": server, "error": why })),
        }
    }
    Ok(json!({ "items": items, "errors": errors }))
}

/// `getMcpServerTool`.
pub(crate) async fn server_tool(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let file = toolkit.with_servers().await?;
    let server = usable(&file, arguments.required("serverName"))?;
    let tools = tools_of(&toolkit.upstreams, &server.name).await.map_err(unanswered)?;
    let name = arguments.required("toolName");
    let tool = find(&tools, name, &server.name)?;
    let mut answer: Map = Map::from_iter([("serverName", &*server.name)]);
    if let Value::Object(members) = &tool.value {
        for (key, value) in members.iter() {
            answer.insert(Arc::clone(key), value.clone());
        }
    }
    Ok(json!(Value::from(answer)))
}

/// The tool of a server with this name.
pub(crate) fn find<'t>(
    tools: &'t [ToolInfo],
    name: &str,
    server: &str,
) -> Result<&'t ToolInfo, Failure> {
    tools.iter().find(|tool| *tool.name == *name).ok_or_else(|| {
        let what = format!("tool on server `{server}` called");
        Failure::unknown(&what, name, tools.iter().map(|tool| &*tool.name))
    })
}

/// The server with this name, if it may be used.
pub(crate) fn usable<'f>(file: &'f GraphFile, name: &str) -> Result<&'f ServerDef, Failure> {
    match file.server(name) {
        Some(server) if server.disabled => {
            Err(Failure::new(codes::TOOLKIT_SERVER, format!("server `{name}` is disabled"))
                .with("suggestion", "take `disabled` out of its definition"))
        }
        Some(server) => Ok(server),
        None => {
            let known = file.servers.iter().map(|server| &*server.name);
            Err(Failure::unknown("server", name, known))
        }
    }
}

/// The failure of a server that does not tell what it offers.
pub(crate) fn unanswered(why: String) -> Failure {
    Failure::new(codes::TOOLKIT_SERVER, why)
}

/// The tools of a server, or why they are not known.
pub(crate) async fn tools_of(
    upstreams: &Upstreams,
    server: &str,
) -> Result<Arc<Vec<ToolInfo>>, String> {
    bounded(upstreams.list_tools(server)).await
}

async fn bounded<T>(
    asked: impl Future<Output = Result<T, mcpgraph_upstream::UpstreamError>>,
) -> Result<T, String> {
    match tokio::time::timeout(DISCOVERY_LIMIT, asked).await {
        Ok(answer) => answer.map_err(|error| format!("{error}; {}", error.hint())),
        Err(_) => Err(format!("no answer within {} seconds", DISCOVERY_LIMIT.as_secs())),
    }
}

/// `getGraphSchema`.
pub(crate) fn schema(arguments: &Arguments) -> Answer {
    let whole = mcpgraph_config::json_schema();
    let name = match arguments.text("nodeType") {
        None => "tool".to_owned(),
        Some(kind) if Kind::NAMES.contains(&kind) => format!("{kind}Node"),
        Some(kind) => return Err(Failure::unknown("node type", kind, Kind::NAMES.into_iter())),
    };
    let whole = serde_json::Value::from(&whole);
    let schema = json!({
        "$schema": whole["$schema"],
        "$ref": format!("{DEFINITIONS}{name}"),
        "$defs": needed(&whole["$defs"], &name),
    });
    Ok(json!({ "schema": schema, "nodeTypes": Kind::NAMES }))
}

/// What refers to a definition of a schema begins with this.
const DEFINITIONS: &str = "#/$defs/";

/// A definition, and those that it refers to, directly or through others.
fn needed(all: &serde_json::Value, first: &str) -> serde_json::Map<String, serde_json::Value> {
    let mut found = serde_json::Map::new();
    let mut wanted = vec![first.to_owned()];
    while let Some(name) = wanted.pop() {
        if let (Some(definition), false) = (all.get(&name), found.contains_key(&name)) {
            references(definition, &mut wanted);
            found.insert(name, definition.clone());
        }
    }
    found
}

/// Adds the names of the definitions that a part of a schema refers to.
fn references(part: &serde_json::Value, found: &mut Vec<String>) {
    match part {
        serde_json::Value::Object(members) => {
            let reference = members.get("$ref").and_then(serde_json::Value::as_str);
            let name = reference.and_then(|reference| reference.strip_prefix(DEFINITIONS));
            found.extend(name.map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
