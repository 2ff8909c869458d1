//! Workflows and modules as programs read them, on the command line and over HTTP.

use mcpgraph_diagnostics::{Diagnostics, to_json};
use mcpgraph_journal::KeptModule;
use mcpgraph_value::{Map, Value};

use crate::{Template, Workflow};

/// The members of a definition that are told in a list, as they were given.
const TOLD: [&str; 5] = ["description", "match", "allowHosts", "createdAt", "updatedAt"];

impl Workflow {
    /// What a list tells of it.
    pub fn summary(&self) -> Value {
        let mut map = Map::new();
        map.insert("id", self.id.as_str());
        map.insert("name", self.name());
        map.insert("workflowType", self.around());
        map.insert("enabled", self.is_enabled());
        map.insert("priority", self.priority());
        for key in TOLD {
            if let Some(value) = self.definition.get(key) {
                map.insert(key, value.clone());
            }
        }
        map.into()
    }
}

impl Template {
    /// What a list tells of it.
    pub fn summary(&self) -> Value {
        Map::from_iter([("name", self.name), ("description", self.about)]).into()
    }
}

/// A module, and the workflows that use it.
pub fn module(module: &KeptModule, users: &[Workflow]) -> Value {
    let users: Vec<Value> = users.iter().map(|workflow| workflow.id.as_str().into()).collect();
    let mut map = Map::new();
    map.insert("id", module.id.as_str());
    map.insert("name", module.name.as_str());
    map.insert("script", module.script.as_str());
    map.insert("usedBy", users);
    map.into()
}

/// What is wrong or doubtful.
pub fn problems(diagnostics: &Diagnostics) -> Value {
    Value::from_json(&to_json(diagnostics).to_string()).unwrap_or_default()
}
