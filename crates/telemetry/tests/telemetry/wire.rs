//! The trace context on its way to a real server: in `_meta` and in the headers.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use indexmap::IndexMap;
use mcpgraph_journal::Origin;
use mcpgraph_mcp::client::{ClientInfo, HttpConfig, TransportConfig};
use mcpgraph_runtime::{Runtime, World};
use mcpgraph_telemetry::{Protocol, Traces};
use mcpgraph_upstream::{ServerSpec, UpstreamOptions, Upstreams};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::driven::execution;

/// The calls of tools that a server got: their headers and what they say.
type Calls = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A server at the URL that this gives.
async fn server(calls: Calls) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", post(answer)).with_state(calls);
    tokio::spawn(axum::serve(listener, router).into_future());
    url
}

async fn answer(State(calls): State<Calls>, headers: HeaderMap, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "server/discover" => json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
        }),
        "tools/list" => json!({"resultType": "complete", "tools": []}),
        "tools/call" => {
            calls.lock().push((headers, message.clone()));
            json!({"resultType": "complete", "content": []})
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

#[tokio::test]
async fn a_server_is_told_the_span_of_its_node() {
    let calls = Calls::default();
    let config = HttpConfig { url: server(Arc::clone(&calls)).await, ..HttpConfig::default() };
    let spec = ServerSpec::new(TransportConfig::Http(config));
    let info = ClientInfo { name: "test".to_owned(), title: None, version: "1".to_owned() };
    let specs = IndexMap::from([("shop".to_owned(), spec)]);
    let upstreams = Arc::new(Upstreams::new(specs, UpstreamOptions::new(info)));

    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let runtime =
        Runtime::new(Arc::new(World::new(Arc::clone(&upstreams)))).observed_by(traces.observer());
    let finished = runtime.execute(execution("failing", "{}", Origin::default())).await;
    finished.outcome.unwrap();
    upstreams.shutdown().await;
    traces.shutdown(Duration::from_secs(20)).await;

    let spans = collector.spans();
    let span = spans.iter().find(|span| span.name == "tools/call refuse").unwrap();
    let wanted = format!("00-{}-{}-01", span.trace, span.id);
    let calls = calls.lock();
    let [(headers, message)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(headers["traceparent"], *wanted);
    assert_eq!(message["params"]["_meta"]["traceparent"], wanted);
}
