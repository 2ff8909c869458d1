//! Starts, deaths, restarts, and what other servers notice of them: nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_testkit::observe::{Log, eventually, is_running};
use mcpgraph_upstream::{
    Changed, HealthOptions, ServerSpec, ServerState, UpstreamError, UpstreamOptions, Upstreams,
};

use crate::support::{call, call_with, misbehaving, named, options, upstreams, within};

#[tokio::test]
async fn a_server_is_started_on_first_use_and_once() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--slow-start", "300", "--starts", &log.argument()]) else {
        return;
    };
    let upstreams = Arc::new(upstreams([("s", spec)]));
    assert_eq!(upstreams.names(), ["s"]);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(log.lines().is_empty());
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let upstreams = upstreams.clone();
            tokio::spawn(async move { call(&upstreams, "s", "echo", "{}").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "{}");
    }
    assert_eq!(log.lines().len(), 1);
}

#[tokio::test]
async fn a_caller_that_gives_up_does_not_stop_the_start() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--slow-start", "600", "--starts", &log.argument()]) else {
        return;
    };
    let upstreams = upstreams([("s", spec)]);
    let context = within(Duration::from_millis(200));
    let error = call_with(&upstreams, "s", "echo", "{}", context).await.unwrap_err();
    assert!(matches!(error, UpstreamError::Timeout { ms: 200, .. }), "{error:?}");
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
    assert_eq!(log.lines().len(), 1);
}

#[tokio::test]
async fn a_server_that_died_is_started_again_and_others_notice_nothing() {
    let log = Log::new();
    let (Some(mortal), Some(other)) =
        (misbehaving(&["--starts", &log.argument()]), misbehaving(&[]))
    else {
        return;
    };
    let upstreams = upstreams([("mortal", mortal), ("other", other)]);
    let mut changes = upstreams.changes();
    call(&upstreams, "other", "echo", "{}").await.unwrap();
    for _ in 0..3 {
        call(&upstreams, "mortal", "echo", "{}").await.unwrap();
        let error = call(&upstreams, "mortal", "die", "{}").await.unwrap_err();
        assert!(matches!(error, UpstreamError::Unavailable { .. }), "{error:?}");
        call(&upstreams, "other", "echo", "{}").await.unwrap();
    }
    assert_eq!(log.lines().len(), 3);
    let mut seen = Vec::new();
    while let Ok(change) = changes.try_recv() {
        if &*change.server == "mortal" {
            seen.push(change.what);
        }
    }
    assert_eq!(seen[0], Changed::Connected);
    assert!(matches!(&seen[1], Changed::Disconnected(why) if why.contains("exit status: 7")));
}

#[tokio::test]
async fn what_a_server_speaks_is_asked_once() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--on-discover", "exit", "--starts", &log.argument()]) else {
        return;
    };
    let upstreams = upstreams([("s", spec)]);
    for starts in [2, 3, 4] {
        call(&upstreams, "s", "echo", "{}").await.unwrap();
        assert_eq!(log.lines().len(), starts);
        call(&upstreams, "s", "die", "{}").await.unwrap_err();
    }
}

fn impatient() -> UpstreamOptions {
    let health = HealthOptions {
        first_pause: Duration::from_millis(50),
        failures_to_open: 3,
        first_rest: Duration::from_millis(500),
        ..HealthOptions::default()
    };
    UpstreamOptions { health, ..options() }
}

#[tokio::test]
async fn a_server_that_cannot_start_is_left_alone_after_a_while() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--broken", "5", "--starts", &log.argument()]) else { return };
    let spec = ServerSpec { era: mcpgraph_mcp::client::EraChoice::Legacy, ..spec };
    let upstreams = Upstreams::new(named([("s", spec)]), impatient());
    for _ in 0..3 {
        let error = call(&upstreams, "s", "echo", "{}").await.unwrap_err().to_string();
        assert!(
            error.contains("exit status: 5") && error.contains("broken from the start"),
            "{error}"
        );
    }
    assert_eq!(log.lines().len(), 3);
    let start = Instant::now();
    let error = call(&upstreams, "s", "echo", "{}").await.unwrap_err().to_string();
    assert!(error.contains("it failed 3 times in a row and is left alone"), "{error}");
    assert!(error.contains("exit status: 5"), "{error}");
    assert!(start.elapsed() < Duration::from_millis(200));
    assert_eq!(log.lines().len(), 3);
    // Later it gets another chance.
    tokio::time::sleep(Duration::from_millis(700)).await;
    call(&upstreams, "s", "echo", "{}").await.unwrap_err();
    assert_eq!(log.lines().len(), 4);
}

