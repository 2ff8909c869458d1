//! Definitions checked before they are run or saved.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;
use mcpgraph_config::model::{ArgValue, GraphFile, Mcp, NodeDef, NodeKind, Origin};
use mcpgraph_diagnostics::codes::{self, Code};
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_upstream::{ToolInfo, Upstreams};
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::definition::{Proposed, problems, propose};
use crate::discover;
use crate::toolkit::Toolkit;

/// How many names a message lists.
const MAX_NAMES: usize = 30;

/// `validateGraphTool`.
pub(crate) async fn validate(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let file = toolkit.file().await?;
    let tool = arguments.get("tool").cloned().unwrap_or_default();
    let proposed =
        toolkit.off_thread(move |documents| Ok(propose(documents, &file, &tool))).await?;
    let found = all_problems(toolkit, &proposed).await;
    Ok(json!({ "valid": !has_errors(&found), "diagnostics": found }))
}

/// Everything that is wrong with a proposed definition, as far as its servers can be reached.
pub(crate) async fn all_problems(toolkit: &Toolkit, proposed: &Proposed) -> Vec<serde_json::Value> {
    let Proposed { loaded, index, .. } = proposed;
    let mut found = problems(&loaded.diagnostics, loaded.file.as_ref(), Some(*index));
    toolkit.serve(loaded);
    if let Some(file) = &loaded.file {
        let calls = calls_of(file, *index);
        found.extend(upstream_problems(&toolkit.upstreams, file, &calls).await);
        found.extend(calls.iter().filter_map(|(pointer, mcp)| elsewhere(file, pointer, mcp)));
    }
    found
}

pub(crate) fn has_errors(found: &[serde_json::Value]) -> bool {
    found.iter().any(|problem| problem["severity"] == "error")
}

/// The error of a definition that cannot be used.
pub(crate) fn refused(found: Vec<serde_json::Value>) -> Failure {
    let first = found.iter().find(|problem| problem["severity"] == "error");
    let why = first.and_then(|problem| problem["message"].as_str()).unwrap_or("it has errors");
    let what = match first.and_then(|problem| problem["file"].as_str()) {
        // Whatever the definition says.
        Some(file) => format!("`{file}` has errors: {why}"),
        None => format!("the definition cannot be used: {why}"),
    };
    Failure::new(codes::TOOLKIT_REFUSED, what).with("diagnostics", found)
}

/// The nodes of a tool that call servers, with pointers into its definition.
fn calls_of(file: &GraphFile, index: usize) -> Vec<(String, &Mcp)> {
    let mut calls = Vec::new();
    if let Some(tool) = file.tools.get(index) {
        collect(&tool.nodes, "/nodes", &mut calls);
    }
    calls
}

/// A warning if the graph file alone does not have the server of a call: whoever serves it without
/// the other file is refused.
fn elsewhere(file: &GraphFile, pointer: &str, mcp: &Mcp) -> Option<serde_json::Value> {
    let server = file.server(&mcp.server).filter(|server| server.origin == Origin::McpJson)?;
    let other = server.source.name();
    Some(problem(
        codes::CALL_SERVER_ELSEWHERE,
        "warning",
        format!("{pointer}/server"),
        format!("server `{}` is only in `{other}`, not in the graph file", mcp.server),
        Some(format!("serve with `-m {other}`, or put the server under `mcpServers`")),
    ))
}

/// What the servers that a tool calls say of its calls.
async fn upstream_problems(
    upstreams: &Arc<Upstreams>,
    file: &GraphFile,
    calls: &[(String, &Mcp)],
) -> Vec<serde_json::Value> {
    let is_enabled = |name: &str| file.server(name).is_some_and(|server| !server.disabled);
    let calls = || calls.iter().filter(|(_, mcp)| is_enabled(&mcp.server));
    let servers: BTreeSet<&str> = calls().map(|(_, mcp)| &*mcp.server).collect();
    let listed = servers
        .into_iter()
        .map(async |server| (server, discover::tools_of(upstreams, server).await));
    let mut found = Vec::new();
    for (server, tools) in join_all(listed).await {
        for (pointer, mcp) in calls().filter(|(_, mcp)| *mcp.server == *server) {
            match &tools {
                Ok(tools) => check_call(pointer, mcp, tools, &mut found),
                Err(why) => found.push(problem(
                    codes::CALL_UNCHECKED,
                    "warning",
                    format!("{pointer}/server"),
                    format!("server `{server}` cannot be asked whether this call is right: {why}"),
                    None,
                )),
            }
        }
    }
    found
}

