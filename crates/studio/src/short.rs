//! Events with what is long left out, for readers that fetch it when somebody looks.

use mcpgraph_value::{Map, Value};

/// The members of events that can be of any size.
const PAYLOADS: [&str; 5] = ["input", "output", "result", "message", "data"];

/// How much of a long payload is still shown, in characters.
const PREVIEW: usize = 200;

/// The event with payloads of more than `limit` bytes as `{preview, size}`, under a name that says
/// so: `outputShort`.
pub(crate) fn shortened(event: Value, limit: usize) -> Value {
    let Value::Object(members) = &event else { return event };
    if !PAYLOADS.iter().any(|name| members.get(name).is_some()) {
        return event;
    }
    let mut map = Map::new();
    for (key, value) in members.iter() {
        if PAYLOADS.contains(&&**key) {
            let text = value.to_json();
            if text.len() > limit {
                let preview: String = text.chars().take(PREVIEW).collect();
                let left =
                    [("preview", Value::from(preview)), ("size", (text.len() as u64).into())];
                map.insert(format!("{key}Short"), Value::object(Map::from_iter(left)));
                continue;
            }
        }
        map.insert(key.clone(), value.clone());
    }
    map.into()
}
