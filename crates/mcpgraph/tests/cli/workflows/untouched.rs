//! What no hook replaces, byte for byte.

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use super::around;
use crate::access::World;
use crate::http::Listening;

/// The body of the answer to a call of a tool that answers with this text.
fn answered(server: &Listening, result: &str) -> String {
    let params = json!({
        "name": "s__lie",
        "arguments": { "result": result },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let headers = format!(
        "{}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: s__lie",
        server.host()
    );
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (status, rest) = server.post(&headers, &body);
    assert!(status.contains("200"), "{status} {rest}");
    rest.split_once("\r\n\r\n").unwrap().1.to_owned()
}

fn served(workflows: &Value) -> Option<(World, Listening)> {
    let mut server = environment::misbehaving_server()?.to_json();
    server["expose"] = json!(true);
    let world = World::of(workflows, &json!({ "s": server }));
    let listening = world.serve();
    Some((world, listening))
}

#[test]
fn an_answer_is_not_changed_by_looking_at_it() {
    let look = "if (context.response.content === undefined) throw new Error('nothing to see')";
    let layers = json!([around("outer", "return", look), around("inner", "", look)]);
    let (Some((_plain, plain)), Some((_wrapped, wrapped))) = (served(&json!([])), served(&layers))
    else {
        return;
    };
    let deep = format!("{}7{}", "[".repeat(5000), "]".repeat(5000));
    for inner in [
        r#""twice":1,"twice":2,"number":1e2,"long":1.10000000000000000000000000000001"#,
        r#""half":"\ud800 \ude00\u00e9","pair":"\ud83d\ude00""#,
        &format!(r#""deep":{deep}"#),
    ] {
        let result = format!(r#"{{"content":[],{inner}}}"#);
        let answer = answered(&wrapped, &result);
        assert!(answer.contains(inner), "{answer}");
        assert_eq!(answer, answered(&plain, &result));
    }
}

#[test]
fn what_no_value_can_hold_is_seen_in_part() {
    let after = "return { response: { content: [{ type: 'text', \
                 text: JSON.stringify(context.response.half) }] } }";
    let Some((_world, server)) = served(&json!([around("look", "", after)])) else { return };
    let answer = answered(&server, r#"{"content":[],"half":"<\ud800>"}"#);
    assert!(answer.contains("<\u{fffd}>"), "{answer}");
}