#[tokio::test]
async fn timeouts_count_as_failures_and_failing_tools_do_not() {
    let Some(spec) = misbehaving(&[]) else { return };
    let upstreams = Upstreams::new(named([("s", spec)]), impatient());
    for _ in 0..10 {
        let error = call(&upstreams, "s", "fail", "{}").await.unwrap_err();
        assert!(matches!(error, UpstreamError::Tool { .. }), "{error:?}");
        let error = call(&upstreams, "s", "refuse", "{}").await.unwrap_err();
        assert!(matches!(error, UpstreamError::Protocol { .. }), "{error:?}");
    }
    for _ in 0..3 {
        let context = within(Duration::from_millis(50));
        let error = call_with(&upstreams, "s", "hang", "{}", context).await.unwrap_err();
        assert!(matches!(error, UpstreamError::Timeout { .. }), "{error:?}");
    }
    let error = call(&upstreams, "s", "echo", "{}").await.unwrap_err();
    assert!(matches!(error, UpstreamError::Unavailable { .. }), "{error:?}");
    // One call tries, and its answer closes the circuit.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
}

#[tokio::test]
async fn telling_what_it_has_does_not_prove_a_server_that_dies_in_its_calls() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--starts", &log.argument()]) else { return };
    let upstreams = Upstreams::new(named([("s", spec)]), impatient());
    for _ in 0..3 {
        upstreams.list_tools("s").await.unwrap();
        call(&upstreams, "s", "die", "{}").await.unwrap_err();
    }
    eventually(|| upstreams.status()[0].state == ServerState::Resting).await;
    let error = call(&upstreams, "s", "echo", "{}").await.unwrap_err().to_string();
    assert!(error.contains("it failed 3 times in a row and is left alone"), "{error}");
    assert_eq!(log.lines().len(), 3);
    // A call that is answered ends the row.
    tokio::time::sleep(Duration::from_millis(700)).await;
    upstreams.list_tools("s").await.unwrap();
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
    call(&upstreams, "s", "die", "{}").await.unwrap_err();
    assert_eq!(call(&upstreams, "s", "echo", "{}").await.unwrap(), "{}");
}

#[tokio::test]
async fn shutdown_ends_every_process() {
    let log = Log::new();
    let arguments = ["--stubborn", "--starts", &log.argument(), "--grandchild", &log.argument()];
    let Some(spec) = misbehaving(&arguments) else { return };
    let upstreams = upstreams([("a", spec.clone()), ("b", spec)]);
    call(&upstreams, "a", "echo", "{}").await.unwrap();
    call(&upstreams, "b", "echo", "{}").await.unwrap();
    let start = Instant::now();
    upstreams.shutdown().await;
    // Both at the same time, not one after the other.
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    let ids = log.lines();
    assert_eq!(ids.len(), 4);
    eventually(|| !ids.iter().any(|id| is_running(id))).await;
    let error = call(&upstreams, "a", "echo", "{}").await.unwrap_err();
    assert!(matches!(error, UpstreamError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn dropping_them_ends_every_process_too() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--starts", &log.argument()]) else { return };
    let upstreams = upstreams([("s", spec)]);
    call(&upstreams, "s", "echo", "{}").await.unwrap();
    drop(upstreams);
    let id = log.last();
    eventually(|| !is_running(&id)).await;
}

#[tokio::test]
async fn another_configuration_keeps_what_did_not_change_and_drops_no_call() {
    let (kept, gone) = (Log::new(), Log::new());
    let (Some(keep), Some(drop_it)) = (
        misbehaving(&["--starts", &kept.argument()]),
        misbehaving(&["--starts", &gone.argument()]),
    ) else {
        return;
    };
    let upstreams = Arc::new(upstreams([("keep", keep.clone()), ("gone", drop_it)]));
    call(&upstreams, "keep", "echo", "{}").await.unwrap();
    call(&upstreams, "gone", "echo", "{}").await.unwrap();
    let other = upstreams.clone();
    let slow = tokio::spawn(async move { call(&other, "gone", "sleep", r#"{"ms":800}"#).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    upstreams.replace(named([("keep", keep)]));
    assert_eq!(upstreams.names(), ["keep"]);
    let error = call(&upstreams, "gone", "echo", "{}").await.unwrap_err();
    assert!(matches!(error, UpstreamError::UnknownServer { .. }), "{error:?}");
    assert_eq!(slow.await.unwrap().unwrap(), "\"slept\"");
    let id = gone.last();
    eventually(|| !is_running(&id)).await;
    call(&upstreams, "keep", "echo", "{}").await.unwrap();
    assert_eq!(kept.lines().len(), 1);
}
