//! How processes start and end.

use std::time::{Duration, Instant};

use mcpgraph_mcp::client::{ClientError, ClientOptions, CloseReason, EraChoice, StdioConfig};
use serde_json::json;

use crate::support::{
    Log, call, connect, connect_with, eventually, is_running, misbehaving, options, patient,
};

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let config = StdioConfig { command: "no-such-program".to_owned(), ..StdioConfig::default() };
    let error = connect(config).await.err().unwrap();
    let text = error.to_string();
    assert_eq!(text, "could not start `no-such-program`: there is no such program in PATH");
}

#[tokio::test]
async fn a_working_directory_that_does_not_exist_is_named() {
    let Some(config) = misbehaving(&[]) else { return };
    let config = StdioConfig { cwd: Some("/no/such/folder".into()), ..config };
    let text = connect(config).await.err().unwrap().to_string();
    assert!(text.ends_with("its working directory `/no/such/folder` does not exist"), "{text}");
}

#[tokio::test]
async fn a_server_that_ends_at_once_says_why_without_its_secrets() {
    let Some(mut config) = misbehaving(&["--broken", "9"]) else { return };
    config.env.insert("SECRET".to_owned(), "hunter2hunter2".to_owned());
    let error = connect(config).await.err().unwrap();
    assert!(error.to_string().contains("exit status: 9"), "{error}");
    assert_eq!(error.stderr(), Some("broken from the start; the key is [hidden]\n"));
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_server_that_ends_during_the_handshake_says_why() {
    let Some(config) = misbehaving(&["--on-initialize", "exit"]) else { return };
    let error = connect(config).await.err().unwrap();
    assert!(error.to_string().contains("exit status: 3"), "{error}");
    assert_eq!(error.stderr(), Some("unexpected request\n"));
}

#[tokio::test]
async fn death_fails_everyone_who_waits_at_once() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { call(&connection, "hang", json!({}), patient()).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    let error = call(&connection, "die", json!({"code": 7}), patient()).await.unwrap_err();
    assert!(error.to_string().contains("exit status: 7"), "{error}");
    assert_eq!(error.stderr(), Some("out of cheese\n"));
    for waiter in waiting {
        let error = waiter.await.unwrap().unwrap_err();
        assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(connection.is_closed());
    let reason = connection.closed().await;
    assert!(matches!(&*reason, CloseReason::Exited { .. }), "{reason:?}");
    let error = call(&connection, "echo", json!({}), patient()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
}

#[tokio::test]
async fn half_a_message_is_a_death_too() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let error = call(&connection, "half", json!({}), patient()).await.unwrap_err();
    assert!(error.to_string().contains("exit status: 0"), "{error}");
}

#[tokio::test]
async fn closing_ends_a_well_behaved_process_at_once() {
    let log = Log::new();
    let Some(config) = misbehaving(&["--starts", &log.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    let id = log.last();
    assert!(is_running(&id));
    let start = Instant::now();
    connection.close().await;
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(!is_running(&id));
    assert!(matches!(&*connection.closed().await, CloseReason::Closed));
}

#[tokio::test]
async fn closing_ends_a_stubborn_process_and_its_children() {
    let (log, children) = (Log::new(), Log::new());
    let arguments =
        ["--stubborn", "--starts", &log.argument(), "--grandchild", &children.argument()];
    let Some(config) = misbehaving(&arguments) else { return };
    let connection = connect(config).await.unwrap();
    let ids = [log.last(), children.last()];
    assert!(ids.iter().all(|id| is_running(id)));
    let start = Instant::now();
    connection.close().await;
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    eventually(|| !ids.iter().any(|id| is_running(id))).await;
}

#[tokio::test]
async fn a_dropped_connection_ends_its_process_and_its_children() {
    for era in ["legacy", "modern"] {
        let log = Log::new();
        let file = log.argument();
        let arguments = ["--era", era, "--starts", &file, "--grandchild", &file];
        let Some(config) = misbehaving(&arguments) else { return };
        let connection = connect(config).await.unwrap();
        let ids = log.lines();
        assert_eq!(ids.len(), 2);
        drop(connection);
        eventually(|| !ids.iter().any(|id| is_running(id))).await;
    }
}

#[test]
fn the_end_of_the_runtime_ends_processes_too() {
    let log = Log::new();
    let arguments = ["--stubborn", "--starts", &log.argument()];
    let Some(config) = misbehaving(&arguments) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let connection = runtime.block_on(connect(config)).unwrap();
    runtime.shutdown_background();
    drop(connection);
    let id = log.last();
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_running(&id) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn the_death_of_a_parent_takes_the_children_it_left() {
    let children = Log::new();
    let Some(config) = misbehaving(&["--grandchild", &children.argument()]) else { return };
    let connection = connect(config).await.unwrap();
    call(&connection, "die", json!({}), patient()).await.unwrap_err();
    let id = children.last();
    eventually(|| !is_running(&id)).await;
}

#[tokio::test]
async fn a_start_that_takes_too_long_is_ended() {
    let log = Log::new();
    let arguments = ["--on-initialize", "hang", "--starts", &log.argument()];
    let Some(config) = misbehaving(&arguments) else { return };
    let options = ClientOptions {
        era: EraChoice::Legacy,
        start_timeout: Duration::from_millis(500),
        ..options()
    };
    let error = connect_with(config, options, std::sync::Arc::new(mcpgraph_mcp::client::NoEvents))
        .await
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "the server was not ready within 500 ms");
    let id = log.last();
    eventually(|| !is_running(&id)).await;
}

#[tokio::test]
async fn a_process_sees_only_what_it_needs_of_our_environment() {
    let Some(mut config) = misbehaving(&[]) else { return };
    config.env.insert("GIVEN".to_owned(), "1".to_owned());
    let connection = connect(config).await.unwrap();
    let text = call(&connection, "environment", json!({}), patient()).await.unwrap();
    let names: Vec<String> = serde_json::from_str(&text).unwrap();
    assert!(names.contains(&"GIVEN".to_owned()) && names.contains(&"PATH".to_owned()), "{names:?}");
    // Cargo sets this for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!names.contains(&"CARGO_MANIFEST_DIR".to_owned()), "{names:?}");
}
