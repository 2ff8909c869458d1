//! Definitions checked before they are run or saved.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;
use mcpgraph_config::model::{GraphFile, Mcp, Origin};
use mcpgraph_diagnostics::codes::{self, Code};
use mcpgraph_upstream::Upstreams;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::calls::{Part, Unfit, collect, token, unfit};
use crate::definition::{Proposed, problems, propose};
use crate::discover;
use crate::toolkit::Toolkit;

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
                Ok(tools) => {
                    found.extend(unfit(mcp, tools).into_iter().map(|it| shown(pointer, it)));
                }
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

/// Something about the call at a pointer.
fn shown(pointer: &str, unfit: Unfit<'_>) -> serde_json::Value {
    let severity = if unfit.is_error { "error" } else { "warning" };
    let part = match unfit.part {
        Part::Tool => "tool".to_owned(),
        Part::Arguments => "args".to_owned(),
        Part::Argument(name) => format!("args/{}", token(name)),
    };
    problem(unfit.code, severity, format!("{pointer}/{part}"), unfit.message, Some(unfit.hint))
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
