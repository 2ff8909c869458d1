//! An HTTP server that answers what a test tells it to, and remembers what it was asked.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::serve::ListenerExt;
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode};
use mcpgraph_mcp::client::{
    ClientError, ClientOptions, Connection, Events, HttpConfig, HttpKind, TransportConfig,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::{Recorder, options};

/// One request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) http: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The method of the message.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// Whether this is a message with this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.http == Method::POST && self.method() == method
    }

    /// The answer to the message as a JSON body.
    pub(crate) fn answer(&self, result: &Value) -> Response {
        json_body(StatusCode::OK, &self.answered(result))
    }

    /// The answer to the message.
    pub(crate) fn answered(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// An answer to the requests every legacy client begins with; none for others.
    pub(crate) fn legacy_start(&self, session: &str) -> Option<Response> {
        self.legacy_start_with(session, &json!({}))
    }

    /// The same for a server with these capabilities.
    pub(crate) fn legacy_start_with(
        &self,
        session: &str,
        capabilities: &Value,
    ) -> Option<Response> {
        match self.method() {
            "server/discover" => Some(status(StatusCode::BAD_REQUEST)),
            "initialize" => {
                let mut response = self.answer(&json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "serverInfo": {"name": "scripted", "version": "1"},
                }));
                response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
                Some(response)
            }
            "notifications/initialized" => Some(status(StatusCode::ACCEPTED)),
            _ if self.http == Method::DELETE => Some(status(StatusCode::OK)),
            _ => None,
        }
    }

    /// An answer to the request every modern client begins with; none for others.
    pub(crate) fn modern_start(&self) -> Option<Response> {
        self.modern_start_with(&json!({}))
    }

    /// The same for a server with these capabilities.
    pub(crate) fn modern_start_with(&self, capabilities: &Value) -> Option<Response> {
        self.is("server/discover").then(|| {
            self.answer(&json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
            }))
        })
    }
}

/// A running server; it ends with the test.
pub(crate) struct Scripted {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
}

impl Scripted {
    pub(crate) async fn start<F>(answer: F) -> Self
    where
        F: Fn(Asked) -> Response + Clone + Send + Sync + 'static,
    {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let handler = move |http: Method, uri: http::Uri, headers: HeaderMap, body: Bytes| {
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let one = Asked { http, path: uri.path().to_owned(), headers, body };
            log.lock().push(one.clone());
            let response = answer(one);
            async move { response }
        };
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let listener = listener.tap_io(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(handler)).await });
        Self { port, asked, connections }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn config(&self) -> HttpConfig {
        let url = format!("{}/mcp?key=secret-in-the-url", self.origin());
        HttpConfig { url, kind: HttpKind::Auto, ..HttpConfig::default() }
    }

    pub(crate) async fn connect(&self) -> Result<Connection, ClientError> {
        self.connect_with(self.config(), options(), Arc::new(Recorder::default())).await
    }

    pub(crate) async fn connect_with(
        &self,
        config: HttpConfig,
        options: ClientOptions,
        events: Arc<dyn Events>,
    ) -> Result<Connection, ClientError> {
        Connection::connect(TransportConfig::Http(config), options, events).await
    }

    /// How many connections were made to it.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    /// The messages with this method.
    pub(crate) fn messages(&self, method: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.is(method)).collect()
    }
}

pub(crate) fn status(status: StatusCode) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

pub(crate) fn json_body(status: StatusCode, value: &Value) -> Response {
    let builder = Response::builder().status(status).header("content-type", "application/json");
    builder.body(Body::from(value.to_string())).unwrap()
}

/// One piece of a stream of events, after a pause.
pub(crate) type Piece = (u64, String);

/// A stream of events, written piece by piece.
pub(crate) fn events(pieces: Vec<Piece>) -> Response {
    let body = stream::unfold(pieces.into_iter(), |mut pieces| async {
        let (pause, text) = pieces.next()?;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Some((Ok::<_, Infallible>(Bytes::from(text)), pieces))
    });
    let builder = Response::builder().header("content-type", "text/event-stream; charset=utf-8");
    builder.body(Body::from_stream(body)).unwrap()
}

/// An event with a message.
pub(crate) fn event(message: &Value) -> Piece {
    (0, format!("data: {message}\n\n"))
}

/// Sets a flag when it is dropped: the other side closed the stream.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A stream that says nothing and does not end; the flag is set when it is closed.
pub(crate) fn endless(closed: &Arc<AtomicBool>) -> Response {
    let guard = Dropped(closed.clone());
    let body = stream::unfold(guard, |guard| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Ok::<_, Infallible>(":\n\n"), guard))
    });
    let builder = Response::builder().header("content-type", "text/event-stream");
    builder.body(Body::from_stream(body)).unwrap()
}
