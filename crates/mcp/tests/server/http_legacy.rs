//! The legacy era over HTTP: sessions, and streams that a client can come back to.

use std::net::SocketAddr;
use std::time::Duration;

use mcpgraph_mcp::server::{Change, HttpConfig, Limits};
use serde_json::{Value, json};

use super::service::Fixture;
use super::wire::{
    HttpRequest, HttpResponse, LEGACY, call, initialize, notification, open_session, request,
};

async fn fixture() -> (Fixture, SocketAddr) {
    let fixture = Fixture::new();
    let address = fixture.listen(HttpConfig::default()).await;
    (fixture, address)
}

async fn post(address: SocketAddr, key: &str, message: &Value) -> HttpResponse {
    HttpRequest::post(message.to_string()).session(key).send(address).await
}

fn get(key: &str) -> HttpRequest {
    HttpRequest::new("GET").header("Accept", "text/event-stream").session(key)
}

fn with_progress(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({"progressToken": "p"});
    message
}

#[tokio::test]
async fn a_session_from_start_to_end() {
    let (mut fixture, address) = fixture().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let key = open_session(address, version, json!({})).await;
        let response = post(address, &key, &call(1, "echo", json!({"text": "hi"}))).await;
        assert_eq!(response.header("content-type"), Some("application/json"));
        let body = response.json().await;
        assert_eq!(body["result"], json!({"content": [{"type": "text", "text": "hi"}]}));
        let changed = notification("notifications/roots/list_changed", json!({}));
        assert_eq!(post(address, &key, &changed).await.status, 202);
        assert_eq!(fixture.next_happening().await, "notified notifications/roots/list_changed");
        let delete = || HttpRequest::new("DELETE").session(&key);
        assert_eq!(delete().send(address).await.status, 204);
        assert_eq!(fixture.next_happening().await, "closed");
        assert_eq!(delete().send(address).await.status, 404);
        assert_eq!(post(address, &key, &request(2, "ping", json!({}))).await.status, 404);
        assert_eq!(get(&key).send(address).await.status, 404);
    }
}

#[tokio::test]
async fn requests_name_their_session_and_version() {
    let (_fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({})).await;
    let ping = request(1, "ping", json!({})).to_string();
    let none = HttpRequest::post(&ping).send(address).await;
    assert_eq!(none.status, 400);
    assert_eq!(none.json().await["id"], 1);
    let old = HttpRequest::post(&ping).header("Mcp-Session-Id", &key);
    assert_eq!(old.send(address).await.status, 200, "no version is the first that had sessions");
    for version in ["2030-01-01", "x"] {
        let other = HttpRequest::post(&ping)
            .header("Mcp-Session-Id", &key)
            .header("MCP-Protocol-Version", version);
        assert_eq!(other.send(address).await.status, 400, "{version}");
    }
    let two = HttpRequest::post(&ping).session(&key).header("Mcp-Session-Id", "x");
    assert_eq!(two.send(address).await.status, 400);
    let again = post(address, &key, &initialize(LEGACY, json!({}))).await;
    assert_ne!(again.header("mcp-session-id"), Some(key.as_str()));
    let nonsense = request(1, "initialize", json!({"protocolVersion": 7})).to_string();
    assert_eq!(HttpRequest::post(nonsense).send(address).await.status, 400);
}

#[tokio::test]
async fn messages_before_the_answer_come_first() {
    let (_fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({})).await;
    let message = with_progress(call(1, "progress", json!({"times": 200})));
    let messages = post(address, &key, &message).await.messages().await;
    let progress: Vec<_> =
        messages[..200].iter().map(|it| it["params"]["progress"].as_u64().unwrap()).collect();
    assert_eq!(progress, (1..=200).collect::<Vec<_>>());
    assert_eq!((messages.len(), &messages[200]["id"]), (201, &json!(1)));
}

#[tokio::test]
async fn a_broken_stream_is_resumed() {
    let fixture = Fixture::new();
    let config = HttpConfig { stream_after: Duration::from_millis(10), ..HttpConfig::default() };
    let address = fixture.listen(config).await;
    let key = open_session(address, LEGACY, json!({})).await;
    let mut broken = post(address, &key, &call(1, "sleep", json!({"ms": 200}))).await;
    let first = broken.event().await.unwrap();
    assert_eq!((first.data.as_str(), first.retry), ("", Some(Duration::from_secs(3))));
    let id = first.id.unwrap();
    drop(broken);
    // The call goes on, and its answer can be had twice.
    for _ in 0..2 {
        let resumed = get(&key).header("Last-Event-ID", &id).send(address).await;
        let messages = resumed.messages().await;
        assert_eq!(messages[0]["result"]["content"][0]["text"], "slept");
    }
    for unknown in ["99-0", "x", "", "1-x"] {
        let response = get(&key).header("Last-Event-ID", unknown).send(address).await;
        assert_eq!(response.status, 400, "{unknown}");
    }
}

