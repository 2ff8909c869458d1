//! What a server says besides answers: order, owners, overflow.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_mcp::client::{CallEvent, RequestOptions};
use mcpgraph_mcp::message::{Raw, raw};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{
    PATIENCE, Recorder, call, connect, connect_with, misbehaving, options, patient, text_of,
};

fn with_events(capacity: usize) -> (RequestOptions, mpsc::Receiver<CallEvent>) {
    let (sender, receiver) = mpsc::channel(capacity);
    let options = RequestOptions {
        timeout: PATIENCE,
        events: Some(sender),
        progress: true,
        ..RequestOptions::default()
    };
    (options, receiver)
}

fn number(params: &Raw, key: &str) -> u64 {
    serde_json::from_str::<Value>(params.get()).unwrap()[key].as_u64().unwrap()
}

/// Everything that is in the channel by now.
fn drain(receiver: &mut mpsc::Receiver<CallEvent>) -> Vec<CallEvent> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_in_order_and_before_the_answer() {
    const COUNT: u64 = 50;
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    for _ in 0..200 {
        let (options, mut receiver) = with_events(64);
        call(&connection, "burst", json!({ "count": COUNT }), options).await.unwrap();
        // The answer is there: so are all events, and the channel is closed.
        let seen: Vec<u64> = drain(&mut receiver)
            .iter()
            .map(|event| match event {
                CallEvent::Progress(params) => number(params, "progress"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(seen, (0..COUNT).collect::<Vec<_>>());
        assert!(receiver.recv().await.is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_get_their_own_progress() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let calls: Vec<_> = (1..=30)
        .map(|count| {
            let connection = connection.clone();
            tokio::spawn(async move {
                let (options, mut receiver) = with_events(64);
                call(&connection, "burst", json!({ "count": count }), options).await.unwrap();
                let events = drain(&mut receiver);
                assert_eq!(events.len(), count);
                for event in events {
                    let CallEvent::Progress(params) = event else { panic!("{event:?}") };
                    assert_eq!(number(&params, "total"), count as u64);
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test]
async fn a_caller_that_takes_no_events_holds_up_nobody() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let (options, receiver) = with_events(4);
    let text = call(&connection, "burst", json!({"count": 1000}), options).await.unwrap();
    assert_eq!(text, "done");
    drop(receiver);
    assert_eq!(call(&connection, "echo", json!({}), patient()).await.unwrap(), "{}");
}

#[tokio::test]
async fn logs_and_questions_belong_to_the_only_call_under_way() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let (options, mut receiver) = with_events(64);
    call(&connection, "log", json!({"count": 3}), options).await.unwrap();
    let logs = drain(&mut receiver);
    assert_eq!(logs.len(), 3);
    assert!(logs.iter().all(|event| matches!(event, CallEvent::Log(_))));

    let (options, mut receiver) = with_events(64);
    let asking = call(&connection, "ask", json!({}), options);
    let answering = async {
        let Some(CallEvent::ServerRequest { method, params, reply }) = receiver.recv().await else {
            panic!("no question");
        };
        assert_eq!(method, "elicitation/create");
        assert_eq!(params.unwrap().get(), r#"{"message":"?"}"#);
        reply.send(Ok(raw(&json!({"action": "accept"})))).unwrap();
    };
    let (answer, ()) = tokio::join!(asking, answering);
    assert_eq!(answer.unwrap(), r#"[{"action":"accept"},null]"#);
}

#[tokio::test]
async fn a_question_that_is_not_answered_is_refused() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let (options, mut receiver) = with_events(64);
    let asking = call(&connection, "ask", json!({}), options);
    let ignoring = async { drop(receiver.recv().await) };
    let (answer, ()) = tokio::join!(asking, ignoring);
    assert_eq!(answer.unwrap(), "[null,-32603]");
}

#[tokio::test]
async fn what_belongs_to_no_call_goes_to_the_connection() {
    let Some(config) = misbehaving(&[]) else { return };
    let events = Arc::new(Recorder::default());
    let connection = connect_with(config, options(), events.clone()).await.unwrap();
    // A call without a channel of its own leaves everything to the connection.
    let answer = call(&connection, "ask", json!({}), patient()).await.unwrap();
    assert_eq!(answer, r#"[{"answered":"elicitation/create"},null]"#);
    call(&connection, "log", json!({}), patient()).await.unwrap();
    events.wait_for("Log").await;
    call(&connection, "change", json!({}), patient()).await.unwrap();
    events.wait_for("ListChanged(Tools)").await;
    // A ping is answered without anybody.
    let answer = call(&connection, "ask", json!({"method": "ping"}), patient()).await.unwrap();
    assert_eq!(answer, "[{},null]");
}

#[tokio::test]
async fn two_calls_at_once_leave_the_owner_unknown() {
    let Some(config) = misbehaving(&[]) else { return };
    let events = Arc::new(Recorder::default());
    let connection = connect_with(config, options(), events.clone()).await.unwrap();
    let other = connection.clone();
    let hanging = tokio::spawn(async move { call(&other, "hang", json!({}), patient()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (options, mut receiver) = with_events(64);
    call(&connection, "log", json!({}), options).await.unwrap();
    assert!(drain(&mut receiver).is_empty());
    events.wait_for("Log").await;
    hanging.abort();
}

#[tokio::test]
async fn floods_lies_and_noise_do_no_harm() {
    let Some(config) = misbehaving(&["--noise"]) else { return };
    let connection = connect(config).await.unwrap();
    for (tool, expected) in [
        ("flood", "flooded"),
        ("wrong_id", "for you"),
        ("string_id", "as a string"),
        ("twice", "one"),
        ("garbled", "after all"),
        ("echo", r#"{"count":5000}"#),
    ] {
        let text = call(&connection, tool, json!({"count": 5000}), patient()).await.unwrap();
        assert_eq!(text, expected, "{tool}");
    }
    assert!(connection.noise() >= 12, "{}", connection.noise());
}

#[tokio::test]
async fn payloads_pass_through_as_they_are() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let text =
        r#"{"name":"echo","arguments":{"z":1.0,"a":123456789012345678901234567890,"é":"\u00e9"}}"#;
    let params = serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    let result = connection.request("tools/call", Some(params), patient()).await.unwrap();
    assert_eq!(text_of(&result), r#"{"z":1.0,"a":123456789012345678901234567890,"é":"é"}"#);
    let lie = raw(&json!({"name": "lie"}));
    let result = connection.request("tools/call", Some(lie), patient()).await.unwrap();
    assert_eq!(result.get(), "[1,2,3]");
}
