//! Schemas of results that are not objects, for clients that only take objects.

use mcpgraph_value::{Map, Value};

/// The member that holds the result.
pub(crate) const MEMBER: &str = "result";

/// Where the result's schema stands in the schema of the wrapper.
const PLACE: &str = "#/properties/result";

/// Keywords whose value is data, in which `$ref` means nothing.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose value is an object of schemas under names of the author's choice.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// The schema of an object with the result as its only member.
pub(crate) fn wrapped(schema: &Value) -> Value {
    let mut inner = moved(schema);
    let mut wrapper = Map::new();
    // Which dialect is meant is said at the root of a document.
    if let Value::Object(members) = &mut inner
        && !starts_document(members)
        && let Some(dialect) = members.make_mut().remove("$schema")
    {
        wrapper.insert("$schema", dialect);
    }
    wrapper.insert("type", "object");
    wrapper.insert("properties", Map::from_iter([(MEMBER, inner)]));
    wrapper.insert("required", vec![Value::from(MEMBER)]);
    wrapper.into()
}

/// The schema with its references to itself pointing to where it stands in the wrapper.
fn moved(schema: &Value) -> Value {
    match schema {
        Value::Array(schemas) => schemas.iter().map(moved).collect::<Vec<_>>().into(),
        Value::Object(members) if !starts_document(members) => {
            let members = members.iter().map(|(keyword, value)| {
                let value = match (&**keyword, value) {
                    ("$ref" | "$dynamicRef", Value::String(reference)) => {
                        moved_reference(reference)
                    }
                    (keyword, Value::Object(schemas)) if NAMED.contains(&keyword) => schemas
                        .iter()
                        .map(|(name, schema)| (name.clone(), moved(schema)))
                        .collect::<Map>()
                        .into(),
                    (keyword, data) if DATA.contains(&keyword) => data.clone(),
                    (_, other) => moved(other),
                };
                (keyword.clone(), value)
            });
            members.collect::<Map>().into()
        }
        other => other.clone(),
    }
}

/// Whether a schema has an address of its own, from which references inside it are read.
fn starts_document(members: &Map) -> bool {
    let id = members.get("$id").and_then(Value::as_str);
    // In old dialects an `$id` may be an anchor.
    id.is_some_and(|id| !id.starts_with('#'))
}

/// A reference by anchor, or into another document, stays what it is.
fn moved_reference(reference: &str) -> Value {
    match reference.strip_prefix('#').unwrap_or(reference) {
        path if path.is_empty() || (path.starts_with('/') && path.len() < reference.len()) => {
            format!("{PLACE}{path}").into()
        }
        _ => reference.into(),
    }
}

#[cfg(test)]
mod tests;
