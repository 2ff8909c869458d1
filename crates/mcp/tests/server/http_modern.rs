//! The modern era over HTTP.

use std::time::Duration;

use mcpgraph_mcp::server::{Change, HttpConfig, Limits};
use serde_json::{Value, json};

use super::service::Fixture;
use super::wire::{HttpRequest, HttpResponse, MODERN, modern_call, modern_request, request};

async fn fixture() -> (Fixture, std::net::SocketAddr) {
    let fixture = Fixture::new();
    let address = fixture.listen(HttpConfig::default()).await;
    (fixture, address)
}

/// The status and the error code of a refusal.
async fn refusal(response: HttpResponse) -> (u16, i64) {
    let status = response.status;
    let body = response.json().await;
    assert_eq!(body["jsonrpc"], "2.0", "{body}");
    (status, body["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {body}")))
}

#[tokio::test]
async fn a_quick_answer_is_json() {
    let (_fixture, address) = fixture().await;
    let message = modern_call(1, "echo", json!({"text": "hi"}));
    let response = HttpRequest::modern(&message).send(address).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("mcp-session-id"), None);
    let body = response.json().await;
    assert_eq!(body["result"]["content"][0]["text"], "hi");
    assert_eq!(body["result"]["resultType"], "complete");
}

#[tokio::test]
async fn what_is_sent_before_the_answer_makes_it_a_stream() {
    let (_fixture, address) = fixture().await;
    let mut message = modern_call(1, "progress", json!({"times": 100}));
    message["params"]["_meta"]["progressToken"] = json!(7);
    let response = HttpRequest::modern(&message).send(address).await;
    assert_eq!((response.status, response.is_stream()), (200, true));
    let messages = response.messages().await;
    let progress: Vec<_> =
        messages[..100].iter().map(|it| it["params"]["progress"].as_u64().unwrap()).collect();
    assert_eq!(progress, (1..=100).collect::<Vec<_>>());
    assert_eq!(messages[100]["id"], 1);
    assert_eq!(messages.len(), 101);
}

#[tokio::test]
async fn a_slow_answer_is_a_stream_that_is_kept_open() {
    let fixture = Fixture::new();
    let config = HttpConfig {
        stream_after: Duration::from_millis(20),
        keep_alive: Duration::from_millis(20),
        ..HttpConfig::default()
    };
    let address = fixture.listen(config).await;
    let message = modern_call(1, "sleep", json!({"ms": 150}));
    let response = HttpRequest::modern(&message).send(address).await;
    assert!(response.is_stream());
    let messages = response.messages().await;
    assert_eq!(messages[0]["result"]["content"][0]["text"], "slept");
}

#[tokio::test]
async fn closing_the_response_cancels_the_call() {
    let mut fixture = Fixture::new();
    let config = HttpConfig { stream_after: Duration::from_millis(300), ..HttpConfig::default() };
    let address = fixture.listen(config).await;
    let message = modern_call(1, "wait", json!({}));
    // While the answer is awaited, and while it is streamed.
    let request = HttpRequest::modern(&message);
    let asking = tokio::spawn(request.send(address));
    assert_eq!(fixture.next_happening().await, "waiting");
    asking.abort();
    assert_eq!(fixture.next_happening().await, "cancelled");
    let response = HttpRequest::modern(&message).send(address).await;
    assert!(response.is_stream());
    assert_eq!(fixture.next_happening().await, "waiting");
    drop(response);
    assert_eq!(fixture.next_happening().await, "cancelled");
}

#[tokio::test]
async fn errors_have_their_status() {
    let (_fixture, address) = fixture().await;
    let send = |message: Value| HttpRequest::modern(&message).send(address);
    for method in ["initialize", "ping", "no/such", "logging/setLevel", "resources/unsubscribe"] {
        let response = send(modern_request(1, method, json!({}))).await;
        assert_eq!(refusal(response).await, (404, -32601), "{method}");
    }
    let unknown = modern_request(1, "resources/read", json!({"uri": "a:b"}));
    assert_eq!(refusal(send(unknown).await).await, (200, -32602));
    let mut message = modern_request(1, "tools/list", json!({}));
    message["params"]["_meta"].as_object_mut().unwrap().retain(|key, _| key.contains("Version"));
    assert_eq!(refusal(send(message).await).await, (400, -32602));
    let bare = request(1, "tools/list", json!({}));
    assert_eq!(refusal(send(bare).await).await, (400, -32602));
    let version = "io.modelcontextprotocol/protocolVersion";
    let mut message = modern_request(1, "tools/list", json!({}));
    message["params"]["_meta"][version] = json!("2030-01-01");
    let response = HttpRequest::modern(&message)
        .without("MCP-Protocol-Version")
        .header("MCP-Protocol-Version", "2030-01-01")
        .send(address)
        .await;
    assert_eq!(response.status, 400);
    let body = response.json().await;
    assert_eq!(body["error"]["code"], -32022);
    assert_eq!(body["error"]["data"]["supported"], json!([MODERN]));
}

