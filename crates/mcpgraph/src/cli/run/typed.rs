//! Arguments that were typed as `key=value`.

use mcpgraph_graph::Schema;
use mcpgraph_value::{Map, Value};

use crate::cli::usage;

/// What was typed as `key=value`, added to an object that a schema describes.
pub(in crate::cli) fn typed(
    pairs: &[String],
    schema: &Schema,
    mut map: Map,
) -> anyhow::Result<Map> {
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(usage(format!("`{pair}` is not KEY=VALUE")));
        };
        let value = value(key, text, schema, &map);
        map.insert(key, value);
    }
    Ok(map)
}

/// What a typed value means: JSON where it is JSON, unless the schema refuses that and takes the
/// text. Where it wants nothing but text, it is text.
fn value(key: &str, text: &str, schema: &Schema, others: &Map) -> Value {
    let Ok(parsed) = Value::from_json(text) else { return text.into() };
    let own = schema.source().get("properties").and_then(|all| all.get(key));
    let kind = own.and_then(|own| own.get("type")).and_then(Value::as_str);
    let fits = |value: &Value| fits(key, value, schema, others);
    let text = Value::from(text);
    if kind == Some("string") || (!fits(&parsed) && fits(&text)) { text } else { parsed }
}

/// Whether a schema has nothing against the value of a key, whatever else is wrong or missing.
fn fits(key: &str, value: &Value, schema: &Schema, others: &Map) -> bool {
    let mut whole = others.clone();
    whole.insert(key, value.clone());
    let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    let is_inside = |place: &str| {
        place.strip_prefix(&pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !schema.violations(&whole.into()).iter().any(|violation| is_inside(&violation.pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_its_schema_takes() {
        let schema = r##"{
            "type": "object",
            "$defs": { "text": { "type": "string" } },
            "required": ["other"],
            "properties": {
                "text": { "type": "string", "minLength": 3 },
                "maybe": { "type": ["string", "null"] },
                "named": { "$ref": "#/$defs/text" },
                "one": { "enum": ["1", "2"] },
                "any": { "anyOf": [{ "type": "string" }, { "type": "boolean" }] },
                "only": { "const": "1" },
                "a/b~": { "type": ["string", "null"] },
                "either": { "type": ["string", "number"] },
                "number": { "type": "number" },
                "list": { "type": "array", "items": { "type": "number" } }
            }
        }"##;
        let schema = Schema::compile(&Value::from_json(schema).unwrap()).unwrap();
        for (pair, wanted) in [
            ("text=12", r#""12""#),
            ("text=\"x\"", r#""\"x\"""#),
            ("maybe=94110", r#""94110""#),
            ("maybe=null", "null"),
            ("maybe=\"94110\"", r#""94110""#),
            ("named=7", r#""7""#),
            ("named=[1]", r#""[1]""#),
            ("one=1", r#""1""#),
            ("one=3", "3"),
            ("any=1e3", r#""1e3""#),
            ("any=true", "true"),
            ("only=1", r#""1""#),
            ("a/b~=1", r#""1""#),
            ("either=1", "1"),
            ("number=1", "1"),
            ("number=x", r#""x""#),
            ("list=[1,2]", "[1,2]"),
            ("list=[\"x\"]", r#"["x"]"#),
            ("unknown=1", "1"),
            ("unknown=text", r#""text""#),
            ("text=", r#""""#),
        ] {
            let (key, _) = pair.split_once('=').unwrap();
            let found = typed(&[pair.to_owned()], &schema, Map::new()).unwrap();
            let found = Value::from(found).get(key).unwrap().to_json();
            assert_eq!(found, wanted, "{pair}");
        }
    }
}
