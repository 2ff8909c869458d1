//! The nodes that a version of a graph has, found by their names.

use std::collections::HashMap;

use mcpgraph_graph::{Body, Graph, Kind};

/// The nodes of a graph, by their tool and their id.
pub(crate) struct Nodes<'g>(HashMap<&'g str, HashMap<&'g str, &'g Kind>>);

impl<'g> Nodes<'g> {
    pub(crate) fn of(graph: &'g Graph) -> Self {
        let workflows = graph.workflows.iter().map(|workflow| &workflow.tool);
        let tools = graph.tools.iter().chain(workflows).map(|tool| {
            let mut nodes = HashMap::new();
            collect(&tool.body, &mut nodes);
            (&*tool.name, nodes)
        });
        Self(tools.collect())
    }

    pub(crate) fn kind(&self, tool: &str, node: &str) -> Option<&'g Kind> {
        self.0.get(tool)?.get(node).copied()
    }
}

fn collect<'g>(body: &'g Body, nodes: &mut HashMap<&'g str, &'g Kind>) {
    for node in &body.nodes {
        nodes.insert(&node.id, &node.kind);
        match &node.kind {
            Kind::Foreach { body, .. } => collect(body, nodes),
            Kind::Parallel { branches, .. } => {
                for (_, body) in branches {
                    collect(body, nodes);
                }
            }
            _ => {}
        }
    }
}
