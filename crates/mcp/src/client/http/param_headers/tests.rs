use serde_json::json;

use super::*;

#[test]
fn annotations_are_found_along_properties() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "x-mcp-header": "A"},
        "b": {"type": "object", "properties": {"c": {"type": "integer", "x-mcp-header": "C-1"}}},
        "d": {"type": "string", "default": {"x-mcp-header": "data"}},
        "x-mcp-header": {"type": "string"},
    }});
    let found: Vec<_> = param_headers(&schema)
        .unwrap()
        .into_iter()
        .map(|param| (param.path.join("/"), param.header))
        .collect();
    let expected = [("a", "A"), ("b/c", "C-1")].map(|(p, h)| (p.to_owned(), h.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn wrong_annotations_are_refused() {
    let property = |schema: Value| json!({"properties": {"p": schema}});
    for schema in [
        json!({"x-mcp-header": "Root"}),
        property(json!({"type": "string", "x-mcp-header": ""})),
        property(json!({"type": "string", "x-mcp-header": "bad name"})),
        property(json!({"type": "string", "x-mcp-header": 7})),
        property(json!({"type": "number", "x-mcp-header": "N"})),
        property(json!({"x-mcp-header": "N"})),
        property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "I"}})),
        json!({"$defs": {"d": {"type": "string", "x-mcp-header": "D"}}}),
        json!({"anyOf": [{"properties": {"p": {"type": "string", "x-mcp-header": "D"}}}]}),
        json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Same"},
            "b": {"type": "string", "x-mcp-header": "same"},
        }}),
    ] {
        assert!(param_headers(&schema).is_err(), "{schema}");
    }
}

#[test]
fn a_schema_of_any_depth_is_survived() {
    let mut schema = json!({"type": "string", "x-mcp-header": "X"});
    for _ in 0..120 {
        schema = json!({"properties": {"p": schema}});
    }
    assert!(param_headers(&schema).is_err());
}

#[test]
fn values_are_encoded_where_a_header_could_not_carry_them() {
    for (value, expected) in [
        ("us-west1", "us-west1"),
        ("a b", "a b"),
        ("", ""),
        (" a", "=?base64?IGE=?="),
        ("é", "=?base64?w6k=?="),
        ("a\nb", "=?base64?YQpi?="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
    ] {
        assert_eq!(encoded(value), expected);
    }
}
