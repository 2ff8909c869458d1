//! The trace a request belongs to, told by its headers or its `_meta`.

use mcpgraph_mcp::server::HttpConfig;
use serde_json::{Value, json};

use super::service::Fixture;
use super::wire::{HttpRequest, call, modern_call, open_session};

const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const META: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// What the service is told: the parent and the state.
async fn told(request: HttpRequest, address: std::net::SocketAddr) -> Value {
    let response = request.send(address).await;
    assert_eq!(response.status, 200);
    let body = response.json().await;
    body["result"]["structuredContent"]["trace"].clone()
}

#[tokio::test]
async fn headers_are_taken_where_the_request_says_nothing_itself() {
    let fixture = Fixture::new();
    let address = fixture.listen(HttpConfig::default()).await;
    let key = open_session(address, "2025-11-25", json!({})).await;
    let silent = json!({});
    let traced = json!({"traceparent": META, "tracestate": "mine=1"});
    for is_modern in [true, false] {
        let request = |meta: &Value| {
            let mut message = if is_modern {
                modern_call(1, "trace", json!({}))
            } else {
                call(1, "trace", json!({}))
            };
            for (key, value) in meta.as_object().unwrap() {
                message["params"]["_meta"][key] = value.clone();
            }
            if is_modern {
                HttpRequest::modern(&message)
            } else {
                HttpRequest::post(message.to_string()).session(&key)
            }
        };
        let with = |meta: &Value, parent: &str, state: &str| {
            told(request(meta).header("traceparent", parent).header("tracestate", state), address)
        };
        assert_eq!(told(request(&silent), address).await, json!([null, null]));
        assert_eq!(with(&silent, HEADER, "other=2").await, json!([HEADER, "other=2"]));
        assert_eq!(with(&traced, HEADER, "other=2").await, json!([META, "mine=1"]));
        assert_eq!(with(&silent, "00-nonsense", "other=2").await, json!([null, null]));
        // What cannot be read does not stand in the way of what can.
        for broken in [json!({"traceparent": "00-nonsense"}), json!({"traceparent": 7})] {
            assert_eq!(with(&broken, HEADER, "other=2").await, json!([HEADER, "other=2"]));
        }
    }
}
