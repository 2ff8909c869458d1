use mcpgraph_config::Text;
use mcpgraph_config::model::{NodeDef, NodeKind};
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
}

/// Where a node may lead, in the order of the file.
pub(super) fn links_of(node: &NodeDef) -> Vec<(&Text, LinkKind)> {
    let mut links = Vec::new();
    if let NodeKind::Switch(switch) = &node.kind {
        for (index, condition) in switch.conditions.iter().enumerate() {
            let rule = condition.rule.value().clone();
            links.push((&condition.target, LinkKind::Case { index, rule }));
        }
        links.extend(switch.default.iter().map(|target| (target, LinkKind::Otherwise)));
    }
    links.extend(node.next.iter().map(|target| (target, LinkKind::Next)));
    links.extend(node.on_error.iter().map(|target| (target, LinkKind::Error)));
    links
}
