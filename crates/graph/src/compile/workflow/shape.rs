//! What leads where in a workflow, and the line it becomes.

use std::collections::{HashMap, HashSet};

use mcpgraph_config::Text;
use mcpgraph_config::model::{HookDef, WorkflowDef, WorkflowNodeKind};
use mcpgraph_diagnostics::{Code, Diagnostic, codes, suggest};

use crate::NodeIx;
use crate::compile::report::Report;

/// The edges of a workflow.
pub(super) struct Shape {
    /// Where each node leads, in the order it was written.
    out: Vec<Vec<NodeIx>>,
}

impl Shape {
    /// Reads the edges and checks which nodes may have them; none if an edge leads nowhere.
    pub(super) fn read(
        def: &WorkflowDef,
        ids: &HashMap<&str, NodeIx>,
        report: &mut Report,
    ) -> Option<Self> {
        let mut out: Vec<Vec<NodeIx>> = vec![Vec::new(); def.nodes.len()];
        let mut is_complete = true;
        for edge in &def.edges {
            let ends = (find(&edge.source, ids, report), find(&edge.target, ids, report));
            let (Some(source), Some(target)) = ends else {
                is_complete = false;
                continue;
            };
            check_ends(def, source, target, &edge.target, report);
            let is_switch = matches!(def.nodes[source].kind, WorkflowNodeKind::Switch(_));
            if !is_switch && !out[source].contains(&target) {
                out[source].push(target);
            }
        }
        for (source, node) in def.nodes.iter().enumerate() {
            let WorkflowNodeKind::Switch(switch) = &node.kind else { continue };
            let targets = switch.conditions.iter().map(|condition| &condition.target);
            for text in targets.chain(&switch.default) {
                // An edge to nowhere is told of when the switch is compiled.
                let Some(target) = ids.get(&**text).copied() else {
                    is_complete = false;
                    continue;
                };
                check_input(def, target, text, report);
                if !out[source].contains(&target) {
                    out[source].push(target);
                }
            }
        }
        let shape = Self { out };
        shape.check_inputs(def, report);
        is_complete.then_some(shape)
    }

    /// Where each node goes on, so that everything happens in one line; none if it cannot.
    pub(super) fn line(
        &self,
        def: &WorkflowDef,
        start: NodeIx,
        call: NodeIx,
        end: NodeIx,
        report: &mut Report,
    ) -> Option<Vec<Option<NodeIx>>> {
        if let Some(node) = self.cycle() {
            report.push(
                problem(def, node, codes::WORKFLOW_CYCLE, "leads back to itself", report)
                    .hint("a workflow has no loops; put the loop into a script"),
            );
            return None;
        }
        let from_start = self.reachable(start);
        let to_call = from_start[call];
        let to_end = self.reachable(call)[end];
        for (is_connected, from, to) in [(to_call, start, call), (to_end, call, end)] {
            if !is_connected {
                let what = format!("does not lead to `{}`", def.nodes[to].id);
                report.push(
                    problem(def, from, codes::WORKFLOW_NOT_CONNECTED, &what, report)
                        .hint("connect start, mcp-call and end, in this order"),
                );
            }
        }
        for (index, node) in def.nodes.iter().enumerate() {
            if !from_start[index] && to_call && to_end {
                report.push(
                    Diagnostic::warning(
                        codes::NODE_UNREACHABLE,
                        format!("node `{}` is never reached", node.id),
                    )
                    .at(report.source(), node.id.span(), "")
                    .hint(
                        "no node that can be reached leads to it; lead an edge to it or remove it",
                    ),
                );
            }
        }
        let leads_to_end: Vec<bool> =
            (0..self.out.len()).map(|index| self.reachable(index)[end]).collect();
        let mut next = vec![None; self.out.len()];
        // A node, and where its branch goes on when it has come to its end.
        let mut open: Vec<(NodeIx, Option<NodeIx>)> = vec![(start, None)];
        let mut seen = HashSet::new();
        let mut is_line = true;
        while let Some((node, after)) = open.pop() {
            // Where the ways out of a switch meet, they have become one.
            if !seen.insert((node, after)) {
                continue;
            }
            let (main, sides): (Vec<NodeIx>, Vec<NodeIx>) =
                self.out[node].iter().partition(|target| leads_to_end[**target]);
            if matches!(def.nodes[node].kind, WorkflowNodeKind::Switch(_)) {
                if let (Some(side), true) = (sides.first(), leads_to_end[node]) {
                    let what = format!(
                        "leads to `{}`, from where the end is not reached",
                        def.nodes[*side].id
                    );
                    report.push(
                        problem(def, node, codes::WORKFLOW_NOT_CONNECTED, &what, report)
                            .hint("every way out of a switch leads on to the end"),
                    );
                    is_line = false;
                }
                open.extend(self.out[node].iter().map(|target| (*target, after)));
                continue;
            }
            if let [first, second, ..] = main[..] {
                let what = format!(
                    "goes on both to `{}` and to `{}`",
                    def.nodes[first].id, def.nodes[second].id
                );
                report
                    .push(problem(def, node, codes::WORKFLOW_TWO_WAYS, &what, report).hint(
                        "only one way may lead to the end; choose between two with a switch",
                    ));
                is_line = false;
            }
            let mut goes_on = main.first().copied().or(after);
            open.extend(main.first().map(|main| (*main, after)));
            for side in sides.into_iter().rev() {
                open.push((side, goes_on));
                goes_on = Some(side);
            }
            next[node] = goes_on;
        }
        is_line.then_some(next)
    }

