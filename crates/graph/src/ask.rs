//! Questions to people, in compiled form.

use std::cmp::Ordering;
use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use crate::NodeIx;

/// What an `ask` node wants to know, and where it goes without an answer.
#[derive(Debug)]
pub struct Ask {
    /// The node that asks.
    pub node: Arc<str>,
    /// What the answer must look like: a JSON Schema.
    pub schema: Value,
    /// Where a person's no leads; without it the node fails.
    pub on_decline: Option<NodeIx>,
    /// Where it leads that nobody answered in time; without it the node fails.
    pub on_timeout: Option<NodeIx>,
}

impl Ask {
    /// The member of a call's arguments that holds what is asked.
    pub const MESSAGE: &'static str = "message";

    /// The text of a question, from the arguments of its call.
    pub fn message(args: &Value) -> String {
        match args.get(Self::MESSAGE) {
            Some(Value::String(text)) => text.to_string(),
            Some(other) => other.to_json(),
            None => String::new(),
        }
    }

    /// The schema of a question that is answered with yes or no alone.
    pub fn plain_schema() -> Value {
        let mut schema: Map = Map::from_iter([("type", "object")]);
        schema.insert("properties", Map::new());
        schema.into()
    }

    /// What tells it apart from others.
    fn key(&self) -> (&str, String) {
        (&self.node, self.schema.to_json())
    }
}

impl PartialEq for Ask {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ask {}

impl PartialOrd for Ask {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ask {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
