//! A server from its start to its death: connected once for all who ask, watched over, and what
//! went wrong noted.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mcpgraph_mcp::client::{ClientError, ClientOptions, CloseReason, Connection, EraChoice};
use mcpgraph_mcp::version::Era;
use tokio::sync::watch;
use tracing::Instrument as _;

use super::events::ServerEvents;
use super::{Server, Slot, Started};
use crate::health::Outcome;
use crate::{Changed, UpstreamError};

/// How long a server that turned out to be legacy is started as such without being asked again.
/// Asking can cost a start or many seconds, but a server may have been updated meanwhile.
const LEGACY_VERDICT: Duration = Duration::from_hours(1);

impl Server {
    /// The connection; made if there is none, once for all who ask meanwhile.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Connection, UpstreamError> {
        let mut starting = match self.ready_or_starting() {
            Ok(connection) => return Ok(connection),
            Err(starting) => starting,
        };
        let started = match starting.wait_for(Option::is_some).await {
            Ok(started) => started.clone(),
            Err(_) => None,
        };
        match started {
            Some(Ok(connection)) => Ok(connection),
            Some(Err(error)) => Err(self.unavailable(error)),
            None => Err(self.unavailable(ClientError::Closed(Arc::new(CloseReason::Closed)))),
        }
    }

    /// The connection, or the start that leads to it: begun if it is not under way.
    pub(super) fn ready_or_starting(
        self: &Arc<Self>,
    ) -> Result<Connection, watch::Receiver<Option<Started>>> {
        let mut slot = self.slot.lock();
        match &*slot {
            Slot::Ready(connection) if !connection.is_closed() => Ok(connection.clone()),
            Slot::Starting(starting) => Err(starting.clone()),
            Slot::Ready(_) | Slot::Idle => {
                let starting = self.start();
                *slot = Slot::Starting(starting.clone());
                Err(starting)
            }
        }
    }

    /// Whatever went wrong with a start, the server cannot be used.
    fn unavailable(&self, error: ClientError) -> UpstreamError {
        let stderr = error.stderr().map(str::to_owned);
        UpstreamError::Unavailable { server: self.name.clone(), reason: error.to_string(), stderr }
    }

    /// Starts the server in a task of its own: nobody who gives up waiting stops it.
    fn start(self: &Arc<Self>) -> watch::Receiver<Option<Started>> {
        let (sender, receiver) = watch::channel(None);
        let server = self.clone();
        let starting = async move {
            let shutdown = server.shutdown.clone();
            let started = shutdown
                .run_until_cancelled(server.connect())
                .await
                .unwrap_or_else(|| Err(ClientError::Closed(Arc::new(CloseReason::Closed))));
            server.note_start(&started);
            sender.send_replace(Some(started));
        };
        // What the log says of it belongs to the run that needed the server.
        tokio::spawn(starting.in_current_span());
        receiver
    }

    async fn connect(self: &Arc<Self>) -> Started {
        let pause = self.health.lock().pause(Instant::now());
        tokio::time::sleep(pause).await;
        let options = ClientOptions {
            capabilities: self.options.capabilities.clone(),
            era: self.era(),
            start_timeout: self.spec.start_timeout,
            probe_timeout: self.spec.probe_timeout,
            max_message_bytes: self.spec.max_message_bytes,
            resources: self.watched.subscribe(),
            reaper: self.options.reaper.clone(),
            ..ClientOptions::new(self.options.info.clone())
        };
        let events = Arc::new(ServerEvents { server: Arc::downgrade(self) });
        Connection::connect(self.spec.target.clone(), options, events).await
    }

    /// The era to start it in.
    fn era(&self) -> EraChoice {
        let is_known_legacy =
            self.legacy_since.lock().is_some_and(|since| since.elapsed() < LEGACY_VERDICT);
        match self.spec.era {
            EraChoice::Auto if is_known_legacy => EraChoice::Legacy,
            era => era,
        }
    }

    fn note_era(&self, started: &Started) {
        let mut since = self.legacy_since.lock();
        *since = match started {
            Ok(connection) if connection.era() == Era::Legacy => since
                .filter(|since| since.elapsed() < LEGACY_VERDICT)
                .or_else(|| Some(Instant::now())),
            _ => None,
        };
    }

    fn note_start(self: &Arc<Self>, started: &Started) {
        self.catalogue.forget_all();
        self.note_era(started);
        match started {
            Ok(connection) => {
                tracing::debug!(
                    server = &*self.name,
                    version = %connection.version(),
                    "connected"
                );
                *self.slot.lock() = Slot::Ready(connection.clone());
                self.health.lock().started(Instant::now());
                self.tell(Changed::Connected);
                let watching = watch_over(Arc::downgrade(self), connection.clone());
                let shutdown = self.shutdown.clone();
                tokio::spawn(async move { shutdown.run_until_cancelled(watching).await });
            }
            Err(error) => {
                tracing::warn!(server = &*self.name, %error, "could not be started");
                *self.slot.lock() = Slot::Idle;
                self.note_failure(error.clone(), true);
            }
        }
    }

    fn note_failure(&self, error: ClientError, is_start: bool) {
        *self.last_failure.lock() = Some(error);
        let mut health = self.health.lock();
        let now = Instant::now();
        health.report(Outcome::Failed, now);
        if is_start {
            health.start_failed(now);
        } else {
            health.died(now);
        }
    }
}

/// Notes the death of a connection.
async fn watch_over(server: Weak<Server>, connection: Connection) {
    let reason = connection.closed().await;
    let Some(server) = server.upgrade() else { return };
    server.catalogue.forget_all();
    if !matches!(*reason, CloseReason::Closed) {
        tracing::warn!(server = &*server.name, %reason, "the connection ended");
        server.note_failure(ClientError::Closed(reason.clone()), false);
    }
    server.tell(Changed::Disconnected(reason.to_string()));
    if let Err(error) = server.start_to_watch() {
        tracing::debug!(%error, "not started again for the resources it shall watch");
    }
}
