//! Whatever bytes come in, the server goes on.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::service::Fixture;
use super::wire::{Pipe, initialize};

/// Parts of messages that are nearly right.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let tokens = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\n",
        "\r\n",
        "null",
        "1e999",
        "-0",
        "\"\\ud800\"",
        "\"id\"",
        "\"jsonrpc\":\"2.0\"",
        "\"method\":",
        "\"params\":{",
        "\"_meta\":{",
        "\"result\":{}",
        "\"error\":{\"code\":1,\"message\":\"\"}",
        "\"ping\"",
        "\"tools/call\"",
        "\"initialize\"",
        "\"notifications/cancelled\"",
        "\"requestId\":1",
        "\"subscriptions/listen\"",
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
        "\"io.modelcontextprotocol/clientCapabilities\":{}",
    ]);
    prop_oneof![
        3 => tokens.prop_map(|token| token.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

/// A request with anything where it can be.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/_-]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z_]{0,10}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    let method = prop::sample::select(vec![
        "ping",
        "tools/list",
        "tools/call",
        "initialize",
        "server/discover",
        "logging/setLevel",
        "subscriptions/listen",
        "resources/subscribe",
        "notifications/cancelled",
        "x",
    ]);
    (value.clone(), method, value.clone(), value, any::<bool>()).prop_map(
        |(id, method, params, meta, is_modern)| {
            let mut message =
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            if let Some(params) = message["params"].as_object_mut() {
                // A listening client would not be answered.
                params.remove("notifications");
                let name = params.remove("name").unwrap_or_else(|| "echo".into());
                params.insert("name".to_owned(), name);
                params.insert("_meta".to_owned(), meta);
                if is_modern {
                    params.insert("_meta".to_owned(), super::wire::modern_meta());
                }
            }
            format!("{message}\n").into_bytes()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(
        parts in prop::collection::vec(prop_oneof![fragment(), request()], 0..60),
        is_initialized in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let fixture = Fixture::new();
            let mut pipe = Pipe::new(&fixture.server);
            if is_initialized {
                pipe.ask(&initialize("2025-03-26", json!({}))).await;
            }
            let mut input = pipe.input.take().unwrap();
            let writing = tokio::spawn(async move {
                for part in parts {
                    tokio::io::AsyncWriteExt::write_all(&mut input, &part).await.unwrap();
                }
                let last = super::wire::modern_request("the last", "tools/list", json!({}));
                let last = format!("\n{last}\n");
                tokio::io::AsyncWriteExt::write_all(&mut input, last.as_bytes()).await.unwrap();
                input
            });
            loop {
                let answer = pipe.next().await;
                assert_eq!(answer["jsonrpc"], "2.0");
                if answer["id"] == "the last" {
                    break;
                }
            }
            drop(writing.await.unwrap());
            drop(pipe.output);
            pipe.serving.await.unwrap().ok();
        });
    }
}
