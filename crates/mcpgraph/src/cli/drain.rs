//! How a server over HTTP ends when the system asks it to: nothing new is begun, what is under way
//! may finish.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_diagnostics::codes;
use mcpgraph_mcp::message::{Notification, Raw, RpcError, code};
use mcpgraph_mcp::mirror::HeaderParameter;
use mcpgraph_mcp::server::{Call, Client, Description, Service};
use serde_json::json;
use serde_json::value::RawValue;
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
    ///
    /// Runs that go on without this process, because another one takes them over, are not waited for:
    /// they are let go of where `begun` fires.
    pub(super) async fn drain(&self, timeout: Duration) {
        self.begun.cancel();
        let mut under_way = self.under_way.subscribe();
        let waiting = *under_way.borrow();
        tracing::info!(waiting, "no new calls are taken; those under way may finish");
        if tokio::time::timeout(timeout, under_way.wait_for(|count| *count == 0)).await.is_err() {
            let left = *self.under_way.borrow();
            tracing::warn!(left, "calls did not finish within {timeout:?} and are cancelled");
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
impl Service for Draining {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
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

    fn info(&self) -> Arc<RawValue> {
        self.inner.info()
    }

    async fn describe(&self, client: &Client) -> Description {
        self.inner.describe(client).await
    }

    async fn notified(&self, client: &Arc<Client>, notification: Notification) {
        self.inner.notified(client, notification).await;
    }

    async fn closed(&self, client: &Arc<Client>) {
        self.inner.closed(client).await;
    }

    fn header_parameters(&self, client: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        self.inner.header_parameters(client, tool)
    }

    async fn may_watch(&self, client: &Client, uri: &str) -> bool {
        self.inner.may_watch(client, uri).await
    }
}
