//! Streamable HTTP: eras, sessions, headers, refusals.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::response::Response;
use http::{Method, StatusCode};
use mcpgraph_mcp::client::{ClientError, ClientOptions, HttpConfig};
use mcpgraph_mcp::message::raw;
use mcpgraph_mcp::version::Era;
use serde_json::{Value, json};

use crate::scripted::{Scripted, json_body, status};
use crate::support::{Recorder, call, options, patient};

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

#[tokio::test]
async fn a_legacy_session_is_kept_and_ended() {
    let server = Scripted::start(|asked| match asked.legacy_start("session-1") {
        Some(response) => response,
        None if asked.http == Method::GET => status(StatusCode::METHOD_NOT_ALLOWED),
        None => asked.answer(&done()),
    })
    .await;
    let connection = server.connect().await.unwrap();
    assert_eq!(connection.era(), Era::Legacy);
    assert_eq!(call(&connection, "x", json!({}), patient()).await.unwrap(), "done");
    connection.close().await;
    let asked = server.asked();
    let initialize = server.messages("initialize").pop().unwrap();
    assert_eq!(initialize.header("mcp-session-id"), None);
    assert_eq!(initialize.header("mcp-protocol-version"), None);
    let request = server.messages("tools/call").pop().unwrap();
    for one in [&request, &server.messages("notifications/initialized")[0], asked.last().unwrap()] {
        assert_eq!(one.header("mcp-session-id"), Some("session-1"), "{one:?}");
    }
    assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(request.header("mcp-method"), None);
    assert_eq!(asked.last().unwrap().http, Method::DELETE);
    assert!(asked.iter().any(|one| one.http == Method::GET));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_session_is_made_again_once_for_all() {
    let sessions = Arc::new(AtomicUsize::new(0));
    let server = Scripted::start(move |asked| {
        if asked.is("initialize") {
            sessions.fetch_add(1, Ordering::SeqCst);
        }
        let current = format!("session-{}", sessions.load(Ordering::SeqCst));
        if let Some(response) = asked.legacy_start(&current) {
            return response;
        }
        match asked.header("mcp-session-id") {
            // The first session is forgotten as soon as it is used.
            Some("session-1") | None => status(StatusCode::NOT_FOUND),
            Some(_) if asked.http == Method::GET => status(StatusCode::METHOD_NOT_ALLOWED),
            Some(_) => asked.answer(&done()),
        }
    })
    .await;
    let connection = server.connect().await.unwrap();
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { call(&connection, "x", json!({}), patient()).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "done");
    }
    assert_eq!(server.messages("initialize").len(), 2);
}

#[tokio::test]
async fn a_session_that_is_forgotten_again_and_again_is_an_error() {
    let server = Scripted::start(|asked| {
        asked.legacy_start("s").unwrap_or_else(|| status(StatusCode::NOT_FOUND))
    })
    .await;
    let connection = server.connect().await.unwrap();
    let error = call(&connection, "x", json!({}), patient()).await.unwrap_err();
    assert!(matches!(error, ClientError::Http { status: 404, .. }), "{error:?}");
    assert_eq!(server.messages("initialize").len(), 2);
}

