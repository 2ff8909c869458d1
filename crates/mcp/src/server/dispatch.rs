//! What the protocol says about every request, whatever it came over.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::broadcast::Broadcaster;
use super::client::{Client, LogLevel, Meta, SessionKey};
use super::handshake;
use super::in_flight::{Slot, Wanted};
use super::limits::Limits;
use super::outlet::{Answer, Outlet};
use super::paging;
use super::peer::{CallPeer, Outgoing};
use super::saved::{SavedSession, SessionStore};
use super::service::{Call, Service};
use super::session::Session;
use super::shape;
use crate::message::{Id, Raw, Request, Response, RpcError, code, raw};
use crate::subscription::Filter;
use crate::version::Era;

/// How many messages of one call wait to be put on the way to the client.
const CALL_QUEUE: usize = 8;

/// A service with what all its transports share. It is cheap to clone.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    service: Arc<dyn Service>,
    broadcaster: Broadcaster,
    limits: Limits,
    shutdown: CancellationToken,
    listeners: Semaphore,
}

/// A request whose sender is known: it may run.
pub(crate) struct Admitted {
    pub(crate) request: Request,
    pub(crate) meta: Meta,
    pub(crate) client: Arc<Client>,
    pub(crate) session: Option<Arc<Session>>,
}

impl Server {
    /// A server of `service` that ends when `shutdown` fires.
    pub fn new(
        service: Arc<dyn Service>,
        broadcaster: Broadcaster,
        limits: Limits,
        shutdown: CancellationToken,
    ) -> Self {
        let listeners = Semaphore::new(limits.max_listeners);
        Self(Arc::new(Inner { service, broadcaster, limits, shutdown, listeners }))
    }

    /// The limits it keeps.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Fires when the server shall end.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }

    pub(crate) fn service(&self) -> &dyn Service {
        &*self.0.service
    }

    /// Opens a legacy session: the answer to `initialize`.
    pub(crate) async fn initialize(
        &self,
        params: Option<&RawValue>,
        principal: Option<Arc<str>>,
        store: Option<&Arc<dyn SessionStore>>,
    ) -> Result<(Arc<Session>, Raw), RpcError> {
        let key = SessionKey::random()
            .ok_or_else(|| RpcError::internal("the system gives no random numbers"))?;
        let client = handshake::legacy_client(params, key)?;
        let client = Arc::new(Client { principal, ..client });
        let description = self.service().describe(&client).await;
        let result = handshake::initialize_result(&client, &description, &self.service().info());
        Ok((self.session(client, store), result))
    }

    /// A session of this process with a client.
    fn session(&self, client: Arc<Client>, store: Option<&Arc<dyn SessionStore>>) -> Arc<Session> {
        let changes = self.0.broadcaster.subscribe(Filter::lists(), Arc::clone(&client));
        let session = Session::new(client, changes, self.limits().max_in_flight);
        Arc::new(match store {
            Some(store) => session.saved_in(Arc::clone(store)),
            None => session,
        })
    }

    /// A session that another process began.
    pub(crate) fn restore(
        &self,
        key: &str,
        saved: &SavedSession,
        store: &Arc<dyn SessionStore>,
    ) -> Arc<Session> {
        let client = Arc::new(saved.client(SessionKey::known(key)));
        let session = self.session(client, Some(store));
        session.take_over(saved);
        session
    }

    /// Finds out who sends a request: itself in the modern era, its session in the legacy one.
    pub(crate) fn admit(
        request: Request,
        meta: Meta,
        session: Option<&Arc<Session>>,
        principal: Option<Arc<str>>,
    ) -> Result<Admitted, (Id, RpcError)> {
        let (client, session) = match session {
            Some(session) if !handshake::is_modern(&request, &meta) => {
                (session.client.clone(), Some(session.clone()))
            }
            _ => match handshake::modern_client(&meta) {
                Ok(client) => (Arc::new(Client { principal, ..client }), None),
                Err(error) => return Err((request.id, error)),
            },
        };
        Ok(Admitted { request, meta, client, session })
    }

    /// Runs a request to its end: its messages and then its answer go to `outlet`.
    pub(crate) async fn run(&self, admitted: Admitted, slot: Slot, outlet: &dyn Outlet) {
        let id = admitted.request.id.clone();
        let outcome = self.outcome(admitted, &slot.wanted, outlet).await;
        let response = Response { id: Some(id), outcome };
        outlet.answer(Answer { slot, response }).await;
    }

