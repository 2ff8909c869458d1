//! A small product behind the server, with a tool for each thing a call can do.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_mcp::message::{Notification, Raw, RpcError, code, raw};
use mcpgraph_mcp::mirror::{HeaderParameter, header_parameters};
use mcpgraph_mcp::server::{
    Broadcaster, Call, Change, Client, Description, HttpConfig, Limits, Server, Service,
    http_router, open_to_pages, serve_http,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The service, and what it tells its test.
pub(crate) struct TestService {
    info: Arc<RawValue>,
    broadcaster: Broadcaster,
    happened: mpsc::Sender<String>,
    released: Arc<Notify>,
}

/// A server with everything a test wants from it. It ends when this is dropped.
pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) broadcaster: Broadcaster,
    pub(crate) happened: mpsc::Receiver<String>,
    _end: DropGuard,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let (happened, happenings) = mpsc::channel(1000);
        let broadcaster = Broadcaster::new();
        let service = Arc::new(TestService {
            info: raw(&json!({"name": "test", "version": "1"})).into(),
            broadcaster: broadcaster.clone(),
            happened,
            released: Arc::default(),
        });
        let shutdown = CancellationToken::new();
        Self {
            server: Server::new(service, broadcaster.clone(), limits, shutdown.clone()),
            broadcaster,
            happened: happenings,
            _end: shutdown.drop_guard(),
        }
    }

    /// Serves over HTTP, and gives the address.
    pub(crate) async fn listen(&self, config: HttpConfig) -> std::net::SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = open_to_pages(http_router(&self.server, config.clone()), &config);
        let server = self.server.clone();
        tokio::spawn(async move { serve_http(&server, listener, router).await.unwrap() });
        address
    }

    /// The next thing that happened in the service.
    pub(crate) async fn next_happening(&mut self) -> String {
        tokio::time::timeout(Duration::from_secs(10), self.happened.recv()).await.unwrap().unwrap()
    }
}

#[async_trait]
impl Service for TestService {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        match call.method.as_str() {
            "tools/list" => Ok(raw(&json!({"tools": tools(), "vendor": {"z": 1, "a": 2}}))),
            "tools/call" => self.call_tool(call).await,
            "prompts/list" => Ok(raw(&json!({"prompts": []}))),
            "resources/list" => Ok(raw(&json!({"resources": []}))),
            "resources/templates/list" => Ok(raw(&json!({"resourceTemplates": []}))),
            "resources/read" => Err(RpcError::new(code::RESOURCE_NOT_FOUND, "no such resource")),
            "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => {
                Ok(raw(&json!({})))
            }
            "completion/complete" => Ok(raw(&json!({"completion": {"values": []}}))),
            other => Err(RpcError::method_not_found(other)),
        }
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.info)
    }

    async fn describe(&self, _: &Client) -> Description {
        Description {
            capabilities: raw(&json!({
                "completions": {},
                "logging": {},
                "prompts": {"listChanged": true},
                "resources": {"subscribe": true, "listChanged": true},
                "tools": {"listChanged": true},
            })),
            instructions: Some("Use it.".to_owned()),
        }
    }

    async fn notified(&self, _: &Arc<Client>, notification: Notification) {
        self.happen(format!("notified {}", notification.method));
    }

    async fn closed(&self, _: &Arc<Client>) {
        self.happen("closed".to_owned());
    }

    fn header_parameters(&self, _: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        let tools = tools();
        let tool = tools.as_array()?.iter().find(|it| it["name"] == tool)?;
        Some(header_parameters(&raw(&tool["inputSchema"])).ok()?.into())
    }
}

impl TestService {
    fn happen(&self, what: String) {
        // The test may be over.
        drop(self.happened.try_send(what));
    }

    async fn call_tool(&self, call: Call) -> Result<Raw, RpcError> {
        let params: Value = serde_json::from_str(call.params.as_ref().unwrap().get()).unwrap();
        let arguments = &params["arguments"];
        let peer = &call.peer;
        match params["name"].as_str().unwrap_or_default() {
            "echo" => Ok(raw(&json!({"content": [{"type": "text", "text": arguments["text"]}]}))),
            "trace" => {
                let told = ["traceparent", "tracestate"].map(|key| call.meta.get_str(key));
                Ok(raw(&json!({"content": [], "structuredContent": {"trace": told}})))
            }
            // An answer that is there and has to wait.
            "held" => {
                let released = Arc::clone(&self.released);
                peer.answer_after(Box::pin(async move { released.notified().await }));
                self.happen("held".to_owned());
                Ok(raw(&json!({"content": []})))
            }
            "release" => {
                self.released.notify_one();
                Ok(raw(&json!({"content": []})))
            }
            // A result as no typed layer would write it.
            "odd" => Ok(serde_json::from_str(ODD).unwrap()),
            "progress" => {
                for done in 1..=arguments["times"].as_u64().unwrap_or(3) {
                    peer.progress(&raw(&json!({"progressToken": "mine", "progress": done}))).await;
                }
                Ok(text("done"))
            }
            "log" => {
                for level in ["debug", "info", "error"] {
                    let params = raw(&json!({"level": level, "data": level}));
                    peer.notify("notifications/message", Some(params)).await;
                }
                Ok(text("logged"))
            }
            "wait" => {
                self.happen("waiting".to_owned());
                call.cancel.cancelled().await;
                self.happen("cancelled".to_owned());
                Ok(text("too late"))
            }
            "stubborn" => {
                self.happen("waiting".to_owned());
                std::future::pending().await
            }
            "sleep" => {
                let millis = arguments["ms"].as_u64().unwrap_or(100);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                Ok(text("slept"))
            }
            "elicit" => {
                let asked = raw(&json!({"message": "Sure?", "requestedSchema": {
                    "type": "object", "properties": {"sure": {"type": "boolean"}}}}));
                let timeout = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(5000));
                let answer = peer.request("elicitation/create", Some(asked), timeout).await?;
                Ok(text(answer.get()))
            }
            "change" => {
                self.broadcaster.send(&Change::Tools);
                Ok(text("changed"))
            }
            "pause" => {
                peer.progress(&raw(&json!({"progress": 1}))).await;
                peer.pause(Duration::from_millis(20)).await;
                tokio::time::sleep(Duration::from_millis(60)).await;
                peer.progress(&raw(&json!({"progress": 2}))).await;
                Ok(text("resumed"))
            }
            "late" => {
                let peer = peer.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    peer.notify("notifications/late", None).await;
                });
                Ok(text("before"))
            }
            "panic" => panic!("on purpose"),
            other => Err(RpcError::invalid_params(format!("unknown tool: {other}"))),
        }
    }
}

/// The result of the tool `odd`.
pub(crate) const ODD: &str = r#"{"zz":1.50,"content":[{"type":"hologram","big":123456789012345678901234567890}],"messages":[],"aa":{"k":"é"}}"#;

fn text(text: &str) -> Raw {
    raw(&json!({"content": [{"type": "text", "text": text}]}))
}

fn tools() -> Value {
    let names = [
        "echo", "odd", "progress", "log", "wait", "stubborn", "sleep", "elicit", "change", "pause",
        "late", "panic",
    ];
    let mut tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"x": 1}}))
        .collect();
    tools[0]["inputSchema"]["properties"] =
        json!({"text": {"type": "string"}, "region": {"type": "string", "x-mcp-header": "Region"}});
    Value::Array(tools)
}
