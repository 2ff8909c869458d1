//! What a result looks like to a client, for every kind of value.

use serde_json::{Value, json};

use crate::product::{Era, Served};

/// A value, as the expression that gives it, and the text a client reads.
const VALUES: [(&str, &str, &str); 9] = [
    ("object", r#"{ "a": 1, "b": [] }"#, r#"{"a":1,"b":[]}"#),
    ("string", r#""two words""#, "two words"),
    ("empty", r#""""#, ""),
    ("number", "42.5", "42.5"),
    ("zero", "0", "0"),
    ("false", "false", "false"),
    ("null", "null", "null"),
    ("array", "[1, \"x\"]", r#"[1,"x"]"#),
    ("no_items", "[]", "[]"),
];

/// A graph with two tools for each value, without an output schema and with one that allows
/// anything, and some more.
fn graph() -> String {
    let mut tools = Vec::new();
    let mut add = |name: &str, expression: &str, schema: Option<Value>| {
        let mut tool = json!({
            "name": name,
            "description": "Gives a value",
            "inputSchema": {"type": "object"},
            "nodes": [
                {"id": "entry", "type": "entry", "next": "give"},
                {"id": "give", "type": "transform", "transform": {"expr": expression}, "next": "exit"},
                {"id": "exit", "type": "exit"},
            ],
        });
        if let Some(schema) = schema {
            tool["outputSchema"] = schema;
        }
        tools.push(tool);
    };
    for (name, expression, _) in VALUES {
        add(name, expression, None);
        add(&format!("{name}_declared"), expression, Some(json!({"title": "Anything"})));
    }
    let nested = json!({
        "anyOf": [{"$ref": "#/$defs/leaf"}, {"type": "array", "items": {"$ref": "#"}}],
        "$defs": {"leaf": {"type": "integer"}},
    });
    add("nested", "[1, [2, [3]]]", Some(nested));
    add("object_as_object", VALUES[0].1, Some(json!({"type": "object"})));
    add("image", r#"{ "type": "image", "data": "AAAA", "mimeType": "image/png" }"#, None);
    add("wrong", "1", Some(json!({"type": "string"})));
    let server = json!({"name": "results", "version": "1"});
    json!({"version": "1.0", "server": server, "tools": tools}).to_string()
}

fn value(text: &str, name: &str) -> Value {
    match name {
        "string" | "empty" => text.into(),
        _ => serde_json::from_str(text).unwrap(),
    }
}

#[test]
fn every_kind_of_value_arrives() {
    for era in Era::BOTH {
        let mut served = Served::text(&graph(), era);
        for (name, _, text) in VALUES {
            let value = value(text, name);
            let content = json!([{"type": "text", "text": text}]);

            let result = served.call(name, json!({}))["result"].take();
            assert_eq!(result["content"], content, "{name} {era:?}");
            let structured = (name == "object").then_some(&value);
            assert_eq!(result.get("structuredContent"), structured, "{name} {era:?}");
            assert!(result.get("isError").is_none_or(|is_error| is_error == false));

            let result = served.call(&format!("{name}_declared"), json!({}))["result"].take();
            assert_eq!(result["content"], content, "{name} {era:?}");
            let structured = match era {
                Era::Legacy => json!({"result": value}),
                Era::Modern => value,
            };
            assert_eq!(result.get("structuredContent"), Some(&structured), "{name} {era:?}");
        }
        let result = served.call("object_as_object", json!({}))["result"].take();
        assert_eq!(result["structuredContent"], json!({"a": 1, "b": []}), "{era:?}");
    }
}

#[test]
fn the_schema_a_client_sees_is_the_schema_of_what_it_gets() {
    for era in Era::BOTH {
        let mut served = Served::text(&graph(), era);
        let tools = served.request("tools/list", json!({}))["result"]["tools"].take();
        for tool in tools.as_array().unwrap() {
            let Some(schema) = tool.get("outputSchema") else { continue };
            let name = tool["name"].as_str().unwrap();
            if name == "wrong" {
                continue;
            }
            if era == Era::Legacy {
                assert_eq!(schema["type"], "object", "{name}");
            }
            let result = served.call(name, json!({}))["result"].take();
            let structured = result.get("structuredContent").expect("it is declared");
            assert!(jsonschema::is_valid(schema, structured), "{name} {era:?}: {structured}");
        }
    }
}

#[test]
fn media_stay_media() {
    for era in Era::BOTH {
        let mut served = Served::text(&graph(), era);
        let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        let result = served.call("image", json!({}))["result"].take();
        assert_eq!(result["content"], json!([image]));
        assert_eq!(result["structuredContent"], image);
    }
}

#[test]
fn a_result_that_breaks_its_promise_is_an_error() {
    let mut served = Served::text(&graph(), Era::Modern);
    let result = served.call("wrong", json!({}))["result"].take();
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"]["mcpgraph/error"]["code"], "MG0409");
    assert!(result.get("structuredContent").is_none());
}
