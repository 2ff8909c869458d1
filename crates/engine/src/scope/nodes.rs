use std::sync::Arc;

use foldhash::fast::RandomState;
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, Vector};
use mcpgraph_value::Value;

/// How many nodes are looked through one by one.
const FEW: usize = 16;

/// The outputs of each node that was executed, in the order of first executions. Persistent, as the
/// whole scope is.
#[derive(Clone)]
pub(super) enum Nodes {
    /// Copied when it is shared and changes, which is bounded by [`FEW`].
    Few(Arc<Vec<(Arc<str>, Vector<Value>)>>),
    Many {
        order: Vector<Arc<str>>,
        /// Each with its place in the order.
        outputs: GenericHashMap<Arc<str>, (usize, Vector<Value>), RandomState, DefaultSharedPtr>,
    },
}

impl Nodes {
    /// The outputs of a node.
    pub(super) fn get(&self, node: &str) -> Option<&Vector<Value>> {
        match self {
            Self::Few(nodes) => {
                nodes.iter().find(|(name, _)| **name == *node).map(|(_, outputs)| outputs)
            }
            Self::Many { outputs, .. } => outputs.get(node).map(|(_, outputs)| outputs),
        }
    }

    /// Adds an output of a node; the node's place in the order.
    pub(super) fn push(&mut self, node: &Arc<str>, output: Value) -> usize {
        if let Some((place, outputs)) = self.get_mut(node) {
            outputs.push_back(output);
            return place;
        }
        self.add(Arc::clone(node), Vector::unit(output))
    }

    /// Puts another value in the place of a node's latest output; the node's place in the order, or
    /// none if it has no output.
    pub(super) fn replace_latest(&mut self, node: &str, output: Value) -> Option<(usize, Value)> {
        let (place, outputs) = self.get_mut(node)?;
        let before = std::mem::replace(outputs.back_mut()?, output);
        Some((place, before))
    }

    /// Every node with its outputs, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Vector<Value>)> {
        let (few, many) = match self {
            Self::Few(nodes) => (Some(nodes.iter().map(|(name, outputs)| (name, outputs))), None),
            Self::Many { order, outputs } => {
                let named = |name| outputs.get(name).map(|(_, outputs)| (name, outputs));
                (None, Some(order.iter().filter_map(named)))
            }
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    fn get_mut(&mut self, node: &str) -> Option<(usize, &mut Vector<Value>)> {
        match self {
            Self::Few(nodes) => {
                let place = nodes.iter().position(|(name, _)| **name == *node)?;
                Arc::make_mut(nodes).get_mut(place).map(|(_, outputs)| (place, outputs))
            }
            Self::Many { outputs, .. } => {
                outputs.get_mut(node).map(|(place, outputs)| (*place, outputs))
            }
        }
    }

    fn add(&mut self, node: Arc<str>, values: Vector<Value>) -> usize {
        if let Self::Few(nodes) = self
            && nodes.len() == FEW
        {
            let order = nodes.iter().map(|(name, _)| Arc::clone(name)).collect();
            let known = nodes.iter().cloned().enumerate();
            let outputs = known.map(|(place, (name, values))| (name, (place, values))).collect();
            *self = Self::Many { order, outputs };
        }
        match self {
            Self::Few(nodes) => {
                Arc::make_mut(nodes).push((node, values));
                nodes.len() - 1
            }
            Self::Many { order, outputs } => {
                let place = order.len();
                order.push_back(Arc::clone(&node));
                outputs.insert(node, (place, values));
                place
            }
        }
    }
}

impl Default for Nodes {
    fn default() -> Self {
        Self::Few(Arc::default())
    }
}
