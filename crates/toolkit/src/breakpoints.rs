//! The nodes at which runs can stop.

use std::collections::HashSet;
use std::sync::Arc;

use mcpgraph_graph::{Body, Graph, Kind, Tool};
use mcpgraph_runtime::Breakpoint;

/// The nodes that a run of a tool may come to, each name once: its own first, then those inside
/// other nodes and of the tools that it calls.
pub fn reachable_nodes(graph: &Graph, tool: &Tool) -> Vec<Arc<str>> {
    let mut bodies = vec![&tool.body];
    let mut called = HashSet::from([&*tool.name]);
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    let mut at = 0;
    while let Some(body) = bodies.get(at).copied() {
        at += 1;
        for node in &body.nodes {
            if seen.insert(&*node.id) {
                names.push(Arc::clone(&node.id));
            }
            bodies.extend(inside(&node.kind));
            if let Kind::Graph { tool, .. } = &node.kind
                && called.insert(tool)
            {
                bodies.extend(graph.tool(tool).map(|tool| &tool.body));
            }
        }
    }
    names
}

/// The bodies inside a node.
fn inside(kind: &Kind) -> Vec<&Arc<Body>> {
    match kind {
        Kind::Foreach { body, .. } => vec![body],
        Kind::Parallel { branches, .. } => branches.iter().map(|(_, body)| body).collect(),
        _ => Vec::new(),
    }
}

/// The first breakpoint at a node that is not among these: the run would never stop there.
pub fn misplaced<'p>(points: &'p [Breakpoint], nodes: &[Arc<str>]) -> Option<&'p Breakpoint> {
    points.iter().find(|point| !nodes.contains(&point.node))
}
