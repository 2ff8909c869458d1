//! Which nodes of a body can be reached, and whether its end can.

use std::collections::HashMap;

use mcpgraph_config::Text;
use mcpgraph_config::model::{NodeDef, NodeKind};
use mcpgraph_diagnostics::{Diagnostic, codes, suggest};

use super::report::Report;
use crate::NodeIx;

/// Reports nodes that are never reached, an exit that cannot be, and a body that never ends.
///
/// It looks at the nodes as they were written, so that a fault inside one of them hides nothing. An
/// edge that leads nowhere is taken to lead to the node that was probably meant. Where no name is
/// near, or a node could not be read, nothing is said: what seems unreachable may well be where it
/// was to lead.
pub(super) fn check(
    defs: &[NodeDef],
    ids: &HashMap<&str, NodeIx>,
    start: NodeIx,
    is_tool: bool,
    report: &mut Report,
) {
    let edges: Option<Vec<_>> = defs.iter().map(|def| edges(def, ids, is_tool)).collect();
    let Some(reached) = edges.and_then(|edges| reachable(&edges, start)) else { return };
    let ends = |def: &NodeDef| def.next.is_none() && !matches!(def.kind, NodeKind::Switch(_));
    let mut nodes = defs.iter().zip(&reached);
    if !is_tool && !nodes.any(|(def, reached)| *reached && ends(def)) {
        let first = &defs[start].id;
        report.push(
            Diagnostic::error(
                codes::EXIT_UNREACHABLE,
                format!("the body that begins with `{first}` cannot come to an end"),
            )
            .at(report.source(), first.span(), "")
            .hint("it ends at a node without `next`, and none can be reached"),
        );
    }
    for (index, def) in defs.iter().enumerate() {
        // A second entry, and the second of two nodes with one id, have been reported as such.
        let is_second = matches!(def.kind, NodeKind::Entry) || ids.get(&*def.id) != Some(&index);
        if reached[index] || is_second {
            continue;
        }
        let diagnostic = if matches!(def.kind, NodeKind::Exit) {
            Diagnostic::error(
                codes::EXIT_UNREACHABLE,
                format!("the exit `{}` cannot be reached from the entry", def.id),
            )
            .hint("some node has to name it in `next` or in a condition")
        } else {
            Diagnostic::warning(
                codes::NODE_UNREACHABLE,
                format!("node `{}` is never reached", def.id),
            )
            .hint("no node that can be reached names it; lead an edge to it or remove it")
        };
        report.push(diagnostic.at(report.source(), def.id.span(), ""));
    }
}

/// Whether each node can be reached; none if the start does not exist.
fn reachable(edges: &[Vec<NodeIx>], start: NodeIx) -> Option<Vec<bool>> {
    let mut reached = vec![false; edges.len()];
    let mut pending = vec![start];
    while let Some(index) = pending.pop() {
        if !std::mem::replace(reached.get_mut(index)?, true) {
            pending.extend(&edges[index]);
        }
    }
    Some(reached)
}

/// Every node that this one may go to; none if that is not known.
fn edges(def: &NodeDef, ids: &HashMap<&str, NodeIx>, is_tool: bool) -> Option<Vec<NodeIx>> {
    let mut targets = Vec::new();
    match (&def.kind, &def.next) {
        (NodeKind::Invalid, _) => return None,
        (NodeKind::Exit, _) => {}
        (NodeKind::Switch(switch), _) => {
            targets.extend(switch.conditions.iter().map(|condition| &condition.target));
            targets.extend(&switch.default);
        }
        (_, None) if is_tool => return None,
        (_, next) => targets.extend(next),
    }
    targets.extend(&def.on_error);
    targets.extend(def.other_handlers());
    let meant = |id: &Text| {
        let nearest = || suggest::nearest(id, ids.keys().copied());
        ids.get(&**id).or_else(|| ids.get(nearest()?)).copied()
    };
    targets.into_iter().map(meant).collect()
}
