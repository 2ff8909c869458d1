//! Tools that workflows show under other names.
//!
//! A list goes into workflows with each tool's name in its `_meta`. What comes out tells which tool
//! is meant by which name, whatever a script did to the rest, and the mark is taken out again.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;

/// The member of `_meta` that has the name.
const MARK: &str = "mcpgraph/name";

/// Of how many clients the names are remembered; with more, all are learnt anew.
const MAX_CLIENTS: usize = 256;

/// The names that clients were shown, and whose they are.
#[derive(Default)]
pub(crate) struct Aliases(Mutex<HashMap<Whose, HashMap<String, String>>>);

/// Who was shown something: two that show different tokens are two, whatever they call themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Whose {
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) client: String,
}

impl Aliases {
    /// The tool that a client means by a name, if it was shown it under another.
    pub(crate) fn find(&self, client: &Whose, name: &str) -> Option<String> {
        self.0.lock().get(client)?.get(name).cloned()
    }

    /// Remembers what a client is shown, in the place of what it was shown before.
    pub(crate) fn learn(&self, client: &Whose, names: HashMap<String, String>) {
        let mut clients = self.0.lock();
        if clients.len() >= MAX_CLIENTS && !clients.contains_key(client) {
            clients.clear();
        }
        clients.insert(client.clone(), names);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// The result of a list with each tool's name in its `_meta`.
pub(crate) fn marked(list: &Value) -> Value {
    with_tools(list, |tool| {
        let Some(name) = tool.get("name").cloned() else { return true };
        let mut meta = members(tool.get("_meta"));
        meta.insert(MARK, name);
        tool.insert("_meta", meta);
        true
    })
}

/// The list without the marks, and the names that are not the tools' own. Of the tools that
/// workflows added, those are left that are granted.
pub(crate) fn unmarked(
    list: &Value,
    is_granted: impl Fn(&str) -> bool,
) -> (Value, HashMap<String, String>) {
    let mut names = HashMap::new();
    let list = with_tools(list, |tool| {
        let mut meta = members(tool.get("_meta"));
        let shown = tool.get("name").and_then(Value::as_str);
        let Some(Value::String(own)) = meta.remove(MARK) else {
            return shown.is_none_or(&is_granted);
        };
        if let Some(shown) = shown.filter(|name| **name != *own) {
            names.insert(shown.to_owned(), own.to_string());
        }
        if meta.is_empty() {
            tool.remove("_meta");
        } else {
            tool.insert("_meta", meta);
        }
        true
    });
    (list, names)
}

/// The list with its tools changed, and without those for which `change` says so.
fn with_tools(list: &Value, mut change: impl FnMut(&mut Map) -> bool) -> Value {
    let Some(tools) = list.get("tools").and_then(Value::as_array) else { return list.clone() };
    let changed = tools.iter().filter_map(|tool| match tool {
        Value::Object(_) => {
            let mut tool = members(Some(tool));
            change(&mut tool).then(|| tool.into())
        }
        other => Some(other.clone()),
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