#[tokio::test]
async fn modern_requests_say_in_headers_what_they_are() {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "size": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
        "flag": {"type": "boolean", "x-mcp-header": "Flag"},
    }});
    let server = Scripted::start(move |asked| {
        asked.modern_start().unwrap_or_else(|| match asked.method() {
            "tools/list" => {
                asked.answer(&json!({"tools": [{"name": "näme", "inputSchema": schema}]}))
            }
            _ => asked.answer(&done()),
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    assert_eq!(connection.era(), Era::Modern);
    connection.request("tools/list", None, patient()).await.unwrap();
    let arguments = json!({"region": " eu", "size": {"count": 12}});
    call(&connection, "näme", arguments, patient()).await.unwrap();
    let params = raw(&json!({"uri": "a:b"}));
    connection.request("resources/read", Some(params), patient()).await.unwrap();
    connection.close().await;

    let request = server.messages("tools/call").pop().unwrap();
    for (name, value) in [
        ("mcp-protocol-version", Some("2026-07-28")),
        ("mcp-method", Some("tools/call")),
        ("mcp-name", Some("=?base64?bsOkbWU=?=")),
        ("mcp-param-region", Some("=?base64?IGV1?=")),
        ("mcp-param-count", Some("12")),
        ("mcp-param-flag", None),
        ("mcp-session-id", None),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
    assert_eq!(server.messages("resources/read")[0].header("mcp-name"), Some("a:b"));
    assert_eq!(server.messages("server/discover")[0].header("mcp-method"), Some("server/discover"));
    assert!(server.asked().iter().all(|one| one.http == Method::POST));
}

/// The trace context of a call that says it in its `_meta`, and what the headers make of it.
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn the_trace_of_a_request_is_in_its_headers_in_both_eras() {
    for is_modern in [true, false] {
        let server = Scripted::start(move |asked| {
            let start = if is_modern { asked.modern_start() } else { asked.legacy_start("one") };
            start.unwrap_or_else(|| asked.answer(&done()))
        })
        .await;
        let connection = server.connect().await.unwrap();
        for meta in [
            json!({"traceparent": TRACEPARENT, "tracestate": "vendor=1"}),
            json!({"traceparent": format!("{TRACEPARENT}\r\nx-evil: 1"), "tracestate": "vendor=1"}),
            json!({}),
        ] {
            let params = raw(&json!({"name": "x", "arguments": {}, "_meta": meta}));
            connection.request("tools/call", Some(params), patient()).await.unwrap();
        }
        connection.close().await;
        let calls = server.messages("tools/call");
        let headers = |index: usize| {
            ["traceparent", "tracestate", "x-evil"].map(|name| calls[index].header(name))
        };
        assert_eq!(headers(0), [Some(TRACEPARENT), Some("vendor=1"), None]);
        assert_eq!(headers(1), [None; 3]);
        assert_eq!(headers(2), [None; 3]);
        assert_eq!(calls[0].body["params"]["_meta"]["traceparent"], TRACEPARENT);
    }
}

#[tokio::test]
async fn who_may_not_enter_learns_it_and_the_era_is_not_guessed() {
    for refused in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::BAD_GATEWAY] {
        let server = Scripted::start(move |_| {
            let body =
                json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "no"}});
            let mut response = json_body(refused, &body);
            response.headers_mut().insert("www-authenticate", "Bearer".parse().unwrap());
            response
        })
        .await;
        let error = server.connect().await.err().unwrap();
        let ClientError::Http { status, challenge, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*status, challenge.as_deref()), (refused.as_u16(), Some("Bearer")));
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Scripted::start(|asked| asked.answer(&done())).await;
    let target = format!("{}/elsewhere?token=x", other.origin());
    let server = Scripted::start(move |_| {
        let builder = Response::builder().status(StatusCode::TEMPORARY_REDIRECT);
        builder.header("location", target.clone()).body(Body::empty()).unwrap()
    })
    .await;
    let error = server.connect().await.err().unwrap().to_string();
    assert!(error.contains(&format!("redirects to {}, and", other.origin())), "{error}");
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn configured_headers_are_sent_and_never_shown() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| {
            let echoed = asked.header("authorization").unwrap_or_default().to_owned();
            Response::builder().status(500).body(Body::from(echoed)).unwrap()
        })
    })
    .await;
    let mut config = server.config();
    config.headers.insert("Authorization".to_owned(), "Bearer abcdefgh12345678".to_owned());
    assert!(!format!("{config:?}").contains("abcdefgh"), "{config:?}");
    assert!(!format!("{config:?}").contains("secret"), "{config:?}");
    let events = Arc::new(Recorder::default());
    let connection = server.connect_with(config, options(), events).await.unwrap();
    let error = call(&connection, "x", json!({}), patient()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{} answered HTTP 500: [hidden]", server.origin()));
    let request = server.messages("tools/call").pop().unwrap();
    assert_eq!(request.header("authorization"), Some("Bearer abcdefgh12345678"));
}

