//! One server: started on first use, kept, started again after a death; its calls are let through,
//! bounded and counted here.

mod events;
mod starting;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mcpgraph_mcp::client::{ClientError, Connection, RequestOptions};
use mcpgraph_mcp::message::Raw;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::{Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::bounds::Bounds;
use crate::catalogue::Catalogue;
use crate::error::millis;
use crate::health::{Admission, Health, Outcome};
use crate::status::{Peer, ServerState, ServerStatus};
use crate::{CallContext, Change, Changed, ServerSpec, Target, UpstreamError, UpstreamOptions};

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

    /// Sends a request of a caller, starting the server if need be. `what` names it in messages.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
        what: &str,
        context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        self.ask(method, params, what, context, Outcome::Answered).await
    }

    /// Asks for a part of what the server has, which proves nothing about its calls.
    pub(crate) async fn look_up(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
    ) -> Result<Raw, UpstreamError> {
        self.ask(method, params, method, CallContext::default(), Outcome::Told).await
    }

    /// Sends a request; `answered` is what an answer says about the health of the server.
    async fn ask(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
        what: &str,
        mut context: CallContext,
        answered: Outcome,
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
        trial.report(self.outcome_of(&answer, answered));
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
    fn outcome_of(&self, answer: &Result<Raw, ClientError>, answered: Outcome) -> Outcome {
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
            Ok(_) | Err(_) => answered,
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

    /// How it stands now; nothing is started or asked for that.
    pub(crate) fn peer(&self) -> Peer {
        let url = match &self.spec.target {
            Target::Http(http) => Some(http.url.clone()),
            Target::Stdio(_) => None,
        };
        let version = match &*self.slot.lock() {
            Slot::Ready(connection) => Some(connection.version().as_str()),
            Slot::Starting(_) | Slot::Idle => None,
        };
        Peer { url, version }
    }

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
        Self::capability(connection, capability)
            .and_then(|found| serde_json::from_str::<Capability>(found.get()).ok())
            .and_then(|capability| capability.list_changed)
            .unwrap_or_default()
    }

    /// What the server says of this part of it; none if it does not have it.
    pub(crate) fn capability(connection: &Connection, name: &str) -> Option<Raw> {
        let all: HashMap<String, Raw> =
            serde_json::from_str(connection.capabilities().get()).ok()?;
        all.get(name).cloned()
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
