use mcpgraph_value::Value;
use serde_json::json;

use super::wrapped;

/// Checks what becomes of a schema inside the wrapper.
fn becomes(schema: serde_json::Value, expected: serde_json::Value) {
    let schema = Value::from_json(&schema.to_string()).unwrap();
    let wrapped: serde_json::Value = serde_json::from_str(&wrapped(&schema).to_json()).unwrap();
    let wrapper =
        json!({"type": "object", "properties": {"result": expected}, "required": ["result"]});
    assert_eq!(wrapped, wrapper);
}

#[test]
fn references_to_the_root_follow_it() {
    becomes(
        json!({"type": "array", "items": {"$ref": "#"}}),
        json!({"type": "array", "items": {"$ref": "#/properties/result"}}),
    );
    becomes(
        json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$dynamicRef": "#/properties/b"}], "$defs": {"a": {"not": {"$ref": ""}}}}),
        json!({
            "anyOf": [
                {"$ref": "#/properties/result/$defs/a"},
                {"$dynamicRef": "#/properties/result/properties/b"},
            ],
            "$defs": {"a": {"not": {"$ref": "#/properties/result"}}},
        }),
    );
}

#[test]
fn other_references_stay() {
    for reference in ["#anchor", "other.json", "other.json#/a", "/absolute", "urn:x#", "?q"] {
        let schema = json!({"items": {"$ref": reference}});
        becomes(schema.clone(), schema);
    }
}

#[test]
fn a_schema_with_an_address_is_its_own_root() {
    let addressed = json!({"$id": "urn:a", "items": {"$ref": "#"}});
    becomes(addressed.clone(), addressed.clone());
    becomes(
        json!({"prefixItems": [addressed, {"$id": "#anchor", "items": {"$ref": "#/x"}}]}),
        json!({
            "prefixItems": [
                addressed,
                {"$id": "#anchor", "items": {"$ref": "#/properties/result/x"}},
            ],
        }),
    );
}

#[test]
fn data_is_not_taken_for_schemas_nor_names_for_keywords() {
    let data = json!({"$ref": "#/a"});
    let schema = json!({"const": data, "default": data, "enum": [data], "examples": [data]});
    becomes(schema.clone(), schema);
    let there = json!({"$ref": "#/properties/result/a"});
    becomes(
        json!({"properties": {"const": data, "$ref": data}, "dependencies": {"a": ["b"], "enum": data}}),
        json!({"properties": {"const": there, "$ref": there}, "dependencies": {"a": ["b"], "enum": there}}),
    );
}

#[test]
fn the_dialect_is_said_at_the_root() {
    let schema =
        Value::from_json(r#"{"$schema": "https://json-schema.org/draft/2020-12/schema"}"#).unwrap();
    let wrapped = wrapped(&schema);
    assert_eq!(wrapped.get("$schema"), schema.get("$schema"));
    assert_eq!(wrapped.pointer("/properties/result").unwrap().to_json(), "{}");
    becomes(json!(true), json!(true));
}
