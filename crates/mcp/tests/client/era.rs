//! Which era a process is spoken to in.

use std::time::Duration;

use mcpgraph_mcp::client::{ClientError, ClientOptions, Connection, EraChoice, NoEvents};
use mcpgraph_mcp::version::{Era, Version};
use serde_json::{Value, json};

use crate::support::{Log, call, connect_with, misbehaving, options, patient};

async fn connect(arguments: &[&str], era: EraChoice) -> Option<Result<Connection, ClientError>> {
    let config = misbehaving(arguments)?;
    let options = ClientOptions { era, probe_timeout: Duration::from_millis(700), ..options() };
    Some(connect_with(config, options, std::sync::Arc::new(NoEvents)).await)
}

/// Connects with `Auto`, and checks the era and that a call works. False if there is no server to
/// connect to.
async fn check(arguments: &[&str], era: Era) -> bool {
    let Some(connection) = connect(arguments, EraChoice::Auto).await else { return false };
    let connection = connection.unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    assert_eq!(connection.era(), era, "{arguments:?}");
    let text = call(&connection, "echo", json!({"a": 1.0}), patient()).await.unwrap();
    assert_eq!(text, r#"{"a":1.0}"#);
    true
}

#[tokio::test]
async fn the_newest_era_in_common_is_found() {
    check(&["--era", "legacy"], Era::Legacy).await;
    check(&["--era", "modern"], Era::Modern).await;
    check(&["--era", "both"], Era::Modern).await;
}

#[tokio::test]
async fn a_server_that_ends_on_the_probe_is_started_again() {
    let log = Log::new();
    if check(&["--on-discover", "exit", "--starts", &log.argument()], Era::Legacy).await {
        assert_eq!(log.lines().len(), 2);
    }
    check(&["--on-discover", "error-then-exit"], Era::Legacy).await;
}

#[tokio::test]
async fn silence_and_nonsense_count_as_legacy_on_the_same_process() {
    for trick in ["hang", "garbage"] {
        let log = Log::new();
        if check(&["--on-discover", trick, "--starts", &log.argument()], Era::Legacy).await {
            assert_eq!(log.lines().len(), 1, "{trick}");
        }
    }
}

#[tokio::test]
async fn a_modern_server_that_is_slow_is_not_mistaken() {
    check(&["--era", "modern", "--slow-start", "1500"], Era::Modern).await;
}

#[tokio::test]
async fn what_both_sides_agreed_on_can_be_asked() {
    let Some(legacy) = connect(&[], EraChoice::Legacy).await else { return };
    let legacy = legacy.unwrap();
    assert_eq!(legacy.version(), Version::V2025_11_25);
    assert_eq!(legacy.instructions(), Some("Expect the worst."));
    assert_eq!(
        legacy.capabilities().get(),
        r#"{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#
    );
    assert_eq!(legacy.server_info().unwrap().get(), r#"{"name":"misbehaving","version":"1"}"#);
    let modern = connect(&["--era", "modern"], EraChoice::Modern).await.unwrap().unwrap();
    assert_eq!(modern.version(), Version::V2026_07_28);
    assert_eq!(modern.server_info().unwrap().get(), r#"{"name":"misbehaving","version":"1"}"#);
    assert_eq!(modern.instructions(), None);
}

#[tokio::test]
async fn versions_without_one_in_common_are_refused() {
    for arguments in [["--on-discover", "future"], ["--on-initialize", "future"]] {
        let Some(connection) = connect(&arguments, EraChoice::Auto).await else { return };
        let text = connection.err().unwrap().to_string();
        assert_eq!(text, "no protocol version in common; the server speaks 2099-01-01");
    }
    let connection = connect(&[], EraChoice::Modern).await.unwrap();
    assert!(matches!(connection, Err(ClientError::Incompatible { .. })));
}

#[tokio::test]
async fn an_initialize_that_is_answered_with_nonsense_is_refused() {
    let arguments = ["--on-initialize", "garbage"];
    let Some(connection) = connect(&arguments, EraChoice::Auto).await else { return };
    assert!(matches!(connection, Err(ClientError::Protocol(_))));
}

#[tokio::test]
async fn modern_requests_carry_what_they_need_and_legacy_ones_do_not() {
    let log = Log::new();
    for (era, keys) in [("modern", 3), ("legacy", 0)] {
        let arguments = ["--era", era, "--record", &log.argument()];
        let Some(connection) = connect(&arguments, EraChoice::Auto).await else { return };
        call(&connection.unwrap(), "echo", json!({}), patient()).await.unwrap();
        let request = log.messages("tools/call").pop().unwrap();
        let meta = &request["params"]["_meta"];
        assert_eq!(meta.as_object().map_or(0, serde_json::Map::len), keys, "{request}");
    }
    let modern = &log.messages("tools/call")[0]["params"]["_meta"];
    assert_eq!(modern["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(modern["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(modern["io.modelcontextprotocol/clientInfo"]["name"], "test");
    let listen: Vec<Value> = log.messages("subscriptions/listen");
    assert_eq!(listen.len(), 1);
    assert_eq!(listen[0]["params"]["notifications"], json!({"toolsListChanged": true}));
}
