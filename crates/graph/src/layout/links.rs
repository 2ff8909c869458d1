use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::{NodeDef, NodeKind, Switch, WorkflowDef, WorkflowNodeKind};
use mcpgraph_value::Value;

/// Why an edge is there.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkKind {
    /// The node goes there.
    Next,
    /// A switch goes there if this rule holds.
    Case {
        /// Its position among the rules.
        index: usize,
        /// The rule.
        rule: Value,
    },
    /// A switch goes there if no rule holds.
    Otherwise,
    /// The node goes there if it fails.
    Error,
    /// A question goes there if the person declines.
    Declined,
    /// A question goes there if nobody answers in time.
    Unanswered,
    /// The node may go there, under a condition in words.
    Worded(Arc<str>),
}

/// Where a node may lead, in the order of the file.
pub(super) fn links_of(node: &NodeDef) -> Vec<(&Text, LinkKind)> {
    let mut links = Vec::new();
    if let NodeKind::Switch(switch) = &node.kind {
        links = links_of_switch(switch);
    }
    links.extend(node.next.iter().map(|target| (target, LinkKind::Next)));
    if let NodeKind::Ask(ask) = &node.kind {
        links.extend(ask.on_decline.iter().map(|target| (target, LinkKind::Declined)));
        links.extend(ask.on_timeout.iter().map(|target| (target, LinkKind::Unanswered)));
    }
    links.extend(node.on_error.iter().map(|target| (target, LinkKind::Error)));
    links
}

/// Where the nodes of a workflow lead, by their positions.
pub(super) fn links_of_workflow(workflow: &WorkflowDef) -> Vec<(usize, usize, LinkKind)> {
    let mut positions = HashMap::new();
    for (index, node) in workflow.nodes.iter().enumerate() {
        positions.entry(node.id.as_str()).or_insert(index);
    }
    let mut links = Vec::new();
    for (from, node) in workflow.nodes.iter().enumerate() {
        let leads = match &node.kind {
            WorkflowNodeKind::Switch(switch) => links_of_switch(switch),
            _ => {
                let own = workflow.edges.iter().filter(|edge| edge.source == node.id);
                own.map(|edge| (&edge.target, LinkKind::Next)).collect()
            }
        };
        for (target, kind) in leads {
            if let Some(to) = positions.get(target.as_str()) {
                links.push((from, *to, kind));
            }
        }
    }
    links
}

fn links_of_switch(switch: &Switch) -> Vec<(&Text, LinkKind)> {
    let mut links = Vec::new();
    for (index, condition) in switch.conditions.iter().enumerate() {
        let rule = condition.rule.value().clone();
        links.push((&condition.target, LinkKind::Case { index, rule }));
    }
    links.extend(switch.default.iter().map(|target| (target, LinkKind::Otherwise)));
    links
}
