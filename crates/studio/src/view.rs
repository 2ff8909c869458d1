//! Graph files as JSON for the pages.

use mcpgraph_config::model::{GraphFile, HookCode, HookDef, WorkflowDef, WorkflowNodeKind};
use mcpgraph_diagnostics::Source;
use mcpgraph_graph::{Digest, Layout, Link, LinkKind, Placed, Workflow, layout, layout_workflow};
use mcpgraph_toolkit::{Loaded, definitions};
use mcpgraph_value::Value;
use serde_json::json;

use crate::report::report;

/// Names a text.
pub(crate) fn etag(text: &str) -> String {
    Digest::of(text).to_string()
}

/// The file: its text, its tools, its servers, and everything that is wrong with it.
pub(crate) fn document(loaded: &Loaded, source: &Source) -> serde_json::Value {
    let mut shown = json!({
        "file": source.name(),
        "etag": etag(source.text()),
        "text": source.text(),
        "valid": loaded.graph.is_some(),
        "readable": loaded.file.is_some(),
        "report": report(loaded.file.as_ref(), &loaded.diagnostics),
        "tools": [],
        "workflows": [],
        "hookModules": [],
        "servers": [],
    });
    let Some(file) = &loaded.file else { return shown };
    let server = &file.server;
    shown["server"] = json!({
        "name": &*server.name,
        "title": server.title.as_deref().unwrap_or(&server.name),
    });
    let tools = file.tools.iter().map(|tool| {
        json!({
            "name": &*tool.name,
            "title": tool.title.as_deref(),
            "description": tool.description.as_deref(),
            "inputSchema": tool.input_schema.value(),
            "nodes": tool.nodes.len(),
        })
    });
    shown["tools"] = tools.collect();
    shown["workflows"] = file.workflows.iter().map(workflow_summary).collect();
    shown["hookModules"] = file.hook_modules.iter().map(|it| module(file, &it.name)).collect();
    let servers = file.servers.iter();
    shown["servers"] = servers
        .map(|server| {
            let starts = starts(file, &server.name);
            json!({ "name": &*server.name, "disabled": server.disabled, "starts": starts })
        })
        .collect();
    shown
}

/// How a server is reached, as the file writes it: with the names of secrets, not with them.
fn starts(file: &GraphFile, name: &str) -> Option<String> {
    let server = file.tree.get("mcpServers")?.value.get(name)?.value.to_value();
    let text = |key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(command) = text("command") else { return text("url") };
    let args = server.get("args").and_then(Value::as_array);
    let args = args.into_iter().flat_map(|args| args.iter()).filter_map(Value::as_str);
    Some(std::iter::once(&*command).chain(args).collect::<Vec<_>>().join(" "))
}

/// What a list tells of a workflow of the file.
fn workflow_summary(workflow: &WorkflowDef) -> serde_json::Value {
    let only = &workflow.only;
    let patterns = [("server", &only.server), ("tool", &only.tool), ("client", &only.client)];
    let patterns = patterns.into_iter().filter_map(|(key, pattern)| {
        Some((key.to_owned(), serde_json::Value::from(pattern.as_ref()?.as_str())))
    });
    let patterns: serde_json::Map<_, _> = patterns.collect();
    json!({
        "id": &*workflow.id,
        "name": &*workflow.name,
        "description": workflow.description.as_deref(),
        "workflowType": workflow.around.name(),
        "enabled": workflow.enabled,
        "priority": workflow.priority,
        "match": (!patterns.is_empty()).then_some(patterns),
        "runs": Workflow::run_name(&workflow.id),
    })
}

/// A script of the file that hooks share, and the workflows whose hooks do.
fn module(file: &GraphFile, name: &str) -> serde_json::Value {
    let uses = |workflow: &&WorkflowDef| {
        workflow.nodes.iter().any(|node| match &node.kind {
            WorkflowNodeKind::Hook(HookDef { code: HookCode::Module(used), .. }) => **used == *name,
            _ => false,
        })
    };
    let users = file.workflows.iter().filter(uses).map(|workflow| &*workflow.id);
    json!({ "name": name, "usedBy": users.collect::<Vec<_>>() })
}

/// One tool: its definition as it is written, and the places of its nodes.
pub(crate) fn tool(loaded: &Loaded, name: &str) -> Option<serde_json::Value> {
    let file = loaded.file.as_ref()?;
    let tool = file.tools.iter().find(|tool| *tool.name == *name)?;
    let is_wanted = |tool: &Value| tool.get("name").and_then(Value::as_str) == Some(name);
    let all = definitions(file);
    let position = all.iter().position(is_wanted)?;
    let pointer = format!("/tools/{position}");
    Some(graph(name, &pointer, &json!(all[position]), &layout(tool)))
}

/// One workflow, by its id.
pub(crate) fn workflow(file: &GraphFile, id: &str) -> Option<serde_json::Value> {
    let position = file.workflows.iter().position(|workflow| *workflow.id == *id)?;
    let workflow = &file.workflows[position];
    let pointer = file.tree.pointer_to(workflow.span)?;
    let definition = file.tree.pointer(&pointer)?.to_value();
    Some(graph(&workflow.name, &pointer, &json!(definition), &layout_workflow(workflow)))
}

/// Anything that is drawn. Problems point into its file with the pointer before theirs.
pub(crate) fn graph(
    name: &str,
    pointer: &str,
    definition: &serde_json::Value,
    drawn: &Layout,
) -> serde_json::Value {
    json!({
        "name": name,
        "pointer": pointer,
        "definition": definition,
        "nodes": drawn.nodes.iter().map(placed).collect::<Vec<_>>(),
        "links": drawn.links.iter().map(link).collect::<Vec<_>>(),
    })
}

fn placed(node: &Placed) -> serde_json::Value {
    json!({
        "key": node.key,
        "id": node.id,
        "kind": node.kind,
        "inside": node.inside,
        "x": node.x,
        "y": node.y,
        "width": node.width,
        "height": node.height,
        "pinned": node.is_pinned,
    })
}

fn link(link: &Link) -> serde_json::Value {
    let mut shown = json!({
        "from": link.from,
        "to": link.to,
        "kind": match &link.kind {
            LinkKind::Next => "next",
            LinkKind::Case { .. } => "case",
            LinkKind::Otherwise => "otherwise",
            LinkKind::Error => "error",
            LinkKind::Declined => "declined",
            LinkKind::Unanswered => "unanswered",
            LinkKind::Worded(_) => "worded",
        },
        "back": link.is_back,
        "bends": link.bends,
    });
    match &link.kind {
        LinkKind::Case { index, rule } => {
            shown["index"] = (*index).into();
            shown["rule"] = json!(rule);
        }
        LinkKind::Worded(text) => shown["text"] = json!(text),
        LinkKind::Next
        | LinkKind::Otherwise
        | LinkKind::Error
        | LinkKind::Declined
        | LinkKind::Unanswered => {}
    }
    shown
}
