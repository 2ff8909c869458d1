//! Streams of streamable HTTP: order, resumption, cancellation, the connection's own stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use mcpgraph_mcp::client::{CallEvent, ClientError, RequestOptions};
use mcpgraph_mcp::message::raw;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::scripted::{Scripted, endless, event, events, status};
use crate::support::{Recorder, call, eventually, options, patient, within};

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

fn progress(token: &Value, number: u64) -> Value {
    let params = json!({"progressToken": token, "progress": number});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_answer() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| {
            let token = &asked.body["params"]["_meta"]["progressToken"];
            let mut pieces: Vec<_> =
                (0..50).map(|number| event(&progress(token, number))).collect();
            pieces.push(event(&asked.answered(&done())));
            pieces.push(event(&progress(token, 50)));
            // All in one piece, and in pieces that cut events anywhere.
            let text: String = pieces.into_iter().map(|(_, text)| text).collect();
            let cuts = text.into_bytes();
            events(
                cuts.chunks(37).map(|cut| (0, String::from_utf8_lossy(cut).into_owned())).collect(),
            )
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    for _ in 0..20 {
        let (sender, mut receiver) = mpsc::channel(64);
        let options = RequestOptions { events: Some(sender), progress: true, ..patient() };
        call(&connection, "x", json!({}), options).await.unwrap();
        let seen: Vec<Value> = std::iter::from_fn(|| receiver.try_recv().ok())
            .map(|event| match event {
                CallEvent::Progress(params) => serde_json::from_str::<Value>(params.get()).unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        let numbers: Vec<u64> =
            seen.iter().filter_map(|value| value["progress"].as_u64()).collect();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_broken_legacy_stream_is_read_on_from_the_last_event() {
    let server = Scripted::start(|asked| {
        if let Some(response) = asked.legacy_start("s") {
            return response;
        }
        match (asked.http.clone(), asked.header("last-event-id")) {
            (Method::GET, None) => status(StatusCode::METHOD_NOT_ALLOWED),
            (Method::GET, Some("one")) => events(vec![(0, "id: two\ndata:\n\n".to_owned())]),
            (Method::GET, Some(_)) => {
                let answer = json!({"jsonrpc": "2.0", "id": 3, "result": done()});
                events(vec![(0, format!("id: three\ndata: {answer}\n\n"))])
            }
            _ => {
                // Ends before the answer, after it named how long to wait.
                assert_eq!(asked.body["id"], 3);
                events(vec![(0, "id: one\nretry: 300\ndata:\n\n".to_owned())])
            }
        }
    })
    .await;
    let connection = server.connect().await.unwrap();
    let start = Instant::now();
    assert_eq!(call(&connection, "x", json!({}), patient()).await.unwrap(), "done");
    assert!(start.elapsed() >= Duration::from_millis(600), "{:?}", start.elapsed());
    assert_eq!(server.messages("tools/call").len(), 1);
}

#[tokio::test]
async fn a_broken_modern_stream_is_lost_with_its_request() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| events(vec![(0, "id: one\ndata:\n\n".to_owned())]))
    })
    .await;
    let connection = server.connect().await.unwrap();
    let error = call(&connection, "x", json!({}), patient()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Network { .. }), "{error:?}");
    assert!(error.to_string().ends_with("the stream ended before the answer"), "{error}");
}

