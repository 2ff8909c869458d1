//! Events and steps with what is long left out, for readers that fetch it when somebody looks.

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
        match PAYLOADS.contains(&&**key).then(|| left_of(value, limit)).flatten() {
            Some(left) => map.insert(format!("{key}Short"), left),
            None => map.insert(key.clone(), value.clone()),
        };
    }
    map.into()
}

/// What a step saw, with outputs of more than `limit` bytes as `{preview, size}`, and their names.
pub(crate) fn shortened_context(context: &Value, limit: usize) -> (Value, Vec<Value>) {
    let Value::Object(members) = context else { return (context.clone(), Vec::new()) };
    let mut names = Vec::new();
    let shown = members.iter().map(|(name, value)| match left_of(value, limit) {
        Some(left) => {
            names.push(name.clone().into());
            (name.clone(), left)
        }
        None => (name.clone(), value.clone()),
    });
    let shown: Map = shown.collect();
    (shown.into(), names)
}

/// What is left of a value of more than `limit` bytes.
fn left_of(value: &Value, limit: usize) -> Option<Value> {
    let text = value.to_json();
    if text.len() <= limit {
        return None;
    }
    let preview: String = text.chars().take(PREVIEW).collect();
    let left = [("preview", Value::from(preview)), ("size", (text.len() as u64).into())];
    Some(Value::object(Map::from_iter(left)))
}