#[tokio::test]
async fn what_cannot_be_configured_is_said() {
    let config = |url: &str, header: &str, value: &str| HttpConfig {
        url: url.to_owned(),
        headers: [(header.to_owned(), value.to_owned())].into_iter().collect(),
        ..HttpConfig::default()
    };
    let server = Scripted::start(|_| status(StatusCode::OK)).await;
    for (config, expected) in [
        (config("nonsense", "a", "b"), "the URL cannot be read"),
        (config("ftp://host/x", "a", "b"), "must begin with http:// or https://, not ftp:"),
        (config("http://h/", "Mcp-Session-Id", "b"), "`Mcp-Session-Id` is set by the protocol"),
        (config("http://h/", "bad name", "b"), "has a name that HTTP does not allow"),
        (config("http://h/", "x", "secret\nvalue"), "`x` has a value that HTTP does not allow"),
    ] {
        let connected = server.connect_with(config, options(), Arc::new(Recorder::default()));
        let error = connected.await.err().unwrap().to_string();
        assert!(error.contains(expected) && !error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_secrets() {
    let server = Scripted::start(|_| status(StatusCode::OK)).await;
    let mut config = server.config();
    config.url = "http://127.0.0.1:1/mcp?key=secret-in-the-url".to_owned();
    let connected = server.connect_with(config, options(), Arc::new(Recorder::default()));
    let error = connected.await.err().unwrap();
    assert!(error.is_transport(), "{error:?}");
    assert!(error.to_string().starts_with("http://127.0.0.1:1: "), "{error}");
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn answers_that_are_too_long_are_refused() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| match asked.body["params"]["name"].as_str() {
            Some("json") => asked.answer(&json!({"x": "x".repeat(100_000)})),
            Some("noisy") => {
                let params = json!({"data": "x".repeat(100_000)});
                let noise = json!({"method": "notifications/message", "params": params});
                let answer =
                    asked.answered(&json!({"content": [{"type": "text", "text": "done"}]}));
                let text = format!("data: {noise}\n\ndata: {answer}\n\n");
                crate::scripted::events(vec![(0, text)])
            }
            _ => {
                let text = format!("data: {}\n\n", "x".repeat(100_000));
                crate::scripted::events(vec![(0, text)])
            }
        })
    })
    .await;
    let options = ClientOptions { max_message_bytes: 50_000, ..options() };
    let events = Arc::new(Recorder::default());
    let connection = server.connect_with(server.config(), options, events).await.unwrap();
    for name in ["json", "events"] {
        let error = call(&connection, name, json!({}), patient()).await.unwrap_err();
        assert!(matches!(error, ClientError::TooLarge { limit: 50_000 }), "{name}: {error:?}");
    }
    // What comes before the answer and is too long is none.
    assert_eq!(call(&connection, "noisy", json!({}), patient()).await.unwrap(), "done");
}

#[tokio::test]
async fn answers_that_are_none_are_errors() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| match asked.body["params"]["name"].as_str() {
            Some("html") => Response::builder()
                .header("content-type", "text/html")
                .body(Body::from("<html>"))
                .unwrap(),
            Some("nothing") => status(StatusCode::ACCEPTED),
            Some("other") => {
                json_body(StatusCode::OK, &json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
            }
            Some("cut") => crate::scripted::events(vec![(0, "data: {\n\n".to_owned())]),
            _ => json_body(StatusCode::OK, &json!({"not": "a message"})),
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    for (name, expected) in [
        ("html", "answered with `text/html`"),
        ("nothing", "accepted `tools/call` without answering it"),
        ("other", "its answer is not one to the request"),
        ("json", "its answer is not one to the request"),
        ("cut", "the stream ended before the answer"),
    ] {
        let error = call(&connection, name, json!({}), patient()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[tokio::test]
async fn an_error_with_a_status_keeps_its_code() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| {
            let error = json!({"code": -32601, "message": "Method not found", "data": 1});
            json_body(
                StatusCode::NOT_FOUND,
                &json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}),
            )
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    let error = connection.request("no/such", None, patient()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Rpc(e) if e.code == -32601 && e.data.is_some()));
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Scripted::start(|asked| {
        asked.modern_start().unwrap_or_else(|| {
            crate::scripted::events(vec![crate::scripted::event(&asked.answered(&done()))])
        })
    })
    .await;
    let connection = server.connect().await.unwrap();
    for _ in 0..100 {
        call(&connection, "x", json!({}), patient()).await.unwrap();
    }
    // An answer may be there a moment before its stream ends.
    assert!(server.connections() <= 20, "{}", server.connections());
}