#[tokio::test]
async fn a_modern_request_is_cancelled_by_closing_its_stream() {
    let closed = Arc::new(AtomicBool::new(false));
    let flag = closed.clone();
    let server =
        Scripted::start(move |asked| asked.modern_start().unwrap_or_else(|| endless(&flag))).await;
    let connection = server.connect().await.unwrap();
    let error =
        call(&connection, "x", json!({}), within(Duration::from_millis(200))).await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error:?}");
    eventually(|| closed.load(Ordering::SeqCst)).await;
    assert!(server.messages("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn a_legacy_request_is_cancelled_by_saying_so() {
    let server = Scripted::start(|asked| {
        if let Some(response) = asked.legacy_start("s") {
            return response;
        }
        match asked.method() {
            "tools/call" => events(vec![(10_000, String::new())]),
            "notifications/cancelled" => status(StatusCode::ACCEPTED),
            _ => status(StatusCode::METHOD_NOT_ALLOWED),
        }
    })
    .await;
    let connection = server.connect().await.unwrap();
    let timeout = within(Duration::from_millis(200));
    call(&connection, "x", json!({}), timeout).await.unwrap_err();
    eventually(|| !server.messages("notifications/cancelled").is_empty()).await;
    let request = server.messages("tools/call").pop().unwrap();
    let cancelled = server.messages("notifications/cancelled").pop().unwrap();
    assert_eq!(cancelled.body["params"]["requestId"], request.body["id"]);
    assert_eq!(cancelled.header("mcp-session-id"), Some("s"));
}

#[tokio::test]
async fn progress_puts_off_the_deadline_but_not_for_ever() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| {
            let token = &asked.body["params"]["_meta"]["progressToken"];
            let mut pieces: Vec<_> =
                (0..6).map(|number| (200, event(&progress(token, number)).1)).collect();
            pieces.push(event(&asked.answered(&done())));
            events(pieces)
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    let options = RequestOptions { reset_on_progress: true, ..within(Duration::from_millis(700)) };
    assert_eq!(call(&connection, "x", json!({}), options.clone()).await.unwrap(), "done");
    let bounded = RequestOptions { max_total: Some(Duration::from_millis(900)), ..options };
    let error = call(&connection, "x", json!({}), bounded).await.unwrap_err();
    assert_eq!(error.to_string(), "`tools/call` was not answered within 900 ms");
}

#[tokio::test]
async fn a_question_on_the_stream_of_a_call_belongs_to_it() {
    let server = Scripted::start(|asked| {
        if let Some(response) = asked.legacy_start("s") {
            return response;
        }
        if asked.http == Method::GET {
            return status(StatusCode::METHOD_NOT_ALLOWED);
        }
        match asked.method() {
            "tools/call" => {
                let question = json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}});
                let (_, answer) = event(&asked.answered(&done()));
                events(vec![event(&question), (500, answer)])
            }
            _ => status(StatusCode::ACCEPTED),
        }
    })
    .await;
    let connection = server.connect().await.unwrap();
    // Two calls at once: only their streams tell them apart.
    let calls = [1, 2].map(|number| {
        let connection = connection.clone();
        async move {
            let (sender, mut receiver) = mpsc::channel(4);
            let options = RequestOptions { events: Some(sender), ..patient() };
            let answering = async {
                let Some(CallEvent::ServerRequest { reply, .. }) = receiver.recv().await else {
                    panic!("no question");
                };
                reply.send(Ok(raw(&json!({ "number": number })))).unwrap();
            };
            let (answer, ()) = tokio::join!(call(&connection, "x", json!({}), options), answering);
            answer.unwrap();
        }
    });
    futures_util::future::join_all(calls).await;
    eventually(|| {
        let answers: Vec<Value> =
            server.asked().iter().map(|one| one.body["result"]["number"].clone()).collect();
        answers.contains(&json!(1)) && answers.contains(&json!(2))
    })
    .await;
}

#[tokio::test]
async fn a_dropped_connection_closes_its_stream() {
    let closed = Arc::new(AtomicBool::new(false));
    let flag = closed.clone();
    let server =
        Scripted::start(move |asked| asked.legacy_start("s").unwrap_or_else(|| endless(&flag)))
            .await;
    let connection = server.connect().await.unwrap();
    eventually(|| server.asked().iter().any(|one| one.http == Method::GET)).await;
    assert!(!closed.load(Ordering::SeqCst));
    drop(connection);
    eventually(|| closed.load(Ordering::SeqCst)).await;
}

#[tokio::test]
async fn the_stream_of_a_legacy_connection_brings_changes_and_is_opened_again() {
    let server = Scripted::start(|asked| {
        if let Some(response) = asked.legacy_start("s") {
            return response;
        }
        let list = if asked.header("last-event-id").is_some() { "prompts" } else { "tools" };
        let changed =
            json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")});
        events(vec![(0, format!("id: 1\nretry: 10\ndata: {changed}\n\n"))])
    })
    .await;
    let recorder = Arc::new(Recorder::default());
    let _connection =
        server.connect_with(server.config(), options(), recorder.clone()).await.unwrap();
    recorder.wait_for("ListChanged(Tools)").await;
    recorder.wait_for("ListChanged(Prompts)").await;
}
