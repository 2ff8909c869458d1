//! HTTP that is not as it should be.

use std::net::SocketAddr;
use std::time::Duration;

use mcpgraph_mcp::server::{HttpConfig, Limits};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::service::Fixture;
use super::wire::{HttpRequest, HttpResponse, initialize, modern_call};

async fn fixture() -> (Fixture, SocketAddr) {
    let limits = Limits {
        max_body_bytes: 10_000,
        read_timeout: Duration::from_millis(300),
        ..Limits::default()
    };
    let fixture = Fixture::with_limits(limits);
    let address = fixture.listen(HttpConfig::default()).await;
    (fixture, address)
}

fn good() -> HttpRequest {
    HttpRequest::modern(&modern_call(1, "echo", json!({"text": "x"})))
}

#[tokio::test]
async fn every_refusal_says_why_as_json_rpc() {
    let (_fixture, address) = fixture().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    for (status, code, request) in [
        (403, -32600, good().header("Host", "evil.example")),
        (403, -32600, good().header("Origin", "https://evil.example")),
        (403, -32600, HttpRequest::new("GET").header("Host", "evil.example")),
        (403, -32600, HttpRequest::new("DELETE").header("Origin", "null")),
        (406, -32600, good().without("Accept")),
        (406, -32600, good().without("Accept").header("Accept", "application/json")),
        (415, -32600, good().without("Content-Type")),
        (415, -32600, good().without("Content-Type").header("Content-Type", "text/plain")),
        (413, -32600, HttpRequest::post(vec![b' '; 10_001])),
        (400, -32700, HttpRequest::post("{nonsense")),
        (400, -32700, HttpRequest::post("")),
        (400, -32700, HttpRequest::post([0xff, 0xfe])),
        (400, -32600, HttpRequest::post("[]")),
        (400, -32600, HttpRequest::post("7")),
        (400, -32600, HttpRequest::post(&ping)),
        (400, -32600, HttpRequest::post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)),
        (404, -32600, HttpRequest::post(&ping).session("none")),
        (406, -32600, HttpRequest::new("GET").session("none")),
        (400, -32600, HttpRequest::new("DELETE")),
        (405, -32600, HttpRequest::new("PATCH")),
    ] {
        let response = request.send(address).await;
        assert_eq!(response.status, status, "{code}");
        let body = response.json().await;
        assert_eq!(
            (&body["jsonrpc"], &body["error"]["code"]),
            (&json!("2.0"), &json!(code)),
            "{body}"
        );
        assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(good().header("Origin", "http://localhost:1234").send(address).await.status, 200);
}

#[tokio::test]
async fn an_invalid_request_is_answered_with_its_id() {
    let (_fixture, address) = fixture().await;
    let response = HttpRequest::post(r#"{"id":"me","method":"x"}"#).send(address).await;
    assert_eq!(response.status, 400);
    assert_eq!(response.json().await["id"], "me");
}

#[tokio::test]
async fn bytes_that_are_no_http_break_nothing() {
    let (_fixture, address) = fixture().await;
    let long_header = format!("POST /mcp HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    for bytes in [
        b"\0\0\0\0".as_slice(),
        b"GET\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nx",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense",
        long_header.as_bytes(),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        drop(stream.write_all(bytes).await);
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        tokio::time::timeout(Duration::from_secs(5), read).await.expect("closed").ok();
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    }
    assert_eq!(good().send(address).await.status, 200);
}

#[tokio::test]
async fn a_slow_client_is_not_waited_for() {
    let (_fixture, address) = fixture().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{";
    assert_eq!(HttpResponse::to_bytes(address, head.as_bytes()).await.status, 408);
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"POST /mcp HT").await.unwrap();
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    closed.expect("closed").ok();
}

#[tokio::test]
async fn connections_are_limited() {
    let limits = Limits { max_connections: 1, ..Limits::default() };
    let fixture = Fixture::with_limits(limits);
    let address = fixture.listen(HttpConfig::default()).await;
    let first = TcpStream::connect(address).await.unwrap();
    let body = initialize("2025-11-25", json!({})).to_string();
    let second = tokio::spawn(HttpRequest::post(body).send(address));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished());
    drop(first);
    assert_eq!(second.await.unwrap().status, 200);
}
