//! Expressions on a context and a history.

use std::process::Command;

use serde_json::json;

use super::{Agent, GRAPH, count_files, files};

#[test]
fn expressions_are_tried() {
    let program = Command::new(env!("CARGO_BIN_EXE_mcpgraphtoolkit"));
    let mut agent = Agent::at(files(GRAPH, &json!({})), program);
    let history = json!([
        { "node": "a", "output": 1 }, { "node": "a", "output": 2 }, { "node": "b", "output": 3 }
    ]);
    let cases = [
        (
            "testJSONata",
            json!({ "expression": "$count($.a)", "context": { "a": [1, 2] } }),
            json!({ "undefined": false, "result": 2 }),
        ),
        ("testJSONata", json!({ "expression": "$.nothing" }), json!({ "undefined": true })),
        (
            "testJSONata",
            json!({ "expression": "null" }),
            json!({ "undefined": false, "result": null }),
        ),
        (
            "testJSONata",
            json!({
                "expression": "[$executionCount('a'), $nodeExecution('a', -1), $nodeExecution('a', 0), $previousNode(), $previousNode(2), $.a]",
                "history": history
            }),
            json!({ "undefined": false, "result": [2, 2, 1, 3, 2, 2] }),
        ),
        (
            "testJSONata",
            json!({ "expression": "$nodeExecutions('a')", "history": history }),
            json!({ "undefined": false, "result": [1, 2] }),
        ),
        (
            "testJSONLogic",
            json!({ "expression": { "==": [{ "var": "$executionCount('a')" }, 2] }, "history": history }),
            json!({ "result": true, "holds": true }),
        ),
        ("testJSONLogic", json!({ "expression": 0 }), json!({ "result": 0, "holds": false })),
    ];
    for (tool, arguments, wanted) in cases {
        assert_eq!(agent.get(tool, &arguments), wanted, "{arguments}");
    }
    let error = agent.refuse("testJSONata", &json!({ "expression": "1 + " }));
    assert!(error["position"].is_number(), "{error}");
    let error = agent.refuse("testJSONata", &json!({ "expression": "1 + $foo(2)" }));
    assert!(error["message"].is_string() && error["position"].is_number(), "{error}");
    let error = agent.refuse("testJSONLogic", &json!({ "expression": { "grater": [1, 2] } }));
    assert_eq!((&error["code"], &error["token"]), (&"L0101".into(), &"grater".into()), "{error}");
    // An expression without an end does not hold up the others.
    let endless = json!({ "expression": "($f := function($n) { $f($n + 1) }; $f(0))" });
    agent.refuse("testJSONata", &endless);
}

#[test]
fn the_form_of_a_definition_is_told() {
    let mut agent = Agent::new();
    let schema = agent.get("getGraphSchema", &json!({}));
    let whole = jsonschema::validator_for(&schema["schema"]).unwrap();
    assert!(whole.is_valid(&count_files()));
    assert!(!whole.is_valid(&json!({ "name": 7 })));
    let definition = count_files();
    for kind in schema["nodeTypes"].as_array().unwrap() {
        let of_node = agent.get("getGraphSchema", &json!({ "nodeType": kind }));
        let of_node = jsonschema::validator_for(&of_node["schema"]).unwrap();
        for node in definition["nodes"].as_array().unwrap() {
            assert_eq!(of_node.is_valid(node), node["type"] == *kind, "{kind} {node}");
        }
    }
    assert_eq!(
        agent.get("getGraphServer", &json!({})),
        json!({ "name": "built", "version": "1", "title": "Built", "tools": 1, "file": "graph.yaml" })
    );
}

/// It is called by its own name, without the command that it is.
#[test]
fn the_program_of_its_own_name_introduces_itself() {
    let said = |argument: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcpgraphtoolkit"));
        let ended = program.arg(argument).output().unwrap();
        assert!(ended.status.success(), "{argument}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let help = said("--help");
    assert!(help.contains("Usage: mcpgraphtoolkit [OPTIONS]"), "{help}");
    assert!(help.contains("--mcp"), "{help}");
    assert_eq!(said("--version"), format!("mcpgraphtoolkit {}\n", env!("CARGO_PKG_VERSION")));
}

/// Only what the type of a node needs.
#[test]
fn the_schema_of_a_node_is_that_of_the_node() {
    let mut agent = Agent::new();
    let whole = agent.get("getGraphSchema", &json!({}))["schema"].to_string();
    let node = agent.get("getGraphSchema", &json!({ "nodeType": "transform" }))["schema"].clone();
    assert!(node.to_string().len() * 4 < whole.len(), "{node:#}");
    assert_eq!(node["$ref"], "#/$defs/transformNode");
    let schema = jsonschema::validator_for(&node).unwrap();
    assert!(
        schema.is_valid(&json!({ "id": "a", "type": "transform", "transform": { "expr": "1" } }))
    );
    assert!(!schema.is_valid(&json!({ "id": "a", "type": "transform" })));
}