    async fn outcome(
        &self,
        admitted: Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        let method = admitted.request.method.clone();
        let version = admitted.client.version;
        let outcome = match (version.era(), method.as_str()) {
            (Era::Legacy, "ping") => Ok(raw(&serde_json::json!({}))),
            (Era::Legacy, "initialize") => {
                Err(RpcError::new(code::INVALID_REQUEST, "this session is initialized already"))
            }
            (Era::Legacy, "subscriptions/listen") => Err(RpcError::method_not_found(&method)),
            (Era::Modern, "server/discover") => {
                let description = self.service().describe(&admitted.client).await;
                Ok(handshake::discover_result(&description))
            }
            (Era::Modern, "subscriptions/listen") => self.listen(&admitted, wanted, outlet).await,
            // What a session was needed for.
            (
                Era::Modern,
                "initialize"
                | "ping"
                | "logging/setLevel"
                | "resources/subscribe"
                | "resources/unsubscribe",
            ) => Err(RpcError::method_not_found(&method)),
            (Era::Legacy, "logging/setLevel") => self.set_log_level(admitted, wanted, outlet).await,
            (Era::Legacy, "resources/subscribe" | "resources/unsubscribe") => {
                self.watch_resource(admitted, wanted, outlet).await
            }
            _ => match paging::refuse_cursor(&admitted.request) {
                Ok(()) => self.call(admitted, wanted, outlet).await,
                Err(error) => Err(error),
            },
        };
        shape::for_client(version, &method, outcome, &self.service().info())
    }

    /// Lets the service answer, and passes on what it sends meanwhile.
    async fn call(
        &self,
        admitted: Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        let Admitted { request, meta, client, session } = admitted;
        let cancel = wanted.cancel.clone();
        let (queue, mut messages) = mpsc::channel(CALL_QUEUE);
        let peer = CallPeer::new(queue, client.clone(), session, wanted.clone(), &meta);
        let Request { id, method, params } = request;
        let extensions = http::Extensions::new();
        let call = Call { id, method, params, meta, client, cancel, peer, extensions };
        let outcome = {
            let work = AssertUnwindSafe(self.service().call(call)).catch_unwind();
            let mut work = std::pin::pin!(work);
            let mut too_late = std::pin::pin!(self.too_late(wanted));
            loop {
                tokio::select! {
                    biased;
                    Some(message) = messages.recv() => forward(message, outlet).await,
                    done = &mut work => {
                        break done.unwrap_or_else(|_| {
                            Err(RpcError::internal("the server failed; its log says why"))
                        });
                    }
                    () = &mut too_late => break Err(RpcError::internal("the call was cancelled")),
                }
            }
        };
        // What was sent before the end goes before the answer; after it nothing can be sent.
        messages.close();
        while let Some(message) = messages.recv().await {
            forward(message, outlet).await;
        }
        outcome
    }

    /// Ends when a cancelled call has had the time it is given to end by itself.
    async fn too_late(&self, wanted: &Wanted) {
        wanted.cancel.cancelled().await;
        tokio::time::sleep(self.limits().cancel_grace).await;
    }

    /// `logging/setLevel`: the level is the session's as soon as the service agrees.
    async fn set_log_level(
        &self,
        admitted: Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            level: LogLevel,
        }
        let Params { level } = params(&admitted.request)?;
        let session = admitted.session.clone();
        let result = self.call(admitted, wanted, outlet).await?;
        if let Some(session) = session {
            session.set_log_level(level);
            session.save(|saved| saved.set_log_level(level)).await;
        }
        Ok(result)
    }

    /// `resources/subscribe` and its opposite: the session watches what the service agrees to.
    async fn watch_resource(
        &self,
        admitted: Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            uri: String,
        }
        let Params { uri } = params(&admitted.request)?;
        let session = admitted.session.clone();
        let begins = admitted.request.method == "resources/subscribe";
        let limit = self.limits().max_watched_resources;
        // Watching begins before the service is asked: no change in between is missed.
        if begins && session.as_ref().is_some_and(|session| !session.changes.watch(&uri, limit)) {
            return Err(too_many_resources(limit));
        }
        let outcome = self.call(admitted, wanted, outlet).await;
        if let Some(session) = session {
            if begins == outcome.is_err() {
                session.changes.unwatch(&uri);
            }
            if outcome.is_ok() {
                session.save(|saved| saved.watch(&uri, begins)).await;
            }
        }
        outcome
    }

    pub(super) fn broadcaster(&self) -> &Broadcaster {
        &self.0.broadcaster
    }

    pub(super) fn listeners(&self) -> &Semaphore {
        &self.0.listeners
    }
}

/// The error for one watched resource more than the limit allows.
pub(super) fn too_many_resources(limit: usize) -> RpcError {
    RpcError::invalid_params(format!("too many resources are watched: the limit is {limit}"))
}

/// Reads a request's parameters.
pub(super) fn params<'a, T: Deserialize<'a>>(request: &'a Request) -> Result<T, RpcError> {
    let params = request.params.as_deref().map_or("{}", RawValue::get);
    serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(format!("`{}`: {error}", request.method)))
}

async fn forward(outgoing: Outgoing, outlet: &dyn Outlet) {
    match outgoing {
        Outgoing::Message(message) => outlet.send(*message).await,
        Outgoing::Pause(retry) => outlet.pause(retry).await,
    }
}
