//! Whether what happened now is what a record says, where the record has masked secrets.

use mcpgraph_engine::Event;
use mcpgraph_value::{Map, Value};

use crate::StoredEvent;
use crate::mask::MASK;

/// How often JSON inside strings inside JSON is looked into.
const MAX_NESTED_TEXTS: usize = 4;

/// Whether an event of a record tells the same as one that happened now, whenever it did. A text
/// that was masked matches every text with the same pieces around the masks.
pub fn is_same(recorded: &Event, now: &Event) -> bool {
    recorded.tells_the_same_as(now) || {
        let recorded = told(recorded);
        is_masked(&recorded) && matches(&recorded, &told(now))
    }
}

/// An event without its times, which a replay takes from the record.
pub fn told(event: &Event) -> Value {
    let value = StoredEvent::from(event.clone()).to_value();
    let Value::Object(mut members) = value else { return value };
    for time in ["atMs", "beganMs"] {
        members.make_mut().remove(time);
    }
    Value::Object(members)
}

/// Whether a value may be what was recorded before it was masked.
pub(crate) fn matches(recorded: &Value, now: &Value) -> bool {
    matches_nested(recorded, now, MAX_NESTED_TEXTS)
}

fn matches_nested(recorded: &Value, now: &Value, nested: usize) -> bool {
    match (recorded, now) {
        // A field that is masked by its name may have held anything.
        (Value::String(text), _) if &**text == MASK => true,
        (Value::String(text), Value::String(new)) => {
            matches_text(text, new) || nested > 0 && matches_json(text, new, nested - 1)
        }
        (Value::String(text), Value::Number(number)) => {
            text.contains(MASK) && matches_text(text, &number.to_string())
        }
        (Value::Array(items), Value::Array(new)) => {
            items.len() == new.len()
                && items.iter().zip(new.iter()).all(|(item, new)| matches_nested(item, new, nested))
        }
        (Value::Object(members), Value::Object(new)) => matches_members(members, new, nested),
        _ => recorded == now,
    }
}

fn matches_members(recorded: &Map, now: &Map, nested: usize) -> bool {
    // Two masked names may have become one.
    let has_masked_name = recorded.keys().any(|key| key.contains(MASK));
    let may_be = recorded.len() == now.len() || has_masked_name && recorded.len() <= now.len();
    may_be
        && recorded.iter().all(|(key, member)| {
            let found = now.get(key).is_some_and(|new| matches_nested(member, new, nested));
            found
                || key.contains(MASK)
                    && now.iter().any(|(name, new)| {
                        matches_text(key, name) && matches_nested(member, new, nested)
                    })
        })
}

/// A text that was JSON was masked as such, and written anew.
fn matches_json(recorded: &str, now: &str, nested: usize) -> bool {
    let is_json = |text: &str| text.trim_start().starts_with(['{', '[']);
    if !recorded.contains(MASK) || !is_json(recorded) || !is_json(now) {
        return false;
    }
    match (Value::from_json(recorded), Value::from_json(now)) {
        (Ok(recorded), Ok(now)) => matches_nested(&recorded, &now, nested),
        _ => false,
    }
}

/// Whether a text has the pieces around the masks, in their order and with nothing besides.
fn matches_text(recorded: &str, now: &str) -> bool {
    let Some((first, between)) = recorded.split_once(MASK) else { return recorded == now };
    let Some(mut rest) = now.strip_prefix(first) else { return false };
    let (between, last) = between.rsplit_once(MASK).unwrap_or(("", between));
    for piece in between.split(MASK) {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Whether something of an event was masked.
pub fn is_masked_event(event: &Event) -> bool {
    is_masked(&told(event))
}

/// Whether something of a value was masked.
pub fn is_masked(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASK),
        Value::Array(items) => items.iter().any(is_masked),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key.contains(MASK) || is_masked(member))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests;
