use std::sync::Arc;

use mcpgraph_access::{Access, GRAPH, Grant};
use mcpgraph_diagnostics::codes;
use mcpgraph_journal::RequestToken;
use mcpgraph_mcp::message::RpcError;
use mcpgraph_mcp::server::Client;
use serde_json::json;

/// The code of the error that tells a client to wait.
const TOO_MANY: i64 = -32029;

/// Who may see what, and how often they may ask. The default lets everybody see everything.
#[derive(Clone, Default)]
pub struct Gate {
    access: Option<Arc<Access>>,
}

impl Gate {
    /// A gate for those who show tokens, as soon as there are some; without `access`, one that is
    /// always open.
    pub fn new(access: Option<Arc<Access>>) -> Self {
        Self { access }
    }

    /// What a client may see; nothing where it should have been let in and was not.
    pub(crate) fn grant(&self, client: &Client) -> Grant {
        match (&self.access, &client.principal) {
            (None, _) => Grant::default(),
            (Some(access), None) if !access.asks_yet() => Grant::default(),
            (Some(access), Some(id)) => access.grant(id).unwrap_or_else(Grant::nothing),
            (Some(_), None) => Grant::nothing(),
        }
    }

    /// Whether a tool that belongs to no server is there for a client.
    pub fn sees_own(&self, client: &Client, tool: &str) -> bool {
        self.grant(client).sees_tool(GRAPH, tool)
    }

    /// Counts a request against what its sender may ask; with the tool that it calls.
    pub async fn count(&self, client: &Client, tool: Option<&str>) -> Result<(), RpcError> {
        let (Some(access), Some(id)) = (&self.access, &client.principal) else { return Ok(()) };
        access.count(id, tool).await.map_err(|error| {
            let data = json!({
                "code": codes::TOO_MANY_REQUESTS.id(), "retryAfterMs": error.wait.as_millis() as u64,
            });
            RpcError::new(TOO_MANY, error.to_string()).with_data(&data)
        })
    }

    /// The token of a client, for the log of requests.
    pub(crate) fn token(&self, client: &Client) -> Option<RequestToken> {
        let id = client.principal.clone()?;
        let name = self.access.as_ref().and_then(|access| access.name(&id)).map(Into::into);
        Some(RequestToken { id, name })
    }
}
