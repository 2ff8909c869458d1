//! Graph files as JSON for the pages.

use mcpgraph_diagnostics::{Source, to_json};
use mcpgraph_graph::{Digest, Layout, Link, LinkKind, Placed, layout};
use mcpgraph_toolkit::{Loaded, definitions};
use mcpgraph_value::Value;
use serde_json::json;

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
        "report": to_json(&loaded.diagnostics),
        "tools": [],
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
    let servers = file.servers.iter();
    shown["servers"] = servers
        .map(|server| json!({ "name": &*server.name, "disabled": server.disabled }))
        .collect();
    shown
}

/// One tool: its definition as it is written, and the places of its nodes.
pub(crate) fn tool(loaded: &Loaded, name: &str) -> Option<serde_json::Value> {
    let file = loaded.file.as_ref()?;
    let index = file.tools.iter().position(|tool| *tool.name == *name)?;
    let is_wanted = |tool: &Value| tool.get("name").and_then(Value::as_str) == Some(name);
    let all = definitions(file);
    let position = all.iter().position(is_wanted)?;
    let Layout { nodes, links } = layout(&file.tools[index]);
    Some(json!({
        "name": name,
        // Problems point into the file with this.
        "pointer": format!("/tools/{position}"),
        "definition": all[position],
        "nodes": nodes.iter().map(placed).collect::<Vec<_>>(),
        "links": links.iter().map(link).collect::<Vec<_>>(),
    }))
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
        },
        "back": link.is_back,
        "bends": link.bends,
    });
    if let LinkKind::Case { index, rule } = &link.kind {
        shown["index"] = (*index).into();
        shown["rule"] = json!(rule);
    }
    shown
}
