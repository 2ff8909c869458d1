//! Which tools have durable runs.

use std::collections::HashSet;

use mcpgraph_config::model::{GraphFile, NodeDef, NodeKind, ToolDef};

/// The tools whose runs survive the process that executes them: the author says so, or a node
/// waits for a time or a person, or a tool that is called as a part of them is one of these.
pub(super) fn tools(file: &GraphFile) -> HashSet<&str> {
    let mut durable: HashSet<&str> = HashSet::new();
    loop {
        let is_more = |tool: &&ToolDef| {
            !durable.contains(tool.name.as_str())
                && (tool.durable || tool.nodes.iter().any(|node| needs(node, &durable)))
        };
        let more: Vec<&str> =
            file.tools.iter().filter(is_more).map(|tool| tool.name.as_str()).collect();
        if more.is_empty() {
            return durable;
        }
        durable.extend(more);
    }
}

fn needs(node: &NodeDef, durable: &HashSet<&str>) -> bool {
    match &node.kind {
        NodeKind::Wait(_) | NodeKind::Ask(_) => true,
        NodeKind::Graph(call) => durable.contains(call.tool.as_str()),
        _ => node.inner().into_iter().flatten().any(|inner| needs(inner, durable)),
    }
}
