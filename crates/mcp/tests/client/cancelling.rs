//! Deadlines and cancellation over stdio.

use std::time::{Duration, Instant};

use mcpgraph_mcp::client::{ClientError, RequestOptions};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{Log, call, connect, eventually, misbehaving, patient, within};

#[tokio::test]
async fn a_request_that_is_not_answered_ends_at_its_deadline() {
    let log = Log::new();
    let Some(config) = misbehaving(&["--record", &log.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    let start = Instant::now();
    let error =
        call(&connection, "hang", json!({}), within(Duration::from_millis(300))).await.unwrap_err();
    assert_eq!(error.to_string(), "`tools/call` was not answered within 300 ms");
    assert!(start.elapsed() < Duration::from_secs(2));
    eventually(|| log.messages("notifications/cancelled").len() == 1).await;
    let request = log.messages("tools/call").pop().unwrap();
    let cancelled = log.messages("notifications/cancelled").pop().unwrap();
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    assert_eq!(call(&connection, "echo", json!({}), patient()).await.unwrap(), "{}");
}

#[tokio::test]
async fn cancelling_reaches_the_server_and_its_late_answer_is_ignored() {
    let log = Log::new();
    let Some(config) = misbehaving(&["--record", &log.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    let cancel = CancellationToken::new();
    let options = RequestOptions { cancel: cancel.clone(), ..patient() };
    let other = connection.clone();
    let waiting = tokio::spawn(async move { call(&other, "late", json!({}), options).await });
    eventually(|| !log.messages("tools/call").is_empty()).await;
    cancel.cancel();
    assert!(matches!(waiting.await.unwrap(), Err(ClientError::Cancelled)));
    eventually(|| log.messages("notifications/cancelled").len() == 1).await;
    assert_eq!(call(&connection, "echo", json!({}), patient()).await.unwrap(), "{}");
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let log = Log::new();
    let Some(config) = misbehaving(&["--record", &log.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    let other = connection.clone();
    let waiting = tokio::spawn(async move { call(&other, "hang", json!({}), patient()).await });
    eventually(|| !log.messages("tools/call").is_empty()).await;
    waiting.abort();
    eventually(|| log.messages("notifications/cancelled").len() == 1).await;
}

#[tokio::test]
async fn an_answered_request_is_not_cancelled() {
    let log = Log::new();
    let Some(config) = misbehaving(&["--record", &log.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    call(&connection, "echo", json!({}), patient()).await.unwrap();
    call(&connection, "refuse", json!({}), patient()).await.unwrap_err();
    call(&connection, "echo", json!({}), patient()).await.unwrap();
    assert!(log.messages("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn a_deadline_of_a_million_years_is_one() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    assert_eq!(call(&connection, "echo", json!({}), within(Duration::MAX)).await.unwrap(), "{}");
}

#[tokio::test]
async fn an_error_keeps_its_code_and_data() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let error = call(&connection, "refuse", json!({}), patient()).await.unwrap_err();
    let ClientError::Rpc(error) = error else { panic!("{error:?}") };
    assert_eq!((error.code, error.message.as_str()), (-32099, "not today"));
    assert_eq!(error.data.unwrap().get(), r#"{"why":[1,2]}"#);
}

#[tokio::test]
async fn a_process_that_does_not_read_holds_up_no_deadline() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    // While it sleeps, a megabyte waits in front of a pipe of 64 KiB, and then the queue is full.
    let other = connection.clone();
    tokio::spawn(async move { call(&other, "sleep", json!({"ms": 3000}), patient()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    let calls: Vec<_> = (0..400)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move {
                let argument = json!({ "text": "x".repeat(10_000) });
                call(&connection, "echo", argument, within(Duration::from_millis(500))).await
            })
        })
        .collect();
    for waiting in calls {
        assert!(matches!(waiting.await.unwrap(), Err(ClientError::Timeout { .. })));
    }
    assert!(start.elapsed() < Duration::from_millis(2500), "{:?}", start.elapsed());
    assert_eq!(call(&connection, "echo", json!({}), patient()).await.unwrap(), "{}");
}
