//! Which nodes of a body can be reached, and whether its end can.

use mcpgraph_diagnostics::{Diagnostic, codes};

use super::report::Report;
use crate::{Body, Kind, NodeIx};
use mcpgraph_config::model::NodeDef;

/// Reports nodes that are never reached and an exit that cannot be.
///
/// `defs` are the nodes as written, at the same positions as the compiled ones.
pub(super) fn check(body: &Body, defs: &[&NodeDef], report: &mut Report) {
    let reached = reachable(body);
    for (node, def) in body
        .nodes
        .iter()
        .zip(defs)
        .zip(&reached)
        .filter_map(|(pair, reached)| (!reached).then_some(pair))
    {
        let diagnostic = if matches!(node.kind, Kind::Exit) {
            Diagnostic::error(
                codes::EXIT_UNREACHABLE,
                format!("the exit `{}` cannot be reached from the entry", node.id),
            )
            .hint("some node has to name it in `next` or in a condition")
        } else {
            Diagnostic::warning(
                codes::NODE_UNREACHABLE,
                format!("node `{}` is never reached", node.id),
            )
            .hint("no node that can be reached names it; lead an edge to it or remove it")
        };
        report.push(diagnostic.at(report.source(), def.id.span(), ""));
    }
}

fn reachable(body: &Body) -> Vec<bool> {
    let mut reached = vec![false; body.nodes.len()];
    let mut pending = vec![body.start];
    while let Some(index) = pending.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        pending.extend(body.nodes[index].edges());
    }
    reached
}

impl crate::Node {
    /// Every node this one may go to.
    pub fn edges(&self) -> Vec<NodeIx> {
        let mut edges = Vec::new();
        if let Kind::Switch { cases, default } = &self.kind {
            edges.extend(cases.iter().map(|case| case.target));
            edges.extend(*default);
        }
        edges.extend(self.next);
        edges.extend(self.on_error);
        edges
    }
}
