//! Tools that workflows show under other names.
//!
//! A list goes into workflows with each tool's name in its `_meta`. What comes out tells which tool
//! is meant by which name, whatever a script did to the rest, and the mark is taken out again.

use std::collections::HashMap;

use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;

/// The member of `_meta` that has the name.
const MARK: &str = "mcpgraph/name";

/// Of how many clients the names are remembered; with more, all are learnt anew.
const MAX_CLIENTS: usize = 256;

/// The names that clients were shown, and whose they are.
#[derive(Default)]
pub(crate) struct Aliases(Mutex<HashMap<String, HashMap<String, String>>>);

impl Aliases {
    /// The tool that a client means by a name, if it was shown it under another.
    pub(crate) fn find(&self, client: &str, name: &str) -> Option<String> {
        self.0.lock().get(client)?.get(name).cloned()
    }

    /// Remembers what a client is shown, in the place of what it was shown before.
    pub(crate) fn learn(&self, client: &str, names: HashMap<String, String>) {
        let mut clients = self.0.lock();
        if clients.len() >= MAX_CLIENTS && !clients.contains_key(client) {
            clients.clear();
        }
        clients.insert(client.to_owned(), names);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// The result of a list with each tool's name in its `_meta`.
pub(crate) fn marked(list: &Value) -> Value {
    with_tools(list, |tool| {
        let Some(name) = tool.get("name").cloned() else { return };
        let mut meta = members(tool.get("_meta"));
        meta.insert(MARK, name);
        tool.insert("_meta", meta);
    })
}

/// The list without the marks, and the names that are not the tools' own.
pub(crate) fn unmarked(list: &Value) -> (Value, HashMap<String, String>) {
    let mut names = HashMap::new();
    let list = with_tools(list, |tool| {
        let mut meta = members(tool.get("_meta"));
        let Some(Value::String(own)) = meta.remove(MARK) else { return };
        if let Some(shown) = tool.get("name").and_then(Value::as_str).filter(|name| **name != *own)
        {
            names.insert(shown.to_owned(), own.to_string());
        }
        if meta.is_empty() {
            tool.remove("_meta");
        } else {
            tool.insert("_meta", meta);
        }
    });
    (list, names)
}

fn with_tools(list: &Value, mut change: impl FnMut(&mut Map)) -> Value {
    let Some(tools) = list.get("tools").and_then(Value::as_array) else { return list.clone() };
    let changed = tools.iter().map(|tool| match tool {
        Value::Object(_) => {
            let mut tool = members(Some(tool));
            change(&mut tool);
            tool.into()
        }
        other => other.clone(),
    });
    let mut all = members(Some(list));
    all.insert("tools", changed.collect::<Vec<Value>>());
    all.into()
}

fn members(value: Option<&Value>) -> Map {
    match value {
        Some(Value::Object(members)) => (**members).clone(),
        _ => Map::new(),
    }
}
