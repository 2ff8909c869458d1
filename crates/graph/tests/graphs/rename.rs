//! A node gets another name.

use mcpgraph_config::model::Version;
use mcpgraph_graph::rename_node;
use mcpgraph_value::Value;

fn renamed(nodes: &str, version: Version, to: &str) -> String {
    let definition = Value::from_json(&format!(r#"{{"name":"t","nodes":{nodes}}}"#)).unwrap();
    rename_node(&definition, version, "a", to).get("nodes").unwrap().to_json()
}

#[test]
fn edges_and_expressions_follow() {
    let nodes = r#"[
        {"id":"a","type":"transform","transform":{"expr":"$.b.a + $.a.x + $executionCount(\"a\")"},"next":"a","onError":"a"},
        {"id":"s","type":"switch","conditions":[{"rule":{"<":[{"var":"a.i"},{"var":"$.a.n"}]},"target":"a"},{"target":"b"}]},
        {"id":"m","type":"mcp","args":{"x":"$.a.x","y":{"expr":"$count($.a)"},"z":"a","l":["$.a"]}},
        {"id":"f","type":"foreach","items":"$.a.list","body":[{"id":"i","type":"transform","transform":{"expr":"item & $.a"}}]},
        {"id":"p","type":"parallel","branches":{"a":[{"id":"q","type":"mcp","args":{"x":"$.a"},"next":"a"}]}},
        {"id":"k","type":"ask","message":"$.a.text","onDecline":"a","onTimeout":"a"}
    ]"#;
    let expected = r#"[{"id":"c","type":"transform","transform":{"expr":"$.b.a + $.c.x + $executionCount(\"c\")"},"next":"c","onError":"c"},{"id":"s","type":"switch","conditions":[{"rule":{"<":[{"var":"c.i"},{"var":"$.c.n"}]},"target":"c"},{"target":"b"}]},{"id":"m","type":"mcp","args":{"x":"$.c.x","y":{"expr":"$count($.c)"},"z":"a","l":["$.c"]}},{"id":"f","type":"foreach","items":"$.c.list","body":[{"id":"i","type":"transform","transform":{"expr":"item & $.c"}}]},{"id":"p","type":"parallel","branches":{"a":[{"id":"q","type":"mcp","args":{"x":"$.c"},"next":"c"}]}},{"id":"k","type":"ask","message":"$.c.text","onDecline":"c","onTimeout":"c"}]"#;
    assert_eq!(renamed(nodes, Version::One, "c"), expected);
}

#[test]
fn a_name_that_needs_quotes_gets_them() {
    let nodes = r#"[{"id":"x","transform":{"expr":"$.a.n + $nodeExecution('a', 0)"}}]"#;
    let expected = r#"[{"id":"x","transform":{"expr":"$.`a-b`.n + $nodeExecution('a-b', 0)"}}]"#;
    assert_eq!(renamed(nodes, Version::One, "a-b"), expected);
}

#[test]
fn names_in_what_is_applied_to_the_root_follow() {
    let nodes = r#"[{"id":"x","transform":{"expr":"$.{ \"k\": a.n, \"a\": $.(a + b.(a)) }"}}]"#;
    let expected = r#"[{"id":"x","transform":{"expr":"$.{ \"k\": c.n, \"a\": $.(c + b.(a)) }"}}]"#;
    assert_eq!(renamed(nodes, Version::One, "c"), expected);
}

#[test]
fn what_is_no_expression_stays() {
    let nodes = r#"[{"id":"x","args":{"x":"$.a"},"transform":{"expr":"$.a +"}}]"#;
    assert_eq!(renamed(nodes, Version::Two, "c"), nodes);
}

#[test]
fn the_edges_of_a_workflow_follow() {
    let definition = r#"{"name":"w","nodes":[{"id":"start","type":"start","next":["a","b"]},{"id":"a","type":"transform","data":{"label":"a","transform":{"expr":"$.a"}}},{"id":"s","type":"switch","data":{"conditions":[{"rule":{"var":"a.x"},"next":"a"}]}}],"edges":[{"id":"1","source":"start","target":"a"},{"id":"2","source":"a","target":"b"}]}"#;
    let expected = r#"{"name":"w","nodes":[{"id":"start","type":"start","next":["c","b"]},{"id":"c","type":"transform","data":{"label":"a","transform":{"expr":"$.c"}}},{"id":"s","type":"switch","data":{"conditions":[{"rule":{"var":"c.x"},"next":"c"}]}}],"edges":[{"id":"1","source":"start","target":"c"},{"id":"2","source":"c","target":"b"}]}"#;
    let definition = Value::from_json(definition).unwrap();
    assert_eq!(rename_node(&definition, Version::Two, "a", "c").to_json(), expected);
}
