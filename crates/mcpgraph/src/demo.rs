//! A small MCP server inside the binary, so that every example runs offline.
//!
//! It lists and reads files below one folder, keeps a table of orders in memory, and has tools that
//! echo, take their time and fail. Its file tools answer in the shape of the reference file server,
//! so that graphs written for that one run with this one.

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

use self::files::Files;
use self::orders::Orders;

/// The demo server.
pub struct DemoServer {
    info: Arc<RawValue>,
    files: Files,
    orders: Orders,
}

/// The longest a `slow` call may take.
const LONGEST: Duration = Duration::from_mins(10);

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

    async fn call_tool(&self, params: &CallParams, peer: &CallPeer) -> Result<Answer, RpcError> {
        let arguments = Arguments(&params.arguments);
        Ok(match params.name.as_str() {
            "list_directory" => self.files.list(arguments.text("path")),
            "read_file" => self.files.read(arguments.text("path")),
            "list_orders" => Ok(self.orders.list(arguments.text("status"))),
            "get_order" => self.orders.get(arguments.text("id")),
            "set_order_status" => {
                self.orders.set_status(arguments.text("id"), arguments.text("status"))
            }
            "echo" => Ok(arguments.0.get("value").cloned().unwrap_or_default()),
            "slow" => slow(&arguments, peer).await,
            "fail" => Err(arguments.text("message").unwrap_or("it failed, as it should").into()),
            other => return Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
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
                    answer = self.call_tool(&params, &call.peer) => answer?,
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
    let number = |key: &str, default: i64| {
        let given = arguments.0.get(key).and_then(Value::as_i64).unwrap_or(default);
        u32::try_from(given).map_err(|_| format!("`{key}` must be a number that is not negative"))
    };
    let wait = Duration::from_millis(number("ms", 1000)?.into()).min(LONGEST);
    let steps = number("steps", 10)?.clamp(1, 1000);
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

struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).and_then(Value::as_str)
    }
}
