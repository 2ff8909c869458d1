//! How long a message may be.

use mcpgraph_mcp::client::{ClientError, CloseReason, limits};
use serde_json::json;

use crate::support::{call, connect, misbehaving, patient};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_just_below_the_limit_is_read() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let count = limits::MESSAGE_BYTES - 1024;
    let text = call(&connection, "huge", json!({ "count": count }), patient()).await.unwrap();
    assert_eq!(text.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_above_the_limit_fails_the_connection_and_says_so() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect(config).await.unwrap();
    let count = limits::MESSAGE_BYTES * 4;
    let error = call(&connection, "huge", json!({ "count": count }), patient()).await.unwrap_err();
    let text = "a message of the server is longer than the limit of 16777216 bytes";
    assert_eq!(error.to_string(), text);
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    let reason = connection.closed().await;
    assert!(matches!(&*reason, CloseReason::TooLarge { limit: limits::MESSAGE_BYTES }));
}
