//! How a server ends when the system asks it to: nothing new is begun, what is under way may finish.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_diagnostics::codes;
use mcpgraph_mcp::message::{Raw, RpcError, code};
use mcpgraph_mcp::server::{Around, Call, Service};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long what is under way may take to finish, unless somebody says otherwise.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// When a client that is refused should come again: another process may have taken over by then.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Whether the server is about to end, and what is still under way. It is cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Drain {
    begun: CancellationToken,
    under_way: Arc<watch::Sender<usize>>,
}

impl Drain {
    /// Whether nothing new is taken any more.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Takes nothing new from here on, and waits until nothing is under way, for so long at most.
    pub(super) async fn drain(&self, timeout: Duration) {
        self.begun.cancel();
        let mut under_way = self.under_way.subscribe();
        let waiting = *under_way.borrow();
        tracing::info!(waiting, "no new calls are taken; those under way may finish");
        if tokio::time::timeout(timeout, under_way.wait_for(|count| *count == 0)).await.is_err() {
            let left = *self.under_way.borrow();
            tracing::warn!(left, "calls did not finish within {timeout:?} and are given up");
        }
    }

    /// The service, which takes no calls of tools any more once this has begun.
    pub(super) fn around(&self, inner: Arc<dyn Service>) -> Arc<dyn Service> {
        Arc::new(Draining { inner, drain: self.clone() })
    }
}

/// A call under way.
struct UnderWay<'a>(&'a Drain);

impl<'a> UnderWay<'a> {
    fn begin(drain: &'a Drain) -> Self {
        drain.under_way.send_modify(|count| *count += 1);
        Self(drain)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count -= 1);
    }
}

/// See [`Drain::around`].
struct Draining {
    inner: Arc<dyn Service>,
    drain: Drain,
}

#[async_trait]
impl Around for Draining {
    fn inner(&self) -> &Arc<dyn Service> {
        &self.inner
    }

    async fn pass(&self, call: Call) -> Result<Raw, RpcError> {
        let _under_way = UnderWay::begin(&self.drain);
        // Only these begin runs; whoever asks for anything else is answered for as long as can be.
        if call.method == "tools/call" && self.drain.has_begun() {
            let data = json!({
                "code": codes::SERVER_ENDING.id(),
                "retryAfterMs": RETRY_AFTER.as_millis() as u64,
            });
            let message = "this server is about to end and takes no new calls; call again";
            return Err(RpcError::new(code::UNAVAILABLE, message).with_data(&data));
        }
        self.inner.call(call).await
    }
}
