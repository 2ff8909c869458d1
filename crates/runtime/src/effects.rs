//! What runs do outside of themselves.

use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_engine::{Call, RunError};
use mcpgraph_graph::Target;
use mcpgraph_journal::TraceContext;
use mcpgraph_upstream::{Raw, Upstreams};
use mcpgraph_value::Value;
use tokio_util::sync::CancellationToken;

use crate::{Caller, tools};

/// Carries out what runs do outside of themselves.
#[async_trait]
pub trait Effects: Send + Sync + 'static {
    /// Makes a call and gives what it answers.
    async fn call(&self, call: EffectCall) -> Result<Value, RunError>;
}

/// One call.
pub struct EffectCall {
    /// What to call.
    pub call: Call,
    /// Ends the call, on the other side too.
    pub cancel: CancellationToken,
    /// Who wants it.
    pub caller: Arc<dyn Caller>,
    /// Entries of `_meta` to send along.
    pub meta: Vec<(String, Raw)>,
    /// The trace the call belongs to, where a span was opened for it.
    pub trace: Option<TraceContext>,
}

/// The real world: each target has its part of it.
#[derive(Clone)]
pub struct World {
    /// Where tools of other servers are called.
    pub upstreams: Arc<Upstreams>,
}

#[async_trait]
impl Effects for World {
    async fn call(&self, call: EffectCall) -> Result<Value, RunError> {
        match call.call.target.clone() {
            Target::Tool { server, tool } => {
                tools::call(&self.upstreams, &server, &tool, call).await
            }
        }
    }
}
