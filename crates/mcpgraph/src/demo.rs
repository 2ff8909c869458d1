//! A small MCP server inside the binary, so that every example runs offline.
//!
//! It lists and reads files below one folder, keeps a table of orders in memory, and has tools that
//! echo, take their time and fail. Its file tools answer in the shape of the reference file server,
//! so that graphs written for that one run with this one.

mod arguments;
mod files;
mod orders;
mod tools;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::{Call, CallPeer, Client, Description, Service};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use self::arguments::Arguments;
use self::files::Files;
use self::orders::Orders;

/// The demo server.
pub struct DemoServer {
    info: Arc<RawValue>,
    files: Files,
    orders: Orders,
}

/// The longest a `slow` call may take, in milliseconds: ten minutes.
const LONGEST_MS: u32 = 600_000;

/// The most steps a `slow` call may have.
const MOST_STEPS: u32 = 1000;

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// What a tool gives back: a value, or words that say why not.
type Answer = Result<Value, String>;

impl DemoServer {
    /// A server whose file tools see what is below `root`.
    pub fn new(root: &Path) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            info: raw(&json!({ "name": "mcpgraph-demo", "version": env!("CARGO_PKG_VERSION") }))
                .into(),
            files: Files::below(root)?,
            orders: Orders::new(),
        }))
    }

    /// What a tool comes to; none if there is no such tool.
    async fn call_tool(&self, params: &CallParams, peer: &CallPeer) -> Option<Answer> {
        let arguments = Arguments(&params.arguments);
        Some(match params.name.as_str() {
            "list_directory" => arguments.text("path").and_then(|path| self.files.list(path)),
            "read_file" => arguments.text("path").and_then(|path| self.files.read(path)),
            "list_orders" => {
                arguments.optional_text("status").and_then(|status| self.orders.list(status))
            }
            "get_order" => arguments.text("id").and_then(|id| self.orders.get(id)),
            "set_order_status" => arguments.text("id").and_then(|id| {
                arguments.text("status").and_then(|status| self.orders.set_status(id, status))
            }),
            "echo" => arguments.any("value").cloned(),
            "slow" => slow(&arguments, peer).await,
            "fail" => match arguments.optional_text("message") {
                Ok(message) => Err(message.unwrap_or("it failed, as it should").to_owned()),
                Err(error) => Err(error),
            },
            _ => return None,
        })
    }
}

#[async_trait]
impl Service for DemoServer {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        match call.method.as_str() {
            "tools/list" => Ok(raw(&json!({ "tools": tools::list() }))),
            "tools/call" => {
                let params = call.params.as_deref().map_or("{}", RawValue::get);
                let params: CallParams = serde_json::from_str(params)
                    .map_err(|error| RpcError::invalid_params(error.to_string()))?;
                let answer = tokio::select! {
                    answer = self.call_tool(&params, &call.peer) => answer.ok_or_else(|| {
                        RpcError::invalid_params(format!("Unknown tool: {}", params.name))
                    })?,
                    () = call.cancel.cancelled() => Err(String::from("cancelled")),
                };
                Ok(raw(&result(answer)))
            }
            other => Err(RpcError::method_not_found(other)),
        }
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.info)
    }

    async fn describe(&self, _: &Client) -> Description {
        Description {
            capabilities: raw(&json!({ "tools": {} })),
            instructions: Some(String::from("Tools to try mcpgraph with.")),
        }
    }
}

fn result(answer: Answer) -> Value {
    let text = |text: &str| -> Value {
        vec![Map::from_iter([("type", "text"), ("text", text)]).into()].into()
    };
    match answer {
        Ok(value @ Value::Object(_)) => {
            let words = match value.get("content").and_then(Value::as_str) {
                Some(content) => text(content),
                None => text(&value.to_json()),
            };
            Map::from_iter([("content", words), ("structuredContent", value)]).into()
        }
        Ok(Value::String(words)) => Map::from_iter([("content", text(&words))]).into(),
        Ok(value) => Map::from_iter([("content", text(&value.to_json()))]).into(),
        Err(words) => {
            Map::from_iter([("content", text(&words)), ("isError", Value::Bool(true))]).into()
        }
    }
}

/// Takes its time and tells how far it is.
async fn slow(arguments: &Arguments<'_>, peer: &CallPeer) -> Answer {
    let wait = arguments.whole("ms", 1000, 0..=LONGEST_MS)?;
    let wait = Duration::from_millis(wait.into());
    let steps = arguments.whole("steps", 10, 1..=MOST_STEPS)?;
    for step in 1..=steps {
        tokio::time::sleep(wait / steps).await;
        let message = format!("step {step} of {steps}");
        peer.progress(&raw(&json!({ "progress": step, "total": steps, "message": message }))).await;
    }
    let waited = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    Ok(Map::from_iter([
        ("waitedMs", Value::from(waited)),
        ("steps", Value::from(u64::from(steps))),
    ])
    .into())
}
