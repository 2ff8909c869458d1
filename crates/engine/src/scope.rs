mod log;
mod nodes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use imbl::Vector;
use mcpgraph_expr::Scope;
use mcpgraph_value::{Map, Value};

use self::log::Log;
use self::nodes::Nodes;

/// What the nodes of one body see: the outputs so far, by node and in order.
///
/// Everything in it is shared and persistent. A copy costs a few reference counts whatever the
/// length of the history, and so does the next entry.
#[derive(Clone, Default)]
pub struct ScopeView {
    /// The surrounding body, for the body of a loop or a branch.
    outer: Option<Arc<ScopeView>>,
    /// What is not a node's output: the item of a loop, the error that was caught.
    named: Vector<(Arc<str>, Value)>,
    /// Every output of every node.
    nodes: Nodes,
    /// Every output in the order of execution, with the node's place among the nodes.
    history: Log<(usize, Value)>,
}

/// The place of what is in the history without being a node's.
const NO_NODE: usize = usize::MAX;

impl ScopeView {
    /// The view of a body inside another; its history begins with `input`, the data it starts from.
    pub(crate) fn inside(outer: Arc<ScopeView>, input: Value) -> Self {
        Self { outer: Some(outer), history: Log::unit((NO_NODE, input)), ..Self::default() }
    }

    /// Sees another state of the surrounding body, and begins with `input` if there is one; false
    /// for a body that sees nothing around it.
    pub(crate) fn set_outer(&mut self, outer: &Arc<ScopeView>, input: Option<Value>) -> bool {
        if self.outer.is_none() {
            return false;
        }
        self.outer = Some(Arc::clone(outer));
        if let Some(input) = input {
            self.history.set(0, (NO_NODE, input));
        }
        true
    }

    /// Adds something that is not a node's output, in the place of what had the name before.
    pub(crate) fn set(&mut self, name: Arc<str>, value: Value) {
        match self.named.iter().position(|(known, _)| *known == name) {
            Some(index) => {
                self.named.set(index, (name, value));
            }
            None => self.named.push_back((name, value)),
        }
    }

    /// Adds an output.
    pub(crate) fn push(&mut self, node: &Arc<str>, output: Value) {
        let place = self.nodes.push(node, output.clone());
        self.history.push((place, output));
    }

    /// Puts another value in the place of a node's latest output, which is handed back; none if it
    /// has none.
    pub(crate) fn replace_latest(&mut self, node: &str, output: Value) -> Option<Value> {
        let (place, before) = self.nodes.replace_latest(node, output.clone())?;
        if let Some(index) = self.history.rposition(|(of, _)| *of == place) {
            self.history.set(index, (place, output));
        }
        Some(before)
    }

    /// The latest output of a node in this very body.
    fn latest(&self, node: &str) -> Option<&Value> {
        self.nodes.get(node).and_then(Vector::last)
    }

    /// The bytes that keeping `value` adds: none where a node's latest output is the very same
    /// allocation, which is then held once.
    pub(crate) fn added_bytes(&self, value: &Value) -> usize {
        if self.holds(value) { 0 } else { value.approximate_bytes() }
    }

    fn holds(&self, value: &Value) -> bool {
        let mut latest = self.nodes.iter().filter_map(|(_, outputs)| outputs.last());
        latest.any(|held| match (held, value) {
            (Value::Array(a), Value::Array(b)) => a.is_same(b),
            (Value::Object(a), Value::Object(b)) => a.is_same(b),
            (Value::String(a), Value::String(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }) || self.outer.as_ref().is_some_and(|outer| outer.holds(value))
    }

    fn own(&self, name: &str) -> Option<&Value> {
        self.latest(name).or_else(|| {
            self.named.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
        })
    }

    fn collect_into(&self, map: &mut Map) {
        if let Some(outer) = &self.outer {
            outer.collect_into(map);
        }
        for (name, value) in &self.named {
            map.insert(Arc::clone(name), value.clone());
        }
        for (name, outputs) in self.nodes.iter() {
            if let Some(output) = outputs.last() {
                map.insert(Arc::clone(name), output.clone());
            }
        }
    }
}

impl Scope for ScopeView {
    fn output(&self, node: &str) -> Option<Value> {
        self.own(node).cloned().or_else(|| self.outer.as_ref().and_then(|outer| outer.output(node)))
    }

    fn names(&self) -> Vec<Arc<str>> {
        let mut map = Map::new();
        self.collect_into(&mut map);
        map.keys().cloned().collect()
    }

    fn context(&self) -> Value {
        let mut map = Map::new();
        self.collect_into(&mut map);
        map.into()
    }

    fn previous(&self, steps_back: usize) -> Option<Value> {
        let index = self.history.len().checked_sub(steps_back)?;
        self.history.get(index).map(|(_, output)| output.clone())
    }

    fn execution_count(&self, node: &str) -> usize {
        match self.nodes.get(node) {
            Some(outputs) => outputs.len(),
            None => self.outer.as_ref().map_or(0, |outer| outer.execution_count(node)),
        }
    }

    fn execution(&self, node: &str, index: i64) -> Option<Value> {
        let Some(outputs) = self.nodes.get(node) else {
            return self.outer.as_ref()?.execution(node, index);
        };
        let index = if index < 0 {
            outputs.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(index).ok()?
        };
        outputs.get(index).cloned()
    }

    fn executions(&self, node: &str) -> Vec<Value> {
        match self.nodes.get(node) {
            Some(outputs) => outputs.iter().cloned().collect(),
            None => self.outer.as_ref().map_or_else(Vec::new, |outer| outer.executions(node)),
        }
    }
}
