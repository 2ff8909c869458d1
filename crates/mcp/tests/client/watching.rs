//! The resources a connection watches: the server is told of every change of the set.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use mcpgraph_mcp::client::{ClientOptions, Connection, EraChoice, HttpConfig, TransportConfig};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::{
    Broadcaster, Call, Change, Client, Description, Limits, Server, Service, http_router,
    serve_http,
};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Asked, Scripted, endless, json_body, status};
use crate::support::{Recorder, call, eventually, options, patient};

fn set<const N: usize>(uris: [&str; N]) -> BTreeSet<String> {
    uris.into_iter().map(str::to_owned).collect()
}

fn capabilities() -> Value {
    json!({"resources": {"subscribe": true}})
}

fn watching(resources: &watch::Sender<BTreeSet<String>>) -> ClientOptions {
    ClientOptions { resources: resources.subscribe(), ..options() }
}

/// Has resources that can be watched, and nothing else.
struct Resources;

#[async_trait]
impl Service for Resources {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        assert!(call.method.starts_with("resources/"), "{}", call.method);
        Ok(raw(&json!({})))
    }

    fn info(&self) -> Arc<RawValue> {
        RawValue::NULL.to_owned().into()
    }

    async fn describe(&self, _: &Client) -> Description {
        Description { capabilities: raw(&capabilities()), instructions: None }
    }
}

/// Our own server, at a URL.
async fn serve(broadcaster: &Broadcaster, stop: &CancellationToken) -> TransportConfig {
    let service = Arc::new(Resources);
    let server = Server::new(service, broadcaster.clone(), Limits::default(), stop.clone());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = http_router(&server, mcpgraph_mcp::server::HttpConfig::default());
    tokio::spawn(async move { serve_http(&server, listener, router).await });
    TransportConfig::Http(HttpConfig { url, ..HttpConfig::default() })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_tells_of_exactly_the_set() {
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let (broadcaster, stop) = (Broadcaster::new(), CancellationToken::new());
        let target = serve(&broadcaster, &stop).await;
        let resources = watch::Sender::new(set(["a:1"]));
        let recorder = Arc::new(Recorder::default());
        let options = ClientOptions { era, ..watching(&resources) };
        let connection = Connection::connect(target, options, recorder.clone()).await.unwrap();
        for wanted in
            [set(["a:1"]), set(["a:1", "a:2"]), set(["a:2", "a:3"]), set([]), set(["a:4"])]
        {
            resources.send_replace(wanted.clone());
            eventually(|| {
                broadcaster.watched_resources().into_iter().collect::<BTreeSet<_>>() == wanted
            })
            .await;
        }
        broadcaster.send(&Change::Resource("a:1".to_owned()));
        broadcaster.send(&Change::Resource("a:4".to_owned()));
        recorder.wait_for("ResourceUpdated").await;
        let updates: Vec<_> =
            recorder.seen().into_iter().filter(|event| event.contains("Updated")).collect();
        assert!(updates.iter().all(|event| event.contains("a:4")), "{era:?} {updates:?}");
        drop(connection);
        stop.cancel();
    }
}

/// The resources of each request to listen.
fn listened(server: &Scripted) -> Vec<Value> {
    server
        .messages("subscriptions/listen")
        .into_iter()
        .map(|asked| asked.body["params"]["notifications"].clone())
        .collect()
}

#[tokio::test]
async fn a_modern_stream_is_opened_anew_for_another_set() {
    let streams: Arc<Mutex<Vec<Arc<AtomicBool>>>> = Arc::default();
    let opened = streams.clone();
    let server = Scripted::start(move |asked| {
        asked.modern_start_with(&capabilities()).unwrap_or_else(|| {
            let closed = Arc::new(AtomicBool::new(false));
            opened.lock().push(closed.clone());
            endless(&closed)
        })
    })
    .await;
    let is_closed = |stream: usize| streams.lock()[stream].load(Ordering::SeqCst);
    let resources = watch::Sender::new(set([]));
    let recorder = Arc::new(Recorder::default());
    let connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(listened(&server).is_empty(), "there is nothing to listen for");

    resources.send_replace(set(["a:1"]));
    eventually(|| listened(&server).len() == 1).await;
    resources.send_replace(set(["a:1", "a:2"]));
    eventually(|| listened(&server).len() == 2 && is_closed(0)).await;
    assert!(!is_closed(1));
    resources.send_replace(set([]));
    eventually(|| is_closed(1)).await;
    let expected = [
        json!({"resourceSubscriptions": ["a:1"]}),
        json!({"resourceSubscriptions": ["a:1", "a:2"]}),
    ];
    assert_eq!(listened(&server), expected);

    resources.send_replace(set(["a:3"]));
    eventually(|| listened(&server).len() == 3).await;
    drop(connection);
    eventually(|| is_closed(2)).await;
}

