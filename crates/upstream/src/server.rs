//! The life of one server: started on first use, kept, started again after a death.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcpgraph_mcp::client::{
    ClientError, ClientOptions, CloseReason, Connection, EraChoice, Event, Events, List,
    RequestOptions,
};
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::version::Era;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::{Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::bounds::Bounds;
use crate::catalogue::Catalogue;
use crate::error::millis;
use crate::health::{Admission, Health, Outcome};
use crate::status::{ServerState, ServerStatus};
use crate::{CallContext, Change, Changed, ServerSpec, UpstreamError, UpstreamOptions};

/// How long a server that turned out to be legacy is started as such without being asked again.
/// Asking can cost a start or many seconds, but a server may have been updated meanwhile.
const LEGACY_VERDICT: Duration = Duration::from_hours(1);

/// One server.
pub(crate) struct Server {
    pub(crate) name: Arc<str>,
    pub(crate) spec: ServerSpec,
    pub(crate) catalogue: Catalogue,
    options: Arc<UpstreamOptions>,
    slot: Mutex<Slot>,
    health: Mutex<Health>,
    /// Since when it is known to be legacy.
    legacy_since: Mutex<Option<Instant>>,
    /// Why it failed last.
    last_failure: Mutex<Option<ClientError>>,
    permits: Semaphore,
    /// How many calls wait for one.
    waiting: AtomicUsize,
    /// The resources that it shall tell us of, from one start to the next.
    watched: watch::Sender<BTreeSet<String>>,
    changes: broadcast::Sender<Change>,
    shutdown: CancellationToken,
}

/// The connection, or what there is instead.
enum Slot {
    Idle,
    Starting(watch::Receiver<Option<Started>>),
    Ready(Connection),
}

type Started = Result<Connection, ClientError>;

impl Server {
    pub(crate) fn new(
        name: &str,
        spec: ServerSpec,
        options: Arc<UpstreamOptions>,
        changes: broadcast::Sender<Change>,
    ) -> Arc<Self> {
        let permits = Semaphore::new(spec.max_concurrent.clamp(1, Semaphore::MAX_PERMITS));
        Arc::new(Self {
            name: name.into(),
            spec,
            catalogue: Catalogue::default(),
            slot: Mutex::new(Slot::Idle),
            health: Mutex::new(Health::new(options.health)),
            legacy_since: Mutex::default(),
            last_failure: Mutex::default(),
            permits,
            waiting: AtomicUsize::new(0),
            watched: watch::Sender::default(),
            changes,
            shutdown: CancellationToken::new(),
            options,
        })
    }

    /// Sends a request, starting the server if need be. `what` names it in messages.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
        what: &str,
        mut context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        let trial = self.admit()?;
        let (events, meta) = (context.events.take(), std::mem::take(&mut context.meta));
        let mut bounds = Bounds::new(self, what, &context, tokio::time::Instant::now());
        let permit = match self.permits.try_acquire() {
            Ok(permit) => Ok(permit),
            Err(_) => {
                let _waiting = Waiting::enter(&self.waiting);
                bounds.hold(self.permits.acquire()).await?
            }
        };
        let waited = tokio::time::Instant::now();
        let connection = match context.timeout {
            Some(_) => bounds.hold(self.connection()).await??,
            // The start has a limit of its own, which does not count against the default.
            None => {
                let connection = bounds.cancellable(self.connection()).await??;
                bounds.put_off(waited.elapsed());
                connection
            }
        };
        let options = RequestOptions {
            timeout: bounds.remaining(),
            progress: context.progress,
            cancel: context.cancel.clone(),
            events,
            meta,
            ..RequestOptions::default()
        };
        let answer = connection.request(method, params, options).await;
        drop(permit);
        trial.report(self.outcome_of(&answer));
        answer.map_err(|error| match error {
            ClientError::Timeout { .. } => bounds.timed_out(),
            error => UpstreamError::from_client(&self.name, what, error),
        })
    }

    /// How many calls wait because `maxConcurrent` of them are under way.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// What an answer says about the health of the server.
    fn outcome_of(&self, answer: &Result<Raw, ClientError>) -> Outcome {
        match answer {
            Err(ClientError::Cancelled | ClientError::Busy { .. } | ClientError::Config(_)) => {
                Outcome::Unknown
            }
            // A death is counted once, by the task that watches, not by everyone who waited.
            Err(ClientError::Closed(_)) => Outcome::Unknown,
            Err(error) if matches!(error, ClientError::Timeout { .. }) || error.is_transport() => {
                *self.last_failure.lock() = Some(error.clone());
                Outcome::Failed
            }
            Ok(_) | Err(_) => {
                self.health.lock().start_proved();
                Outcome::Answered
            }
        }
    }

    /// Lets a call through, or says for how long the server is left alone.
    fn admit(self: &Arc<Self>) -> Result<Trial, UpstreamError> {
        let admission = self.health.lock().admit(Instant::now());
        match admission {
            Admission::Go => Ok(Trial { server: self.clone(), outcome: Outcome::Unknown }),
            Admission::Resting(rest) => {
                let last = self.last_failure.lock().clone();
                Err(UpstreamError::Unavailable {
                    server: self.name.clone(),
                    reason: format!(
                        "it failed {} times in a row and is left alone for another {} ms{}",
                        self.options.health.failures_to_open,
                        millis(rest),
                        last.as_ref().map_or_else(String::new, |e| format!("; the last time: {e}"))
                    ),
                    stderr: last.as_ref().and_then(|error| error.stderr().map(str::to_owned)),
                })
            }
        }
    }

    /// The connection, unless the server is left alone.
    pub(crate) async fn reach(self: &Arc<Self>) -> Result<Connection, UpstreamError> {
        let _trial = self.admit()?;
        self.connection().await
    }

    /// Watches exactly these resources; a server that shall watch any is started, which is not
    /// waited for.
    pub(crate) fn watch(self: &Arc<Self>, uris: BTreeSet<String>) -> Result<(), UpstreamError> {
        self.watched.send_if_modified(|watched| {
            let is_other = *watched != uris;
            *watched = uris;
            is_other
        });
        self.start_to_watch()
    }

    /// Has the server running if there is something for it to watch.
    fn start_to_watch(self: &Arc<Self>) -> Result<(), UpstreamError> {
        if !self.watched.borrow().is_empty() {
            let _trial = self.admit()?;
            drop(self.ready_or_starting());
        }
        Ok(())
    }

    /// The connection; made if there is none, once for all who ask meanwhile.
    async fn connection(self: &Arc<Self>) -> Result<Connection, UpstreamError> {
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
    fn ready_or_starting(self: &Arc<Self>) -> Result<Connection, watch::Receiver<Option<Started>>> {
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
                self.health.lock().started();
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
        if is_start || !health.is_start_proved() {
            health.start_failed(now);
        }
    }

    /// How it stands now; nothing is started or asked for that.
    pub(crate) fn status(&self) -> ServerStatus {
        let connection = match &*self.slot.lock() {
            Slot::Ready(connection) if !connection.is_closed() => Ok(connection.clone()),
            Slot::Starting(_) => Err(ServerState::Starting),
            Slot::Ready(_) | Slot::Idle => Err(ServerState::Idle),
        };
        let failure = self.last_failure.lock().clone();
        let failed_with = failure.as_ref().and_then(|error| error.stderr().map(str::to_owned));
        let is_resting = self.health.lock().is_resting(Instant::now());
        let (state, stderr) = match connection {
            Ok(connection) => (ServerState::Ready, Some(connection.stderr())),
            Err(_) if is_resting => (ServerState::Resting, failed_with),
            Err(state) => (state, failed_with),
        };
        ServerStatus {
            name: self.name.clone(),
            state,
            failure: failure.map(|error| error.to_string()),
            stderr: stderr.filter(|text| !text.is_empty()),
        }
    }

    /// Whether the server tells when this part of it changes.
    pub(crate) fn tells_changes(connection: &Connection, capability: &str) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Capability {
            list_changed: Option<bool>,
        }
        serde_json::from_str::<std::collections::HashMap<String, Raw>>(
            connection.capabilities().get(),
        )
        .ok()
        .and_then(|capabilities| {
            serde_json::from_str::<Capability>(capabilities.get(capability)?.get()).ok()
        })
        .and_then(|capability| capability.list_changed)
        .unwrap_or_default()
    }

    fn tell(&self, what: Changed) {
        // Nobody may be listening.
        drop(self.changes.send(Change { server: self.name.clone(), what }));
    }

    /// Ends it; calls under way fail.
    pub(crate) async fn shutdown(&self) {
        self.shutdown.cancel();
        let slot = std::mem::replace(&mut *self.slot.lock(), Slot::Idle);
        if let Slot::Ready(connection) = slot {
            connection.close().await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
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

/// A call that was let through; it reports how it went, if only that nothing is known.
struct Trial {
    server: Arc<Server>,
    outcome: Outcome,
}

impl Trial {
    fn report(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.server.health.lock().report(self.outcome, Instant::now());
    }
}

/// A place among those who wait.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

// === Events ===

/// What a server says outside of calls.
struct ServerEvents {
    server: Weak<Server>,
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
