use async_trait::async_trait;
use futures_util::future::BoxFuture;
use mcpgraph_engine::{Call, Event};
use mcpgraph_journal::TraceContext;
use mcpgraph_upstream::{Raw, RpcError};

/// Whoever asked for a run, and what it wants to know of it.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Whether [`Caller::event`] is of any use to it.
    fn listens(&self) -> bool {
        true
    }

    /// Something happened, and is in the record if there is one. It must not wait for anything.
    fn event(&self, event: &Event) {
        let _ = event;
    }

    /// The trace that the run belongs to, where it belongs to one and lines of the log can say so.
    fn traced(&self, trace: &TraceContext) {
        let _ = trace;
    }

    /// Whether it keeps back what a run came to until the record of the run is in the store. For
    /// others the run waits.
    fn keeps_back(&self) -> bool {
        false
    }

    /// The record of the run is in the store when this is over, or will not be. Nobody may be told
    /// before what the run came to.
    fn keep_back(&self, committing: BoxFuture<'static, ()>) {
        drop(committing);
    }

    /// An upstream tool reported progress: the parameters of its notification.
    async fn progress(&self, call: &Call, params: Raw) {
        let _ = (call, params);
    }

    /// An upstream tool logged something: the parameters of its notification.
    async fn log(&self, call: &Call, params: Raw) {
        let _ = (call, params);
    }

    /// An upstream tool asks the client something, such as a sampling request.
    async fn request(&self, method: &str, params: Option<Raw>) -> Result<Raw, RpcError> {
        let _ = params;
        Err(RpcError::method_not_found(method))
    }
}

/// A caller that only wants the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Caller for Silent {
    fn listens(&self) -> bool {
        false
    }
}
