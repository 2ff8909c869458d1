//! What a server says and asks outside of calls, and who is told.

use std::sync::Weak;

use async_trait::async_trait;
use mcpgraph_mcp::client::{Event, Events, List};
use mcpgraph_mcp::message::{Raw, RpcError};
use serde::Deserialize;

use super::Server;
use crate::Changed;

/// What a server says outside of calls.
pub(super) struct ServerEvents {
    pub(super) server: Weak<Server>,
}

#[async_trait]
impl Events for ServerEvents {
    fn event(&self, event: Event) {
        let Some(server) = self.server.upgrade() else { return };
        match event {
            Event::ListChanged(list) => {
                server.catalogue.forget(list);
                server.tell(match list {
                    List::Tools => Changed::Tools,
                    List::Resources => Changed::Resources,
                    List::Prompts => Changed::Prompts,
                });
            }
            Event::ResourceUpdated(params) => {
                #[derive(Deserialize)]
                struct Params {
                    uri: String,
                }
                if let Ok(Params { uri }) = serde_json::from_str(params.get()) {
                    server.tell(Changed::Resource(uri));
                }
            }
            Event::Log(params) => {
                if let Some(requests) = &server.options.requests {
                    requests.log(&server.name, params);
                }
            }
            Event::Other { method, .. } => {
                tracing::trace!(server = &*server.name, method, "ignored a notification");
            }
        }
    }

    async fn request(&self, method: &str, params: Option<Raw>) -> Result<Raw, RpcError> {
        let server = self.server.upgrade();
        match server.as_ref().and_then(|server| server.options.requests.clone().zip(Some(server))) {
            Some((requests, server)) => requests.request(&server.name, method, params).await,
            None => Err(RpcError::method_not_found(method)),
        }
    }
}
