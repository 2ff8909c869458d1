//! What the tests share.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_mcp::client::{
    ClientError, ClientInfo, ClientOptions, Connection, Event, Events, RequestOptions, StdioConfig,
    TransportConfig,
};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
pub(crate) use mcpgraph_testkit::observe::{Log, PATIENCE, eventually, is_running};
use mcpgraph_testkit::{Program, environment};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub(crate) fn options() -> ClientOptions {
    ClientOptions {
        probe_timeout: Duration::from_secs(5),
        ..ClientOptions::new(ClientInfo {
            name: "test".to_owned(),
            title: None,
            version: "1".to_owned(),
        })
    }
}

/// The process of a program.
pub(crate) fn stdio(program: &Program) -> StdioConfig {
    let json = program.to_json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    StdioConfig {
        command: text(&json["command"]),
        args: json["args"].as_array().unwrap().iter().map(text).collect(),
        env: json["env"].as_object().unwrap().iter().map(|(k, v)| (k.clone(), text(v))).collect(),
        ..StdioConfig::default()
    }
}

/// The misbehaving server with these options.
pub(crate) fn misbehaving(options: &[&str]) -> Option<StdioConfig> {
    let program = environment::misbehaving_server()?;
    Some(stdio(&options.iter().fold(program, Program::arg)))
}

pub(crate) async fn connect(config: StdioConfig) -> Result<Connection, ClientError> {
    connect_with(config, options(), Arc::new(Recorder::default())).await
}

pub(crate) async fn connect_with(
    config: StdioConfig,
    options: ClientOptions,
    events: Arc<dyn Events>,
) -> Result<Connection, ClientError> {
    Connection::connect(TransportConfig::Stdio(config), options, events).await
}

/// Calls a tool and gives its first text.
pub(crate) async fn call(
    connection: &Connection,
    tool: &str,
    arguments: Value,
    options: RequestOptions,
) -> Result<String, ClientError> {
    let params = raw(&json!({"name": tool, "arguments": arguments}));
    let result = connection.request("tools/call", Some(params), options).await?;
    Ok(text_of(&result))
}

pub(crate) fn text_of(result: &Raw) -> String {
    let result: Value = serde_json::from_str(result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

pub(crate) fn within(timeout: Duration) -> RequestOptions {
    RequestOptions { timeout, ..RequestOptions::default() }
}

pub(crate) fn patient() -> RequestOptions {
    within(PATIENCE)
}

/// Remembers what happens on a connection, and answers what is asked.
#[derive(Default)]
pub(crate) struct Recorder {
    events: Mutex<Vec<String>>,
}

impl Recorder {
    pub(crate) fn seen(&self) -> Vec<String> {
        self.events.lock().clone()
    }

    /// Waits until something with this text happens.
    pub(crate) async fn wait_for(&self, text: &str) {
        eventually(|| self.seen().iter().any(|event| event.contains(text))).await;
    }
}

#[async_trait]
impl Events for Recorder {
    fn event(&self, event: Event) {
        self.events.lock().push(format!("{event:?}"));
    }

    async fn request(&self, method: &str, _: Option<Raw>) -> Result<Raw, RpcError> {
        Ok(raw(&json!({"answered": method})))
    }
}