    /// Several edges meet only where the ways out of a switch do.
    fn check_inputs(&self, def: &WorkflowDef, report: &mut Report) {
        let is_switch =
            |index: NodeIx| matches!(def.nodes[index].kind, WorkflowNodeKind::Switch(_));
        let after_switch: Vec<bool> = {
            let mut after = vec![false; self.out.len()];
            for switch in (0..self.out.len()).filter(|index| is_switch(*index)) {
                let reached = self.reachable(switch);
                after.iter_mut().zip(reached).for_each(|(after, reached)| *after |= reached);
            }
            after
        };
        for (index, node) in def.nodes.iter().enumerate() {
            let sources: Vec<&str> = (0..self.out.len())
                .filter(|source| self.out[*source].contains(&index))
                .map(|source| &*def.nodes[source].id)
                .collect();
            let is_start = matches!(node.kind, WorkflowNodeKind::Start);
            if sources.len() > 1 && !after_switch[index] && !is_start {
                let what = format!("has several inputs: `{}`", sources.join("`, `"));
                report.push(
                    problem(def, index, codes::WORKFLOW_EDGE_NOT_ALLOWED, &what, report)
                        .hint("a node has one input, unless the ways out of a switch meet in it"),
                );
            }
        }
    }

    /// A node that can be reached from itself.
    fn cycle(&self) -> Option<NodeIx> {
        (0..self.out.len()).find(|node| {
            self.out[*node].iter().any(|next| next == node || self.reachable(*next)[*node])
        })
    }

    /// Whether each node can be reached from one, which is reached itself.
    fn reachable(&self, from: NodeIx) -> Vec<bool> {
        let mut reached = vec![false; self.out.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                open.extend(&self.out[node]);
            }
        }
        reached
    }
}

fn find(id: &Text, ids: &HashMap<&str, NodeIx>, report: &mut Report) -> Option<NodeIx> {
    let found = ids.get(&**id).copied();
    if found.is_none() {
        let hint = suggest::did_you_mean(id, ids.keys().copied())
            .unwrap_or_else(|| String::from("name a node of the same workflow"));
        report.push(
            Diagnostic::error(
                codes::DANGLING_EDGE,
                format!("an edge names `{id}`, which is not a node"),
            )
            .at(report.source(), id.span(), "")
            .hint(hint),
        );
    }
    found
}

/// Some nodes have no way in, some none out.
fn check_ends(def: &WorkflowDef, source: NodeIx, target: NodeIx, at: &Text, report: &mut Report) {
    let node = &def.nodes[source];
    let refused = match &node.kind {
        WorkflowNodeKind::End => Some("an end has no output"),
        WorkflowNodeKind::Hook(HookDef { blocking: false, .. }) => {
            Some("nothing waits for a hook with `blocking: false`, so nothing follows it")
        }
        WorkflowNodeKind::Switch(switch) => {
            let named = switch.conditions.iter().map(|condition| &condition.target);
            let is_named = named.chain(&switch.default).any(|id| **id == *def.nodes[target].id);
            (!is_named).then_some("a switch leads where its conditions say, and none says this")
        }
        _ => None,
    };
    if let Some(hint) = refused {
        let message = format!("node `{}` may not lead to `{}`", node.id, def.nodes[target].id);
        report.push(
            Diagnostic::error(codes::WORKFLOW_EDGE_NOT_ALLOWED, message)
                .at(report.source(), at.span(), "")
                .hint(hint),
        );
    }
    check_input(def, target, at, report);
}

fn check_input(def: &WorkflowDef, target: NodeIx, at: &Text, report: &mut Report) {
    if matches!(def.nodes[target].kind, WorkflowNodeKind::Start) {
        report.push(
            Diagnostic::error(
                codes::WORKFLOW_EDGE_NOT_ALLOWED,
                format!("nothing may lead to the start `{}`", def.nodes[target].id),
            )
            .at(report.source(), at.span(), "")
            .hint("a start has no input"),
        );
    }
}

fn problem(def: &WorkflowDef, node: NodeIx, code: Code, what: &str, report: &Report) -> Diagnostic {
    let id = &def.nodes[node].id;
    Diagnostic::error(code, format!("node `{id}` {what}")).at(report.source(), id.span(), "")
}
