//! Calls and their errors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_testkit::observe::{Log, eventually};
use mcpgraph_upstream::{CallContext, CallEvent, ServerSpec, UpstreamError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{call, call_with, misbehaving, upstreams, within};

#[tokio::test]
async fn outputs_follow_the_rule() {
    let Some(spec) = misbehaving(&[]) else { return };
    let upstreams = upstreams([("s", spec)]);
    let echoed = call(&upstreams, "s", "echo", r#"{"z":1.0,"a":[12345678901234567890123]}"#).await;
    assert_eq!(echoed.unwrap(), r#"{"z":1.0,"a":[12345678901234567890123]}"#);
    assert_eq!(call(&upstreams, "s", "sleep", r#"{"ms":1}"#).await.unwrap(), "\"slept\"");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn errors_say_what_where_and_what_to_do() {
    let Some(spec) = misbehaving(&[]) else { return };
    let upstreams = upstreams([("files", spec)]);

    let error = call(&upstreams, "files", "fail", "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "tool `fail` of server `files` failed: the disk is full");
    let UpstreamError::Tool { result, .. } = error else { panic!("{error:?}") };
    assert!(result.get("isError").is_some());

    let error = call(&upstreams, "files", "refuse", "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "server `files` refused `refuse`: not today (-32099)");
    let UpstreamError::Protocol { error, .. } = error else { panic!("{error:?}") };
    assert_eq!(error.data.unwrap().get(), r#"{"why":[1,2]}"#);

    let error = call(&upstreams, "files", "lie", "{}").await.unwrap_err();
    assert!(matches!(error, UpstreamError::Broken { .. }), "{error:?}");

    let error = call(&upstreams, "flies", "x", "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no server `flies`");
    assert_eq!(error.hint(), "did you mean `files`?");

    let error = call(&upstreams, "files", "die", "{}").await.unwrap_err();
    let text = "server `files` is not available: the process ended (exit status: 7); \
                its stderr ends with:\n  out of cheese";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_call_ends_at_its_deadline_or_the_servers() {
    let Some(spec) = misbehaving(&[]) else { return };
    let spec = ServerSpec { timeout: Duration::from_millis(700), ..spec };
    let upstreams = upstreams([("s", spec)]);
    call(&upstreams, "s", "echo", "{}").await.unwrap();
    for (context, ms) in [(CallContext::default(), 700), (within(Duration::from_millis(200)), 200)]
    {
        let start = Instant::now();
        let error = call_with(&upstreams, "s", "hang", "{}", context).await.unwrap_err();
        assert_eq!(error.to_string(), format!("server `s` did not answer `hang` within {ms} ms"));
        assert!(start.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn cancelling_reaches_the_server() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--record", &log.argument()]) else { return };
    let upstreams = upstreams([("s", spec)]);
    let cancel = CancellationToken::new();
    let context = CallContext { cancel: cancel.clone(), ..CallContext::default() };
    let calling = call_with(&upstreams, "s", "hang", "{}", context);
    let cancelling = async {
        eventually(|| !log.messages("tools/call").is_empty()).await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(calling, cancelling);
    assert!(matches!(answer, Err(UpstreamError::Cancelled { .. })), "{answer:?}");
    eventually(|| !log.messages("notifications/cancelled").is_empty()).await;
}

#[tokio::test]
async fn events_are_there_before_the_result_and_the_channel_is_closed() {
    let Some(spec) = misbehaving(&[]) else { return };
    let upstreams = upstreams([("s", spec)]);
    let (sender, mut receiver) = mpsc::channel(64);
    let context = CallContext { events: Some(sender), progress: true, ..CallContext::default() };
    call_with(&upstreams, "s", "burst", r#"{"count":50}"#, context).await.unwrap();
    let mut count = 0;
    while let Some(event) = receiver.recv().await {
        assert!(matches!(event, CallEvent::Progress(_)), "{event:?}");
        count += 1;
    }
    assert_eq!(count, 50);
}

#[tokio::test]
async fn more_calls_than_allowed_wait_for_their_turn_or_their_deadline() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--record", &log.argument()]) else { return };
    let spec = ServerSpec { max_concurrent: 2, ..spec };
    let upstreams = Arc::new(upstreams([("s", spec)]));
    let hanging: Vec<_> = (0..2)
        .map(|_| {
            let upstreams = upstreams.clone();
            let context = within(Duration::from_secs(2));
            tokio::spawn(async move { call_with(&upstreams, "s", "hang", "{}", context).await })
        })
        .collect();
    eventually(|| log.messages("tools/call").len() == 2).await;
    let context = within(Duration::from_millis(300));
    let waits = call_with(&upstreams, "s", "echo", "{}", context);
    let waiting = |calls: usize| vec![(Arc::<str>::from("s"), calls)];
    let seen = eventually(|| upstreams.waiting() == waiting(1));
    let (answer, ()) = tokio::join!(waits, seen);
    assert_eq!(upstreams.waiting(), waiting(0));
    let error = answer.unwrap_err();
    assert_eq!(error.to_string(), "server `s` did not answer `echo` within 300 ms");
    assert_eq!(log.messages("tools/call").len(), 2);
    // With more patience the turn comes.
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
    for call in hanging {
        assert!(call.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_and_no_other() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--starts", &log.argument()]) else { return };
    let upstreams = Arc::new(upstreams([("s", ServerSpec { max_message_bytes: 50_000, ..spec })]));
    let other = {
        let upstreams = upstreams.clone();
        tokio::spawn(async move { call(&upstreams, "s", "sleep", r#"{"ms":300}"#).await })
    };
    let error = call(&upstreams, "s", "huge", r#"{"count":90000}"#).await.unwrap_err();
    let text = "the answer of server `s` to `huge` is longer than its maxMessageBytes (50000)";
    assert_eq!(error.to_string(), text);
    assert_eq!(error.hint(), "ask for less at once, or raise `mcpServers.s.maxMessageBytes`");
    assert_eq!(other.await.unwrap().unwrap(), "\"slept\"");
    assert_eq!(log.lines().len(), 1);
}