#[tokio::test]
async fn the_server_closes_a_stream_and_the_client_comes_back() {
    let (_fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({})).await;
    let mut stream = post(address, &key, &with_progress(call(1, "pause", json!({})))).await;
    let mut events = Vec::new();
    while let Some(event) = stream.event().await {
        events.push(event);
    }
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events[1].data.contains("\"progress\":1"));
    assert_eq!(events[2].retry, Some(Duration::from_millis(20)));
    assert_eq!(events[2].id, events[1].id);
    let last = events[2].id.clone().unwrap();
    let messages = get(&key).header("Last-Event-ID", &last).send(address).await.messages().await;
    assert_eq!(messages[0]["params"]["progress"], 2);
    assert_eq!(messages[1]["result"]["content"][0]["text"], "resumed");
    // Clients of before do not know that they may come back: the stream stays open.
    let key = open_session(address, "2025-06-18", json!({})).await;
    let messages = post(address, &key, &with_progress(call(1, "pause", json!({})))).await;
    assert_eq!(messages.messages().await.len(), 3);
}

#[tokio::test]
async fn only_an_explicit_cancel_cancels() {
    let (mut fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({})).await;
    let waiting = tokio::spawn({
        let key = key.clone();
        async move { post(address, &key, &call("w", "wait", json!({}))).await }
    });
    assert_eq!(fixture.next_happening().await, "waiting");
    let again = post(address, &key, &call("w", "echo", json!({}))).await;
    assert_eq!((again.status, &again.json().await["error"]["code"]), (400, &json!(-32600)));
    waiting.abort();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(fixture.happened.try_recv().is_err(), "a broken connection is no wish");
    let cancelled = notification("notifications/cancelled", json!({"requestId": "w"}));
    post(address, &key, &cancelled).await;
    assert_eq!(fixture.next_happening().await, "cancelled");
    let waiting = tokio::spawn({
        let key = key.clone();
        async move { post(address, &key, &call("w", "wait", json!({}))).await }
    });
    assert_eq!(fixture.next_happening().await, "waiting");
    post(address, &key, &cancelled).await;
    assert_eq!(waiting.await.unwrap().status, 202, "there is no answer");
}

#[tokio::test]
async fn the_client_is_asked_on_the_stream_of_the_call() {
    let (_fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({"elicitation": {}})).await;
    let mut stream = post(address, &key, &call(1, "elicit", json!({}))).await;
    let asked = stream.message().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    assert_eq!(post(address, &key, &answer).await.status, 202);
    let result = stream.message().await.unwrap();
    assert_eq!(result["result"]["content"][0]["text"], r#"{"action":"decline"}"#);
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn changes_come_on_the_standalone_stream() {
    let (fixture, address) = fixture().await;
    let key = open_session(address, LEGACY, json!({})).await;
    // A change that nobody was there to hear is told later, once.
    fixture.broadcaster.send(&Change::Tools);
    fixture.broadcaster.send(&Change::Tools);
    let mut stream = get(&key).send(address).await;
    assert_eq!(stream.event().await.unwrap().data, "");
    let told = stream.event().await.unwrap();
    assert!(told.data.contains("tools/list_changed"));
    // The newest stream counts; the old one is closed.
    let mut newer = get(&key).send(address).await;
    assert_eq!(stream.event().await, None);
    post(address, &key, &request(1, "resources/subscribe", json!({"uri": "a:b"}))).await;
    fixture.broadcaster.send(&Change::Resource("a:b".to_owned()));
    assert_eq!(newer.message().await.unwrap()["params"]["uri"], "a:b");
    drop(newer);
    let id = told.id.unwrap();
    let mut resumed = get(&key).header("Last-Event-ID", &id).send(address).await;
    assert_eq!(resumed.message().await.unwrap()["params"]["uri"], "a:b");
    fixture.server.shutdown().cancel();
    assert_eq!(resumed.message().await, None);
}

#[tokio::test]
async fn sessions_are_limited_and_expire() {
    let limits =
        Limits { max_sessions: 2, session_idle: Duration::from_millis(200), ..Limits::default() };
    let mut fixture = Fixture::with_limits(limits);
    let address = fixture.listen(HttpConfig::default()).await;
    let idle = open_session(address, LEGACY, json!({})).await;
    let busy = open_session(address, LEGACY, json!({})).await;
    let _stream = get(&busy).send(address).await;
    let body = initialize(LEGACY, json!({})).to_string();
    let refused = HttpRequest::post(&body).send(address).await;
    assert_eq!(refused.status, 503);
    let message = refused.json().await["error"]["message"].to_string();
    assert!(message.contains("the limit is 2"), "{message}");
    assert_eq!(fixture.next_happening().await, "closed");
    let ping = request(1, "ping", json!({}));
    assert_eq!(post(address, &idle, &ping).await.status, 404);
    assert_eq!(post(address, &busy, &ping).await.status, 200);
}

#[tokio::test]
async fn batches_in_the_one_revision_that_has_them() {
    let (_fixture, address) = fixture().await;
    let batch = json!([call(1, "echo", json!({"text": "1"})), request(2, "ping", json!({}))]);
    let key = open_session(address, "2025-03-26", json!({})).await;
    let mut ids: Vec<_> = post(address, &key, &batch)
        .await
        .messages()
        .await
        .iter()
        .map(|it| it["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    let quiet = json!([notification("notifications/x", json!({}))]);
    assert_eq!(post(address, &key, &quiet).await.status, 202);
    for bad in ["[]", "[1]", "[{"] {
        let response = HttpRequest::post(bad).session(&key).send(address).await;
        assert_eq!(response.status, 400, "{bad}");
    }
    let key = open_session(address, LEGACY, json!({})).await;
    assert_eq!(post(address, &key, &batch).await.status, 400);
}
