//! What passes through is what the server said: every request is made to a real server directly and
//! through the product, and the answers are the same but for names.

use mcpgraph_testkit::{Environment, StdioClient};
use serde_json::{Value, json};

use crate::product::Product;

const PREFIX: &str = "everything__";

/// Puts the prefix before the names of tools and prompts.
fn renamed(mut answer: Value) -> Value {
    for kind in ["tools", "prompts"] {
        let items = answer.pointer_mut(&format!("/result/{kind}")).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            item["name"] = format!("{PREFIX}{}", item["name"].as_str().unwrap()).into();
        }
    }
    answer
}

/// The names of the tools of a list.
fn names(answer: &Value) -> Vec<Value> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].clone()).collect()
}

/// A request with the name the product has for a tool or a prompt.
fn for_product(method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    let place = match method {
        "tools/call" | "prompts/get" => &mut params["name"],
        "completion/complete" => &mut params["ref"]["name"],
        _ => return params,
    };
    if let Some(name) = place.as_str() {
        *place = format!("{PREFIX}{name}").into();
    }
    params
}

#[test]
fn every_request_is_answered_as_by_the_server_itself() {
    let Some(environment) = Environment::find() else { return };
    let server = environment.package("@modelcontextprotocol/server-everything/dist/index.js");
    let server = server.arg("stdio");
    let mut exposed = server.to_json();
    exposed["expose"] = json!(true);
    let product = Product::with_server("graph.yaml", "everything", &exposed);
    let mut direct = StdioClient::connect(&server);
    let mut through = StdioClient::connect(&product.over_stdio());
    let requests = [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/call", json!({ "name": "echo", "arguments": { "message": "é\u{1f600} \u{0}" } })),
        ("tools/call", json!({ "name": "echo", "arguments": {} })),
        ("tools/call", json!({ "name": "get-sum", "arguments": { "a": 1e2, "b": -3 } })),
        ("tools/call", json!({ "name": "get-tiny-image", "arguments": {} })),
        (
            "tools/call",
            json!({ "name": "get-annotated-message", "arguments": { "messageType": "error", "includeImage": true } }),
        ),
        (
            "tools/call",
            json!({ "name": "get-structured-content", "arguments": { "location": "New York" } }),
        ),
        ("tools/call", json!({ "name": "get-resource-links", "arguments": { "count": 3 } })),
        (
            "tools/call",
            json!({ "name": "get-resource-reference", "arguments": { "resourceType": "Text", "resourceId": 1 } }),
        ),
        ("resources/read", json!({ "uri": "demo://resource/static/document/architecture.md" })),
        ("resources/read", json!({ "uri": "demo://resource/nothing" })),
        ("prompts/get", json!({ "name": "simple-prompt" })),
        (
            "prompts/get",
            json!({ "name": "args-prompt", "arguments": { "city": "Paris", "state": "x" } }),
        ),
        ("prompts/get", json!({ "name": "args-prompt" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "completable-prompt" }, "argument": { "name": "department", "value": "E" } }),
        ),
        ("ping", json!({})),
    ];
    for (method, params) in requests {
        let wanted = renamed(direct.request(method, &params));
        let mut found = through.request(method, &for_product(method, &params));
        if method == "tools/list" {
            // The graph has tools of its own, and the server has more for a client that can do more.
            let known: Vec<Value> = names(&wanted);
            let tools = found["result"]["tools"].as_array_mut().unwrap();
            tools.retain(|tool| known.contains(&tool["name"]));
        }
        let (wanted, found) = match (wanted.get("error"), found.get("error")) {
            (Some(wanted), Some(found)) => (wanted, found),
            _ => (&wanted["result"], &found["result"]),
        };
        // As text: the order of keys and the way numbers are written count. Texts may tell the time
        // or name the tool.
        let text = |value: &Value| value.to_string().replace(PREFIX, "");
        assert_eq!(text(found), text(wanted), "{method} {params}");
    }
    direct.close();
    through.close();
}