/// The `mcp` nodes, inside other nodes too, with pointers into the definition.
fn collect<'f>(nodes: &'f [NodeDef], at: &str, found: &mut Vec<(String, &'f Mcp)>) {
    for (index, node) in nodes.iter().enumerate() {
        let at = format!("{at}/{index}");
        match &node.kind {
            NodeKind::Mcp(mcp) => found.push((at, mcp)),
            NodeKind::Foreach(foreach) => collect(&foreach.body, &format!("{at}/body"), found),
            NodeKind::Parallel(parallel) => {
                for branch in &parallel.branches {
                    let at = format!("{at}/branches/{}", token(&branch.name));
                    collect(&branch.nodes, &at, found);
                }
            }
            _ => {}
        }
    }
}

fn check_call(pointer: &str, mcp: &Mcp, tools: &[ToolInfo], found: &mut Vec<serde_json::Value>) {
    let Some(tool) = tools.iter().find(|tool| *tool.name == *mcp.tool) else {
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let near = did_you_mean(&mcp.tool, names.iter().copied());
        found.push(problem(
            codes::CALL_TOOL_UNKNOWN,
            "error",
            format!("{pointer}/tool"),
            format!("server `{}` has no tool `{}`", mcp.server, mcp.tool),
            Some(near.unwrap_or_else(|| format!("its tools are {}", listed(&names)))),
        ));
        return;
    };
    let Some(schema) = tool.value.get("inputSchema") else { return };
    let given: Vec<&str> = match &mcp.args.value {
        ArgValue::Object(members) => members.iter().map(|(key, _)| &**key).collect(),
        ArgValue::Literal(Value::Object(members)) => members.keys().map(|key| &**key).collect(),
        // What it will be is known only when it runs.
        _ => return,
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> =
        properties.map(|all| all.keys().map(|key| &**key).collect()).unwrap_or_default();
    let is_closed = schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    for name in given.iter().filter(|name| properties.is_some() && !known.contains(name)) {
        let near = did_you_mean(name, known.iter().copied());
        // What a schema lets pass is not refused here, even if it looks like a slip.
        let severity = if is_closed { "error" } else { "warning" };
        found.push(problem(
            codes::CALL_ARGUMENT_UNKNOWN,
            severity,
            format!("{pointer}/args/{}", token(name)),
            format!("`{}` of server `{}` has no argument `{name}`", mcp.tool, mcp.server),
            Some(near.unwrap_or_else(|| format!("its arguments are {}", listed(&known)))),
        ));
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flat_map(|names| names.iter()).filter_map(Value::as_str) {
        if !given.contains(&name) {
            found.push(problem(
                codes::CALL_ARGUMENT_MISSING,
                "error",
                format!("{pointer}/args"),
                format!("`{}` of server `{}` needs the argument `{name}`", mcp.tool, mcp.server),
                Some(format!("add `{name}` to `args`; `getMcpServerTool` gives its schema")),
            ));
        }
    }
}

/// A key as RFC 6901 writes it.
pub(crate) fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("{} more", names.len() - MAX_NAMES));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn problem(
    code: Code,
    severity: &str,
    pointer: String,
    message: String,
    suggestion: Option<String>,
) -> serde_json::Value {
    let mut problem = json!({
        "code": code.id(), "severity": severity, "pointer": pointer, "message": message,
    });
    if let Some(suggestion) = suggestion {
        problem["suggestion"] = suggestion.into();
    }
    problem
}
