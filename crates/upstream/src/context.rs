//! What goes with a call, and what comes back.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_mcp::client::CallEvent;
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_value::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{NodeOutput, UpstreamError, output_of};

/// What goes with a call besides its arguments.
#[derive(Clone, Debug, Default)]
pub struct CallContext {
    /// How long the call may take in all: waiting for a place, starting the server, the request,
    /// all its rounds. If not said, the server's own `timeoutMs` bounds waiting and the request,
    /// and the start has its own limit.
    pub timeout: Option<Duration>,
    /// Ends the call, and tells the server.
    pub cancel: CancellationToken,
    /// Where progress, logs and the server's requests go. All are there before the result.
    pub events: Option<mpsc::Sender<CallEvent>>,
    /// Whether progress is asked for.
    pub progress: bool,
    /// Entries of `_meta` to set, such as the trace context or the client's capabilities.
    pub meta: Vec<(String, Raw)>,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// The server that answered.
    pub server: Arc<str>,
    /// The tool that answered.
    pub tool: Arc<str>,
    /// The whole result.
    pub result: Value,
}

/// Something changed on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The server's name.
    pub server: Arc<str>,
    /// What changed.
    pub what: Changed,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Its tools.
    Tools,
    /// Its resources or templates.
    Resources,
    /// Its prompts.
    Prompts,
    /// The resource with this URI.
    Resource(String),
    /// It is defined in another way now: all of it may be different.
    Replaced,
    /// It was started or reached.
    Connected,
    /// It died or was closed; the text says why.
    Disconnected(String),
}

/// Takes what servers say outside of calls.
#[async_trait]
pub trait Requests: Send + Sync + 'static {
    /// A server asks something that cannot be tied to a call.
    async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<Raw>,
    ) -> Result<Raw, RpcError>;

    /// A server logs something outside of calls: the parameters of `notifications/message`.
    fn log(&self, server: &str, params: Raw) {
        drop(params);
        tracing::debug!(server, "a log message outside of calls");
    }
}

impl CallResult {
    /// The value of the result for a node; a failed tool is an error that carries its text.
    pub fn into_output(self) -> Result<Value, UpstreamError> {
        if let Some(kind) = self.result.get("resultType").and_then(Value::as_str)
            && kind != "complete"
        {
            let reason = format!("`{}` answered with `{kind}`, which is no result", self.tool);
            return Err(UpstreamError::Broken { server: self.server, reason });
        }
        match output_of(&self.result) {
            NodeOutput::Value(value) => Ok(value),
            NodeOutput::Error { text, result } => {
                Err(UpstreamError::Tool { server: self.server, tool: self.tool, text, result })
            }
        }
    }
}