#[tokio::test]
async fn a_modern_stream_that_ends_is_opened_again_for_the_same_set() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = Scripted::start(move |asked| {
        asked.modern_start_with(&capabilities()).unwrap_or_else(|| {
            match count.fetch_add(1, Ordering::SeqCst) {
                // Ends as the protocol wants it, and as a broken connection does.
                0 => asked.answer(&json!({"resultType": "complete"})),
                1 => status(StatusCode::BAD_GATEWAY),
                _ => endless(&Arc::default()),
            }
        })
    })
    .await;
    let resources = watch::Sender::new(set(["a:1"]));
    let recorder = Arc::new(Recorder::default());
    let _connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    eventually(|| listened(&server).len() == 3).await;
    assert!(listened(&server).iter().all(|one| *one == listened(&server)[0]));
}

#[tokio::test]
async fn lists_are_listened_for_even_if_the_resources_are_refused() {
    let server = Scripted::start(|asked| {
        let capabilities = json!({
            "tools": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": false},
        });
        asked.modern_start_with(&capabilities).unwrap_or_else(|| {
            match asked.body["params"]["notifications"].get("resourceSubscriptions") {
                Some(_) => refusal(&asked),
                None => endless(&Arc::default()),
            }
        })
    })
    .await;
    let resources = watch::Sender::new(set(["a:1"]));
    let recorder = Arc::new(Recorder::default());
    let _connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    let lists = json!({"toolsListChanged": true});
    eventually(|| listened(&server).last() == Some(&lists)).await;
    assert_eq!(listened(&server).len(), 2);
}

fn refusal(asked: &Asked) -> axum::response::Response {
    let error = json!({"code": -32602, "message": "too many"});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
    json_body(StatusCode::OK, &body)
}

/// What a legacy server was told about which resource, in which session.
fn told(server: &Scripted) -> Vec<String> {
    server
        .asked()
        .iter()
        .filter(|asked| asked.method().starts_with("resources/"))
        .map(|asked| {
            let session = asked.header("mcp-session-id").unwrap();
            format!("{} {} {session}", asked.method(), asked.body["params"]["uri"])
        })
        .collect()
}

#[tokio::test]
async fn a_legacy_server_is_told_the_differences() {
    let server = Scripted::start(|asked| {
        asked.legacy_start_with("s", &capabilities()).unwrap_or_else(|| {
            match (asked.method(), asked.body["params"]["uri"].as_str()) {
                (_, Some("a:refused")) => refusal(&asked),
                ("resources/subscribe" | "resources/unsubscribe", _) => asked.answer(&json!({})),
                _ => status(StatusCode::METHOD_NOT_ALLOWED),
            }
        })
    })
    .await;
    let resources = watch::Sender::new(set(["a:1"]));
    let recorder = Arc::new(Recorder::default());
    let connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    let mut expected = vec!["resources/subscribe \"a:1\" s"];
    eventually(|| told(&server) == expected).await;
    resources.send_replace(set(["a:1", "a:refused", "a:2"]));
    expected.push("resources/subscribe \"a:2\" s");
    expected.push("resources/subscribe \"a:refused\" s");
    eventually(|| told(&server) == expected).await;
    // What was refused is tried again, and needs no end.
    resources.send_replace(set(["a:2", "a:refused"]));
    expected.push("resources/unsubscribe \"a:1\" s");
    expected.push("resources/subscribe \"a:refused\" s");
    eventually(|| told(&server) == expected).await;
    resources.send_replace(set([]));
    expected.push("resources/unsubscribe \"a:2\" s");
    eventually(|| told(&server) == expected).await;
    assert!(!connection.is_closed());
}

#[tokio::test]
async fn a_legacy_server_that_forgot_the_session_is_told_everything_again() {
    let starts = Arc::new(AtomicUsize::new(0));
    let server = Scripted::start(move |asked| {
        if asked.is("initialize") {
            starts.fetch_add(1, Ordering::SeqCst);
        }
        let session = format!("s{}", starts.load(Ordering::SeqCst));
        if let Some(response) = asked.legacy_start_with(&session, &capabilities()) {
            return response;
        }
        match asked.method() {
            _ if asked.http == Method::GET => status(StatusCode::METHOD_NOT_ALLOWED),
            "tools/call" if session == "s1" => status(StatusCode::NOT_FOUND),
            "tools/call" => asked.answer(&json!({"content": [{"type": "text", "text": "x"}]})),
            _ => asked.answer(&json!({})),
        }
    })
    .await;
    let resources = watch::Sender::new(set(["a:1", "a:2"]));
    let recorder = Arc::new(Recorder::default());
    let connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    eventually(|| told(&server).len() == 2).await;
    call(&connection, "x", json!({}), patient()).await.unwrap();
    eventually(|| told(&server).len() == 4).await;
    let again = ["resources/subscribe \"a:1\" s2", "resources/subscribe \"a:2\" s2"];
    assert_eq!(told(&server)[2..], again);
}

#[tokio::test]
async fn a_legacy_server_without_subscriptions_is_told_nothing() {
    let server = Scripted::start(|asked| {
        asked.legacy_start("s").unwrap_or_else(|| status(StatusCode::METHOD_NOT_ALLOWED))
    })
    .await;
    let resources = watch::Sender::new(set(["a:1"]));
    let recorder = Arc::new(Recorder::default());
    let _connection =
        server.connect_with(server.config(), watching(&resources), recorder).await.unwrap();
    resources.send_replace(set(["a:2"]));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(told(&server).is_empty());
}
