use std::sync::Arc;

use mcpgraph_value::{Map, Value};

/// What an expression sees: the latest output of every node as `$`, and the history of outputs
/// behind `$previousNode()`, `$executionCount()`, `$nodeExecution()` and `$nodeExecutions()`.
///
/// The engine implements it on its own records; nothing is copied for an evaluation.
pub trait Scope: Send + Sync {
    /// The latest output of a node: `$.node`.
    fn output(&self, node: &str) -> Option<Value>;

    /// The names that have an output, in order: the keys of `$`.
    fn names(&self) -> Vec<Arc<str>>;

    /// All of `$`.
    fn context(&self) -> Value {
        let mut members = Map::new();
        for name in self.names() {
            if let Some(output) = self.output(&name) {
                members.insert(name, output);
            }
        }
        Value::object(members)
    }

    /// Whether `$` is an object, so that [`output`](Self::output) tells its members. It always is
    /// in a graph; the element of an array that an expression looks at may be anything.
    fn is_object(&self) -> bool {
        true
    }

    /// The output `steps_back` steps before this one, counted from 1.
    fn previous(&self, steps_back: usize) -> Option<Value>;

    /// How often a node has run.
    fn execution_count(&self, node: &str) -> usize;

    /// The output of one execution of a node, counted from 0, or from the end if negative.
    fn execution(&self, node: &str, index: i64) -> Option<Value>;

    /// The outputs of all executions of a node.
    fn executions(&self, node: &str) -> Vec<Value>;
}

/// A value as the whole context: for trying an expression out, with no history, or for the element
/// an operator such as `filter` looks at, with the history of the scope around it.
#[derive(Clone)]
pub struct PlainScope {
    value: Value,
    around: Option<Arc<dyn Scope>>,
}

impl PlainScope {
    /// A context with an empty history, usually a flat `{node: output}` object.
    pub fn new(value: Value) -> Self {
        Self { value, around: None }
    }

    /// The same, as evaluations take it.
    pub fn shared(value: Value) -> Arc<dyn Scope> {
        Arc::new(Self::new(value))
    }

    /// A context inside another scope, whose history it shares.
    pub fn inside(around: &Arc<dyn Scope>, value: Value) -> Arc<dyn Scope> {
        Arc::new(Self { value, around: Some(Arc::clone(around)) })
    }
}

impl Scope for PlainScope {
    fn output(&self, node: &str) -> Option<Value> {
        self.value.get(node).cloned()
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
    }

    fn context(&self) -> Value {
        self.value.clone()
    }

    fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    fn previous(&self, steps_back: usize) -> Option<Value> {
        self.around.as_ref()?.previous(steps_back)
    }

    fn execution_count(&self, node: &str) -> usize {
        self.around.as_ref().map_or(0, |scope| scope.execution_count(node))
    }

    fn execution(&self, node: &str, index: i64) -> Option<Value> {
        self.around.as_ref()?.execution(node, index)
    }

    fn executions(&self, node: &str) -> Vec<Value> {
        self.around.as_ref().map_or_else(Vec::new, |scope| scope.executions(node))
    }
}
