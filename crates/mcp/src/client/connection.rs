//! The handle to a connection.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mcpgraph_diagnostics::Secrets;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::calls::{Call, Calls};
use super::handshake::{self, Negotiated};
use super::secrets;
use super::transport::Transport;
use super::{
    ClientError, ClientOptions, CloseReason, Events, RequestOptions, TransportConfig, listen,
    params, subscribe,
};
use crate::message::{Id, Message, Notification, Raw, Request, raw};
use crate::meta_key;
use crate::version::{Era, Version};

/// A connection to one server. Clones are handles to the same one; when the last is dropped the
/// connection is closed.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    link: Link,
    negotiated: Negotiated,
    /// What every modern request carries.
    envelope: Vec<(String, Raw)>,
    is_http: bool,
    /// Ends the tasks that serve the connection.
    _tasks: DropGuard,
}

/// A transport and the requests under way on it.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) calls: Arc<Calls>,
    pub(super) transport: Arc<dyn Transport>,
    /// What must not be shown of what the server says.
    pub(super) secrets: Secrets,
}

/// What [`Link::call`] needs to know besides the request.
pub(super) struct CallOptions {
    pub(super) request: RequestOptions,
    /// Whether the request is only about notifications, so that no event can belong to it.
    pub(super) is_listening: bool,
    /// Whether the server is told when the request is given up. It must not be told about
    /// `initialize`, and would not understand it about `server/discover`.
    pub(super) tells_cancel: bool,
}

impl Connection {
    /// Starts or reaches a server and agrees with it on a version.
    pub async fn connect(
        transport: TransportConfig,
        options: ClientOptions,
        events: Arc<dyn Events>,
    ) -> Result<Self, ClientError> {
        let is_http = transport.is_http();
        let (link, negotiated) = handshake::connect(&transport, &options, events)
            .await
            .map_err(|error| secrets::hide_in(&secrets::of(&transport), error))?;
        link.transport.established(negotiated.version);
        let envelope = match negotiated.version.era() {
            Era::Legacy => Vec::new(),
            Era::Modern => envelope(&options, negotiated.version),
        };
        let tasks = CancellationToken::new();
        follow_changes(&link, &negotiated, &envelope, options.resources, tasks.clone());
        let inner = Inner { link, negotiated, envelope, is_http, _tasks: tasks.drop_guard() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The era the connection speaks.
    pub fn era(&self) -> Era {
        self.version().era()
    }

    /// The version the connection speaks.
    pub fn version(&self) -> Version {
        self.inner.negotiated.version
    }

    /// What the server says it is, as it said it.
    pub fn server_info(&self) -> Option<&Raw> {
        self.inner.negotiated.server_info.as_ref()
    }

    /// What the server can do, as it said it.
    pub fn capabilities(&self) -> &Raw {
        &self.inner.negotiated.capabilities
    }

    /// What the server says about its use.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.negotiated.instructions.as_deref()
    }

    /// Whether the server is reached over HTTP rather than being a process of ours.
    pub fn is_http(&self) -> bool {
        self.inner.is_http
    }

    /// The end of what the server's process wrote to stderr; empty if it is no process of ours.
    pub fn stderr(&self) -> String {
        self.inner.link.transport.stderr()
    }

    /// A text that may have words of the server in it, without configured values: for messages and
    /// logs. What a server answers is given to whoever asked as it came.
    pub fn hide(&self, text: &str) -> String {
        self.inner.link.secrets.hide(text)
    }

    /// How much the server sent that is no message.
    pub fn noise(&self) -> u64 {
        self.inner.link.calls.noise()
    }

    /// Asks the server. Dropping the future cancels the request.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Raw>,
        options: RequestOptions,
    ) -> Result<Raw, ClientError> {
        let options = CallOptions { request: options, is_listening: false, tells_cancel: true };
        self.inner.link.call(method, params, &self.inner.envelope, options).await
    }

    /// Tells the server something.
    pub async fn notify(&self, method: &str, params: Option<Raw>) -> Result<(), ClientError> {
        if let Some(reason) = self.inner.link.calls.closed() {
            return Err(ClientError::Closed(reason));
        }
        self.inner.link.notify(method, params).await
    }

    /// Ends the connection in good order; requests under way fail.
    pub async fn close(&self) {
        self.inner.link.calls.close(CloseReason::Closed);
        self.inner.link.transport.close().await;
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.inner.link.calls.closed().is_some()
    }

    /// Waits until the connection ends, and says why.
    pub async fn closed(&self) -> Arc<CloseReason> {
        self.inner.link.calls.wait_closed().await
    }
}

/// Keeps the server telling us of what changes until the connection ends.
fn follow_changes(
    link: &Link,
    negotiated: &Negotiated,
    envelope: &[(String, Raw)],
    resources: watch::Receiver<BTreeSet<String>>,
    stop: CancellationToken,
) {
    let capabilities = negotiated.capabilities.clone();
    let following: BoxFuture<'static, ()> = match negotiated.version.era() {
        Era::Modern => {
            listen::follow(link.clone(), capabilities, envelope.to_vec(), resources).boxed()
        }
        Era::Legacy => subscribe::follow(link.clone(), capabilities, resources).boxed(),
    };
    let calls = link.calls.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            _ = calls.wait_closed() => {}
            () = following => {}
        }
    });
}

