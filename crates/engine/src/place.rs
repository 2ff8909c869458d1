//! Where a run failed, in words that lead there.

use std::fmt;
use std::sync::Arc;

use mcpgraph_value::{Map, Value};

/// The node at which a run failed, and how the run came there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node, in the innermost tool.
    pub node: PlaceNode,
    /// The `graph` nodes that led there, the innermost first.
    pub called_by: Vec<PlaceNode>,
}

/// A node of a tool, and the items of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceNode {
    /// The tool.
    pub tool: Arc<str>,
    /// The node's id.
    pub node: Arc<str>,
    /// The loops it is in, with the index of the item, the innermost first.
    pub items: Vec<(Arc<str>, usize)>,
}

impl Place {
    /// Whether there is more to say than the node.
    pub fn is_nested(&self) -> bool {
        !self.called_by.is_empty() || !self.node.items.is_empty()
    }

    /// Adds what programs want to know of it.
    pub fn put(&self, details: &mut Map) {
        self.node.put(details);
        if !self.called_by.is_empty() {
            let called_by = self.called_by.iter().map(|node| {
                let mut details = Map::new();
                node.put(&mut details);
                details.into()
            });
            details.insert("calledBy", called_by.collect::<Vec<Value>>());
        }
    }

    /// The place that [`Place::put`] wrote; none if it wrote no such thing.
    pub fn from_value(value: &Value) -> Option<Self> {
        let called_by = value.get("calledBy").and_then(Value::as_array);
        let called_by = called_by.into_iter().flat_map(|list| list.iter());
        Some(Self {
            node: PlaceNode::from_value(value)?,
            called_by: called_by.map(PlaceNode::from_value).collect::<Option<_>>()?,
        })
    }
}

impl PlaceNode {
    fn put(&self, details: &mut Map) {
        details.insert("tool", Arc::clone(&self.tool));
        details.insert("node", Arc::clone(&self.node));
        if !self.items.is_empty() {
            let items = self.items.iter().map(|(node, index)| {
                let mut item: Map = Map::from_iter([("node", Arc::clone(node))]);
                item.insert("index", *index);
                item.into()
            });
            details.insert("items", items.collect::<Vec<Value>>());
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        let text = |value: &Value, key| value.get(key).and_then(Value::as_str).map(Arc::from);
        let items = value.get("items").and_then(Value::as_array);
        let item = |item: &Value| {
            let index = item.get("index").and_then(Value::as_i64)?;
            Some((text(item, "node")?, usize::try_from(index).ok()?))
        };
        Some(Self {
            tool: text(value, "tool")?,
            node: text(value, "node")?,
            items: items
                .into_iter()
                .flat_map(|list| list.iter())
                .map(item)
                .collect::<Option<_>>()?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node)?;
        self.called_by.iter().try_for_each(|node| write!(f, ", called by {node}"))
    }
}

impl fmt::Display for PlaceNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}`", self.node)?;
        for (position, (node, index)) in self.items.iter().enumerate() {
            let lead = if position == 0 { " (" } else { ", " };
            write!(f, "{lead}item with index {index} of `{node}`")?;
        }
        let end = if self.items.is_empty() { "" } else { ")" };
        write!(f, "{end} of tool `{}`", self.tool)
    }
}
