//! More requests at once than there are places.

use std::collections::BTreeSet;

use mcpgraph_mcp::server::{HttpConfig, Limits};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::service::Fixture;
use super::wire::{
    HttpRequest, LEGACY, Pipe, call, modern_request, notification, open_session, request,
};

fn few(max_in_flight: usize) -> Limits {
    Limits { max_in_flight, ..Limits::default() }
}

#[tokio::test]
async fn a_client_is_slowed_and_not_refused() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    let all: BTreeSet<u64> = (0..600).collect();
    for id in &all {
        pipe.send(&call(*id, "sleep", json!({"ms": 20}))).await;
    }
    // The end of the input does not take back what was sent before.
    pipe.input.as_mut().unwrap().shutdown().await.unwrap();
    let mut answered = BTreeSet::new();
    while answered.len() < all.len() {
        let answer = pipe.next().await;
        assert!(answer["result"].is_object(), "{answer}");
        answered.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!(answered, all);
}

#[tokio::test]
async fn what_is_no_request_is_read_though_requests_wait() {
    let fixture = Fixture::with_limits(few(1));
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({"elicitation": {}})).await;
    let asked = pipe.ask(&call(1, "elicit", json!({}))).await;
    for id in 2..=4 {
        pipe.send(&call(id, "echo", json!({"text": "x"}))).await;
    }
    assert_eq!(pipe.ask(&call(2, "echo", json!({}))).await["error"]["code"], -32600, "id in use");
    // Neither of these needs a place.
    assert_eq!(pipe.ask(&request("p", "ping", json!({}))).await["id"], "p");
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let told = pipe.ask(&modern_request("sub", "subscriptions/listen", listen)).await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    pipe.send(&notification("notifications/cancelled", json!({"requestId": 3}))).await;
    assert!(pipe.is_silent().await);
    pipe.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})).await;
    let mut answered = Vec::new();
    for _ in 0..3 {
        answered.push(pipe.next().await["id"].take());
    }
    assert_eq!(answered, [1, 2, 4]);
    assert!(pipe.is_silent().await);
}

#[tokio::test]
async fn how_many_may_wait_is_limited() {
    let too_many = Limits { max_waiting: 2, ..few(1) };
    let too_large = Limits { max_waiting_bytes: 150, ..few(1) };
    for (limits, named) in [(too_many, "2 more of 268435456 bytes"), (too_large, "of 150 bytes")] {
        let mut fixture = Fixture::with_limits(limits);
        let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
        pipe.send(&call(1, "wait", json!({}))).await;
        assert_eq!(fixture.next_happening().await, "waiting");
        for id in 2..=3 {
            pipe.send(&call(id, "echo", json!({"text": "x"}))).await;
        }
        let refused = pipe.ask(&call(4, "echo", json!({"text": "x".repeat(100)}))).await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(4), &json!(-32030)));
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("the limit is 1,") && why.contains(named), "{why}");
        pipe.send(&notification("notifications/cancelled", json!({"requestId": 1}))).await;
        let answered = [pipe.next().await["id"].take(), pipe.next().await["id"].take()];
        assert_eq!(answered, [2, 3]);
    }
}

#[tokio::test]
async fn who_waits_when_the_server_ends_is_told() {
    let limits = Limits { shutdown_grace: std::time::Duration::ZERO, ..few(1) };
    let mut fixture = Fixture::with_limits(limits);
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    pipe.send(&call(1, "wait", json!({}))).await;
    assert_eq!(fixture.next_happening().await, "waiting");
    pipe.send(&call(2, "echo", json!({"text": "x"}))).await;
    pipe.ask(&request(3, "ping", json!({}))).await;
    fixture.server.shutdown().cancel();
    let mut answers: Vec<Value> = vec![pipe.next().await, pipe.next().await];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[1]["error"]["code"], -32030, "{answers:?}");
}

#[tokio::test]
async fn over_http_one_more_is_told_to_come_again() {
    let mut fixture = Fixture::with_limits(few(1));
    let address = fixture.listen(HttpConfig::default()).await;
    let key = open_session(address, LEGACY, json!({})).await;
    let post = |message: Value| HttpRequest::post(message.to_string()).session(&key).send(address);
    let waiting = tokio::spawn(post(call(1, "wait", json!({}))));
    assert_eq!(fixture.next_happening().await, "waiting");
    let refused = post(call(2, "echo", json!({"text": "x"}))).await;
    assert_eq!(refused.status, 503);
    let refused = refused.json().await;
    assert_eq!(refused["error"]["code"], -32030, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("the limit is 1"), "{refused}");
    waiting.abort();
}