/// What every request of the modern era carries in `_meta`.
pub(super) fn envelope(options: &ClientOptions, version: Version) -> Vec<(String, Raw)> {
    vec![
        (meta_key::PROTOCOL_VERSION.to_owned(), raw(version.as_str())),
        (meta_key::CLIENT_INFO.to_owned(), raw(&options.info)),
        (meta_key::CLIENT_CAPABILITIES.to_owned(), options.capabilities.clone()),
    ]
}

// === impl Link ===

impl Link {
    /// Sends a request and waits for its answer, its deadline or its cancellation.
    pub(super) async fn call(
        &self,
        method: &str,
        params: Option<Raw>,
        envelope: &[(String, Raw)],
        options: CallOptions,
    ) -> Result<Raw, ClientError> {
        let CallOptions { request: options, is_listening, tells_cancel } = options;
        let wants_progress = options.progress || options.reset_on_progress;
        let mut call = Given {
            call: self.calls.begin(options.events, is_listening)?,
            transport: &*self.transport,
            tells_cancel,
            is_sent: false,
            reason: "the client no longer waits for the answer",
        };
        let id = call.call.id;
        // Where the era has no envelope, what belongs into one has no meaning.
        let own = options
            .meta
            .iter()
            .filter(|(key, _)| !envelope.is_empty() || !meta_key::ENVELOPE.contains(&key.as_str()));
        let entries = envelope.iter().chain(own);
        let params = params::compose(params, entries, wants_progress.then_some(id))?;
        let request = Request { id: Id::number(id), method: method.to_owned(), params };
        let deadline = Deadline::new(options.timeout, options.max_total, options.reset_on_progress);

        let mut exchange = pin!(self.transport.exchange(id, request));
        let mut is_exchanged = false;
        let mut timer = pin!(tokio::time::sleep_until(deadline.first()));
        call.is_sent = true;
        loop {
            tokio::select! {
                biased;
                outcome = &mut call.call.done => {
                    call.tells_cancel = false;
                    return match outcome {
                        Ok(outcome) => outcome,
                        Err(_) => Err(ClientError::Protocol("the answer was lost".to_owned())),
                    };
                }
                () = options.cancel.cancelled() => {
                    call.reason = "the caller cancelled the request";
                    return Err(ClientError::Cancelled);
                }
                result = &mut exchange, if !is_exchanged => {
                    is_exchanged = true;
                    if let Err(error) = result {
                        call.tells_cancel = false;
                        // The answer that came with the end of the exchange goes before its error.
                        return call.call.done.try_recv().unwrap_or(Err(error));
                    }
                }
                () = &mut timer => match deadline.next(call.call.last_active()) {
                    Some(instant) => timer.as_mut().reset(instant),
                    None => {
                        call.reason = "the client waited as long as it could";
                        return Err(ClientError::Timeout {
                            method: method.to_owned(),
                            after: deadline.limit(),
                        });
                    }
                },
            }
        }
    }

    /// Sends a notification.
    pub(super) async fn notify(
        &self,
        method: &str,
        params: Option<Raw>,
    ) -> Result<(), ClientError> {
        let notification = Notification { method: method.to_owned(), params };
        self.transport.send(Message::Notification(notification)).await
    }
}

/// When a request has waited long enough.
struct Deadline {
    start: Instant,
    timeout: Duration,
    max_total: Option<Duration>,
    resets: bool,
}

impl Deadline {
    /// Stands for the end of time in sums that would overflow.
    const NEVER: Duration = Duration::from_hours(30 * 365 * 24);

    fn new(timeout: Duration, max_total: Option<Duration>, resets: bool) -> Self {
        Self { start: Instant::now(), timeout, max_total, resets }
    }

    fn first(&self) -> Instant {
        self.after(self.start)
    }

    /// The next deadline, if the server worked on the request meanwhile.
    fn next(&self, last_active: Instant) -> Option<Instant> {
        let next = self.after(last_active);
        (self.resets && next > Instant::now()).then_some(next)
    }

    /// The limit that was reached.
    fn limit(&self) -> Duration {
        match self.max_total {
            Some(total) if self.start.elapsed() >= total => total,
            _ => self.timeout,
        }
    }

    fn after(&self, instant: Instant) -> Instant {
        let timeout = instant + self.timeout.min(Self::NEVER);
        match self.max_total {
            Some(total) => timeout.min(self.start + total.min(Self::NEVER)),
            None => timeout,
        }
    }
}

/// A request that was given to a transport; the server is told when it is given up.
struct Given<'a> {
    call: Call,
    transport: &'a dyn Transport,
    tells_cancel: bool,
    is_sent: bool,
    reason: &'static str,
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        if self.is_sent && self.tells_cancel {
            self.transport.cancel(self.call.id, self.reason);
        }
    }
}
