//! A workflow as it is kept.

use std::collections::BTreeSet;

use mcpgraph_journal::KeptWorkflow;
use mcpgraph_value::{Map, Value};

use crate::LibraryError;
use crate::written::Written;

/// A workflow, in the store or to be put there.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// What tells it apart: its `id`, or its name where it has none.
    pub id: String,
    /// What it is, as it was given.
    pub definition: Value,
    /// Where it stands, if it comes from a file.
    pub(crate) written: Option<Written>,
}

impl Workflow {
    /// Takes a definition: an object with a name and nodes. Whether it makes sense is seen when it
    /// is checked.
    pub fn new(definition: Value) -> Result<Self, LibraryError> {
        let refused = |why: &str| LibraryError::NotAWorkflow(why.to_owned());
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        let name = text("name").filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| refused("it has no `name`"))?;
        if definition.get("nodes").and_then(Value::as_array).is_none() {
            return Err(refused("it has no list `nodes`"));
        }
        let id = text("id").filter(|id| !id.is_empty()).unwrap_or(name).to_owned();
        Ok(Self { id, definition, written: None })
    }

    pub(crate) fn kept(kept: KeptWorkflow) -> Option<Self> {
        let definition = Value::from_json(&kept.definition).ok()?;
        Some(Self { id: kept.id, definition, written: None })
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        self.definition.get("name").and_then(Value::as_str).unwrap_or(&self.id)
    }

    /// What it is put around.
    pub fn around(&self) -> &str {
        self.definition.get("workflowType").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is used.
    pub fn is_enabled(&self) -> bool {
        self.definition.get("enabled").and_then(Value::as_bool).unwrap_or(true)
    }

    /// Its place among the others.
    pub fn priority(&self) -> i64 {
        self.definition.get("priority").and_then(Value::as_i64).unwrap_or_default()
    }

    /// The same workflow, enabled or not, changed at a time in milliseconds since 1970.
    pub(crate) fn with_enabled(&self, enabled: bool, now: u64) -> Self {
        let mut members = match &self.definition {
            Value::Object(members) => (**members).clone(),
            _ => Map::new(),
        };
        members.insert("enabled", enabled);
        members.insert("updatedAt", now);
        Self { id: self.id.clone(), definition: members.into(), written: None }
    }

    /// The modules its hooks name.
    pub(crate) fn modules(&self) -> BTreeSet<&str> {
        let nodes = self.definition.get("nodes").and_then(Value::as_array);
        let hooks = nodes.into_iter().flat_map(|nodes| nodes.iter()).flat_map(|node| {
            let data = node.get("data").and_then(|data| data.get("hook"));
            [node.get("hook"), data].into_iter().flatten()
        });
        let names = hooks.flat_map(|hook| [hook.get("module"), hook.get("hookModuleId")]);
        names.flatten().filter_map(Value::as_str).collect()
    }
}
