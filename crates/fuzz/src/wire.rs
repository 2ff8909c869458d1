use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_mcp::message::{Message, Raw, RpcError, raw};
use mcpgraph_mcp::server::{
    Broadcaster, Call, Client, Description, Limits, Server, Service, serve_stdio,
};
use serde_json::json;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// A service that answers anything with what it was given.
struct Mirror(Arc<RawValue>);

#[async_trait]
impl Service for Mirror {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        call.peer.progress(&raw(&json!({ "progress": 1 }))).await;
        Ok(call.params.unwrap_or_else(|| raw(&json!({}))))
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.0)
    }

    async fn describe(&self, _: &Client) -> Description {
        Description { capabilities: raw(&json!({ "tools": {} })), instructions: None }
    }
}

/// The entry of JSON-RPC: one message alone, and the bytes as a client's whole input on stdio.
pub fn json_rpc(data: &[u8]) {
    if let Ok(message) = Message::from_json(data) {
        let text = message.to_json();
        assert!(!text.contains('\n'), "one message is one line");
        assert!(Message::from_json(text.as_bytes()).is_ok(), "what is written can be read");
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let limits = Limits {
        cancel_grace: Duration::from_millis(10),
        shutdown_grace: Duration::from_millis(10),
        ..Limits::default()
    };
    let service = Arc::new(Mirror(raw(&json!({ "name": "mirror", "version": "1" })).into()));
    let server = Server::new(service, Broadcaster::new(), limits, CancellationToken::new());
    runtime.block_on(async {
        // An error is a fine way to end; not ending is not.
        let served = serve_stdio(&server, data, tokio::io::sink());
        let ended = tokio::time::timeout(Duration::from_secs(30), served).await;
        assert!(ended.is_ok(), "the server ends with its input");
    });
}
