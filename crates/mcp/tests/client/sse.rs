//! The transport of two endpoints.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{Method, StatusCode};
use mcpgraph_mcp::client::{ClientError, ClientOptions, HttpConfig, HttpKind};
use mcpgraph_mcp::version::Era;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::scripted::{Asked, Scripted, events, status};
use crate::support::{Recorder, call, eventually, options, patient};

/// A server whose stream names this endpoint, and what its handler can end it with.
async fn server(endpoint: &'static str) -> (Scripted, Arc<Mutex<Option<mpsc::Sender<String>>>>) {
    let stream: Arc<Mutex<Option<mpsc::Sender<String>>>> = Arc::default();
    let shared = stream.clone();
    let server = Scripted::start(move |asked| answer(&asked, endpoint, &shared)).await;
    (server, stream)
}

fn answer(asked: &Asked, endpoint: &str, stream: &Mutex<Option<mpsc::Sender<String>>>) -> Response {
    if asked.http == Method::GET {
        let (sender, receiver) = mpsc::channel(16);
        sender.try_send(format!("event: endpoint\ndata: {endpoint}\n\n")).unwrap();
        *stream.lock() = Some(sender);
        let body = futures_util::stream::unfold(receiver, |mut receiver| async {
            Some((Ok::<_, Infallible>(receiver.recv().await?), receiver))
        });
        let builder = Response::builder().header("content-type", "text/event-stream");
        return builder.body(Body::from_stream(body)).unwrap();
    }
    if asked.path != "/messages" {
        return status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let result = match asked.method() {
        "initialize" => json!({"protocolVersion": "2024-11-05", "capabilities": {}}),
        "tools/call" if asked.body["params"]["name"] == "hang" => return accepted(),
        "tools/call" if asked.body["params"]["name"] == "huge" => {
            json!({"content": [{"type": "text", "text": "x".repeat(100_000)}]})
        }
        _ => json!({"content": [{"type": "text", "text": "done"}]}),
    };
    if !asked.body["id"].is_null() {
        say(stream, &asked.answered(&result));
    }
    accepted()
}

fn accepted() -> Response {
    Response::builder().status(202).body(Body::from("Accepted")).unwrap()
}

fn say(stream: &Mutex<Option<mpsc::Sender<String>>>, message: &Value) {
    let sender = stream.lock();
    sender.as_ref().unwrap().try_send(format!("event: message\ndata: {message}\n\n")).unwrap();
}

#[tokio::test]
async fn it_is_found_and_spoken() {
    let (server, stream) = server("/messages?session=1").await;
    for kind in [HttpKind::Auto, HttpKind::Sse] {
        let config = HttpConfig { kind, ..server.config() };
        let events = Arc::new(Recorder::default());
        let connection = server.connect_with(config, options(), events.clone()).await.unwrap();
        assert_eq!(connection.era(), Era::Legacy);
        assert_eq!(call(&connection, "x", json!({}), patient()).await.unwrap(), "done");
        say(&stream, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
        events.wait_for("ListChanged(Tools)").await;
        connection.close().await;
    }
}

#[tokio::test]
async fn the_end_of_the_stream_is_the_end_of_the_connection() {
    let (server, stream) = server("/messages").await;
    let connection = server.connect().await.unwrap();
    let other = connection.clone();
    let hanging = tokio::spawn(async move { call(&other, "hang", json!({}), patient()).await });
    eventually(|| server.messages("tools/call").len() == 1).await;
    *stream.lock() = None;
    let error = hanging.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    assert!(connection.is_closed());
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_request_and_no_other() {
    let (server, stream) = server("/messages").await;
    let options = ClientOptions { max_message_bytes: 50_000, ..options() };
    let events = Arc::new(Recorder::default());
    let connection = server.connect_with(server.config(), options, events.clone()).await.unwrap();
    let other = connection.clone();
    let hanging = tokio::spawn(async move { call(&other, "hang", json!({}), patient()).await });
    eventually(|| server.messages("tools/call").len() == 1).await;
    let error = call(&connection, "huge", json!({}), patient()).await.unwrap_err();
    assert!(matches!(error, ClientError::TooLarge { limit: 50_000 }), "{error:?}");
    // One that answers nothing is passed over.
    let params = json!({"data": "x".repeat(100_000)});
    say(&stream, &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
    assert_eq!(call(&connection, "x", json!({}), patient()).await.unwrap(), "done");
    let asked = server.messages("tools/call")[0].clone();
    say(&stream, &asked.answered(&json!({"content": [{"type": "text", "text": "late"}]})));
    assert_eq!(hanging.await.unwrap().unwrap(), "late");
    assert!(!connection.is_closed());
}

#[tokio::test]
async fn an_endpoint_elsewhere_is_refused() {
    let (server, _) = server("http://example.com/messages").await;
    let config = HttpConfig { kind: HttpKind::Sse, ..server.config() };
    let connected = server.connect_with(config, options(), Arc::new(Recorder::default()));
    let error = connected.await.err().unwrap().to_string();
    assert!(error.contains("the endpoint it names is at http://example.com, not at"), "{error}");
}

#[tokio::test]
async fn a_stream_that_names_no_endpoint_is_refused() {
    let server = Scripted::start(|_| events(vec![(0, "data: hello\n\n".to_owned())])).await;
    let config = HttpConfig { kind: HttpKind::Sse, ..server.config() };
    let connected = server.connect_with(config, options(), Arc::new(Recorder::default()));
    let error = connected.await.err().unwrap().to_string();
    assert!(error.ends_with("the stream ended before it named an endpoint"), "{error}");
}