#[tokio::test]
async fn headers_mirror_the_body() {
    let (_fixture, address) = fixture().await;
    let message = modern_call(1, "echo", json!({"text": "x", "region": "é"}));
    let good = || HttpRequest::modern(&message).header("Mcp-Param-Region", "=?base64?w6k=?=");
    assert_eq!(good().send(address).await.status, 200);
    for (what, request) in [
        ("no version", good().without("MCP-Protocol-Version")),
        ("two versions", good().header("MCP-Protocol-Version", MODERN)),
        ("no method", good().without("Mcp-Method")),
        ("other method", good().without("Mcp-Method").header("Mcp-Method", "tools/list")),
        ("no name", good().without("Mcp-Name")),
        ("other name", good().without("Mcp-Name").header("Mcp-Name", "Echo")),
        ("two names", good().header("Mcp-Name", "echo")),
        ("no parameter", good().without("Mcp-Param-Region")),
        ("other parameter", good().without("Mcp-Param-Region").header("mcp-param-region", "e")),
        (
            "bad base64",
            good().without("Mcp-Param-Region").header("mcp-param-region", "=?base64?%?="),
        ),
    ] {
        assert_eq!(refusal(request.send(address).await).await, (400, -32020), "{what}");
    }
    let without = modern_call(1, "echo", json!({"text": "x"}));
    let request = HttpRequest::modern(&without).header("Mcp-Param-Region", "x");
    assert_eq!(refusal(request.send(address).await).await, (400, -32020));
}

#[tokio::test]
async fn there_is_nothing_but_post() {
    let (_fixture, address) = fixture().await;
    for method in ["GET", "DELETE"] {
        let request = HttpRequest::new(method)
            .header("Accept", "text/event-stream")
            .header("MCP-Protocol-Version", MODERN);
        let response = request.send(address).await;
        assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{method}");
    }
    assert_eq!(HttpRequest::new("PUT").send(address).await.status, 405);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"});
    let response = HttpRequest::modern(&cancelled).send(address).await;
    assert_eq!(response.status, 202);
}

#[tokio::test]
async fn listening_ends_with_the_server_or_the_client() {
    let (fixture, address) = fixture().await;
    let message = modern_request(
        9,
        "subscriptions/listen",
        json!({"notifications": {"promptsListChanged": true, "resourceSubscriptions": ["a:b"]}}),
    );
    let mut gone = HttpRequest::modern(&message).send(address).await;
    assert!(gone.message().await.unwrap()["method"].as_str().unwrap().ends_with("acknowledged"));
    assert_eq!(fixture.broadcaster.watched_resources(), ["a:b"]);
    drop(gone);
    while !fixture.broadcaster.watched_resources().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut stays = HttpRequest::modern(&message).send(address).await;
    stays.message().await.unwrap();
    fixture.broadcaster.send(&Change::Prompts);
    let told = stays.message().await.unwrap();
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 9);
    fixture.server.shutdown().cancel();
    assert_eq!(stays.message().await.unwrap()["result"]["resultType"], "complete");
    assert_eq!(stays.message().await, None);
}

#[tokio::test]
async fn places_are_limited() {
    let limits = Limits { max_http_in_flight: 1, max_listeners: 1, ..Limits::default() };
    let mut fixture = Fixture::with_limits(limits);
    let address = fixture.listen(HttpConfig::default()).await;
    let listen = modern_request(
        1,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let _listening = HttpRequest::modern(&listen).send(address).await;
    let refused = HttpRequest::modern(&listen).send(address).await.json().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("the limit is 1"), "{refused}");
    let waiting =
        tokio::spawn(HttpRequest::modern(&modern_call(1, "wait", json!({}))).send(address));
    assert_eq!(fixture.next_happening().await, "waiting");
    let echo = modern_call(1, "echo", json!({"text": "x"}));
    assert_eq!(HttpRequest::modern(&echo).send(address).await.status, 503);
    waiting.abort();
    assert_eq!(fixture.next_happening().await, "cancelled");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(HttpRequest::modern(&echo).send(address).await.status, 200);
}
