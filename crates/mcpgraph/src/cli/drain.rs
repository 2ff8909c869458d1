//! How a server ends when the system asks it to: nothing new is begun, what is under way may finish.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_diagnostics::codes;
use mcpgraph_mcp::message::{Raw, RpcError, code};
use mcpgraph_mcp::server::{Around, Call, Service};
use mcpgraph_runtime::{Drain, DurableRuns};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long what is under way may take to finish, unless somebody says otherwise.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// How long calls of durable runs that must not be repeated may take to end before the process does:
/// whoever goes on with their runs could not know what became of them.
const LETTING_GO: Duration = Duration::from_secs(5);

/// How long what was given up may take to say so in the record.
pub(super) const GIVING_UP: Duration = Duration::from_secs(5);

/// When a client that is refused should come again: another process may have taken over by then.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What happens when the system or the keyboard asks the server to end. The system's first word lets
/// calls under way finish; its second, or the keyboard's first, does not. Durable runs are let go of
/// in any case.
///
/// The signals are caught from here on, not only when the future is first looked at.
pub(super) fn stop_on_signal(
    shutdown: CancellationToken,
    (drain, timeout): (Drain, Duration),
    durable: Option<Arc<DurableRuns>>,
) -> std::io::Result<impl Future<Output = ()> + use<>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let is_polite = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => false,
        };
        if is_polite {
            tokio::select! {
                () = drain.drain(timeout) => {}
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        if let Some(durable) = durable {
            drop(tokio::time::timeout(LETTING_GO, durable.let_go()).await);
        }
        mcpgraph_runtime::process_ends();
        drain.give_up();
        shutdown.cancel();
    })
}

/// The service, which takes no calls of tools any more once draining has begun.
pub(super) fn around(drain: &Drain, inner: Arc<dyn Service>) -> Arc<dyn Service> {
    Arc::new(Draining { inner, drain: drain.clone() })
}

/// See [`around`].
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
        let _under_way = self.drain.enter();
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
