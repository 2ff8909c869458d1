//! How long a message may be.

use std::sync::Arc;

use mcpgraph_mcp::client::{ClientError, ClientOptions, NoEvents};
use serde_json::json;

use crate::support::{call, connect_with, misbehaving, options, patient};

const LIMIT: usize = 50_000;

fn limited() -> ClientOptions {
    ClientOptions { max_message_bytes: LIMIT, ..options() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_just_below_the_limit_is_read() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect_with(config, limited(), Arc::new(NoEvents)).await.unwrap();
    let count = LIMIT - 1024;
    let text = call(&connection, "huge", json!({ "count": count }), patient()).await.unwrap();
    assert_eq!(text.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_above_the_limit_fails_only_the_request_it_answers() {
    let Some(config) = misbehaving(&[]) else { return };
    let connection = connect_with(config, limited(), Arc::new(NoEvents)).await.unwrap();
    let other = {
        let connection = connection.clone();
        tokio::spawn(
            async move { call(&connection, "sleep", json!({ "ms": 500 }), patient()).await },
        )
    };
    for count in [60_000, 5_000_000] {
        let huge = call(&connection, "huge", json!({ "count": count }), patient()).await;
        let error = huge.unwrap_err();
        let text = "a message of the server is longer than the limit of 50000 bytes";
        assert_eq!(error.to_string(), text);
        assert!(matches!(error, ClientError::TooLarge { limit: LIMIT }), "{error:?}");
    }
    other.await.unwrap().unwrap();
    assert!(!connection.is_closed());
    let small = call(&connection, "huge", json!({ "count": 10 }), patient()).await;
    assert_eq!(small.unwrap().len(), 10);
}
