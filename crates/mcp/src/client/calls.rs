//! The requests under way, and where what the server sends belongs.

mod events;
mod ids;
mod too_large;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::ids::{number_of, progress_of};
use super::transport::Transport;
use super::{CallEvent, ClientError, CloseReason, Event, Events, List, limits};
use crate::cancellation;
use crate::message::{Id, Message, Notification, Raw, Request, Response, RpcError, raw};

/// The requests under way on one connection.
///
/// Everything a server sends passes through [`Calls::route`], in the order of its stream, so that
/// the events of a request are in its channel before its answer is released.
pub(super) struct Calls {
    next_id: AtomicU64,
    state: Mutex<State>,
    events: Arc<dyn Events>,
    closed: watch::Sender<Option<Arc<CloseReason>>>,
    /// How many requests of the server may be under way.
    permits: Arc<Semaphore>,
    /// Lines and messages that could not be read.
    noise: AtomicU64,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Pending>,
    /// How many of them are only about notifications, so that no event can belong to them.
    listening: usize,
    /// Requests of the server under way, so that it can take them back.
    asked: HashMap<Id, CancellationToken>,
    closed: Option<Arc<CloseReason>>,
}

struct Pending {
    done: oneshot::Sender<Result<Raw, ClientError>>,
    events: Option<mpsc::Sender<CallEvent>>,
    /// When the server last showed that it works on the request.
    active: Arc<Mutex<Instant>>,
    is_listening: bool,
    /// Its events were not taken in time once; it is not waited for again.
    is_lagging: bool,
}

/// A request under way; forgotten when dropped.
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) done: oneshot::Receiver<Result<Raw, ClientError>>,
    active: Arc<Mutex<Instant>>,
    calls: Arc<Calls>,
}

/// Where to a message belongs that names no request.
enum Owner {
    Call(u64),
    Connection,
}

impl Calls {
    pub(super) fn new(events: Arc<dyn Events>) -> Arc<Self> {
        Arc::new(Self {
            next_id: AtomicU64::new(1),
            state: Mutex::default(),
            events,
            closed: watch::Sender::new(None),
            permits: Arc::new(Semaphore::new(limits::SERVER_REQUESTS)),
            noise: AtomicU64::new(0),
        })
    }

    /// Begins a request.
    pub(super) fn begin(
        self: &Arc<Self>,
        events: Option<mpsc::Sender<CallEvent>>,
        is_listening: bool,
    ) -> Result<Call, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, done) = oneshot::channel();
        let active = Arc::new(Mutex::new(Instant::now()));
        let mut state = self.state.lock();
        if let Some(reason) = &state.closed {
            return Err(ClientError::Closed(reason.clone()));
        }
        if state.pending.len() >= limits::PENDING_REQUESTS {
            return Err(ClientError::Busy { limit: limits::PENDING_REQUESTS });
        }
        state.listening += usize::from(is_listening);
        let active_too = active.clone();
        state.pending.insert(
            id,
            Pending { done: sender, events, active: active_too, is_listening, is_lagging: false },
        );
        drop(state);
        Ok(Call { id, done, active, calls: self.clone() })
    }

    /// Whether the answer to this request is still awaited.
    pub(super) fn is_pending(&self, id: u64) -> bool {
        self.state.lock().pending.contains_key(&id)
    }

    /// Ends the connection: every request under way fails with the reason.
    pub(super) fn close(&self, reason: CloseReason) {
        let reason = Arc::new(reason);
        let pending = {
            let mut state = self.state.lock();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(reason.clone());
            state.listening = 0;
            for (_, token) in state.asked.drain() {
                token.cancel();
            }
            std::mem::take(&mut state.pending)
        };
        for (_, pending) in pending {
            // The caller may have gone meanwhile.
            drop(pending.done.send(Err(ClientError::Closed(reason.clone()))));
        }
        self.closed.send_replace(Some(reason));
    }

    /// Why the connection ended, if it did.
    pub(super) fn closed(&self) -> Option<Arc<CloseReason>> {
        self.state.lock().closed.clone()
    }

    /// Waits until the connection ends.
    pub(super) async fn wait_closed(&self) -> Arc<CloseReason> {
        let mut receiver = self.closed.subscribe();
        match receiver.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_else(|| Arc::new(CloseReason::Closed)),
            Err(_) => Arc::new(CloseReason::Closed),
        }
    }

    /// Counts something that is no message.
    pub(super) fn count_noise(&self) {
        let count = self.noise.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::debug!(count, "ignored output of a server that is no message");
        }
    }

    /// How much was received that is no message.
    pub(super) fn noise(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    /// Takes a text that holds one message, or several as an array, and routes what it holds.
    pub(super) async fn route_text(
        self: &Arc<Self>,
        text: &[u8],
        origin: Option<u64>,
        transport: &Arc<dyn Transport>,
    ) {
        if text.trim_ascii_start().first() != Some(&b'[') {
            match Message::from_json(text) {
                Ok(message) => self.route(message, origin, transport).await,
                Err(_) => self.count_noise(),
            }
            return;
        }
        // The revision of 2025-03-26 allows batches.
        let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(text) else {
            self.count_noise();
            return;
        };
        for item in batch {
            match Message::from_json(item.get().as_bytes()) {
                Ok(message) => self.route(message, origin, transport).await,
                Err(_) => self.count_noise(),
            }
        }
    }

    /// Takes one message to where it belongs. `origin` is the request on whose own stream it came.
    pub(super) async fn route(
        self: &Arc<Self>,
        message: Message,
        origin: Option<u64>,
        transport: &Arc<dyn Transport>,
    ) {
        match message {
            Message::Response(response) => self.answer(response, origin),
            Message::Notification(notification) => self.notified(notification, origin).await,
            Message::Request(request) => self.asked(request, origin, transport).await,
        }
    }

    /// Releases an answer. One that nobody waits for, because it comes too late, is ignored.
    fn answer(&self, response: Response, origin: Option<u64>) {
        let id = match &response.id {
            Some(id) => number_of(id.as_json()),
            // The server could not read the request well enough to know its id.
            None => match self.owner(origin) {
                Owner::Call(id) => Some(id),
                Owner::Connection => None,
            },
        };
        match id.and_then(|id| self.take(id)) {
            Some(pending) => {
                drop(pending.done.send(response.outcome.map_err(ClientError::Rpc)));
            }
            None => tracing::trace!("ignored an answer that nobody waits for"),
        }
    }

    fn take(&self, id: u64) -> Option<Pending> {
        let mut state = self.state.lock();
        let pending = state.pending.remove(&id)?;
        state.listening -= usize::from(pending.is_listening);
        Some(pending)
    }

    /// Which request a message belongs to that names none: the one on whose stream it came, or
    /// the only one under way.
    fn owner(&self, origin: Option<u64>) -> Owner {
        let state = self.state.lock();
        if let Some(id) = origin {
            return match state.pending.get(&id) {
                Some(pending) if !pending.is_listening => Owner::Call(id),
                _ => Owner::Connection,
            };
        }
        if state.pending.len() - state.listening != 1 {
            return Owner::Connection;
        }
        state
            .pending
            .iter()
            .find(|(_, pending)| !pending.is_listening)
            .map_or(Owner::Connection, |(id, _)| Owner::Call(*id))
    }

    /// Whom a server asks: the request on whose stream it does, or the only one under way that can
    /// be asked at all. A list that is fetched meanwhile cannot.
    fn hearer(&self, origin: Option<u64>) -> Owner {
        if origin.is_some() {
            return self.owner(origin);
        }
        let state = self.state.lock();
        let mut hearers = state
            .pending
            .iter()
            .filter(|(_, pending)| !pending.is_listening && pending.events.is_some());
        match (hearers.next(), hearers.next()) {
            (Some((id, _)), None) => Owner::Call(*id),
            _ => Owner::Connection,
        }
    }

    async fn notified(&self, notification: Notification, origin: Option<u64>) {
        let Notification { method, params } = notification;
        match (method.as_str(), params) {
            ("notifications/progress", Some(params)) => {
                // Progress that names no request under way comes too late or is a lie.
                if let Some(id) = progress_of(&params) {
                    self.touch(id);
                    drop(self.deliver(id, CallEvent::Progress(params)).await);
                }
            }
            ("notifications/message", Some(params)) => match self.owner(origin) {
                Owner::Call(id) => {
                    if let Err(Some(CallEvent::Log(params))) =
                        self.deliver(id, CallEvent::Log(params)).await
                    {
                        self.events.event(Event::Log(params));
                    }
                }
                Owner::Connection => self.events.event(Event::Log(params)),
            },
            (cancellation::METHOD, Some(params)) => self.taken_back(&params),
            ("notifications/tools/list_changed", _) => self.list_changed(List::Tools),
            ("notifications/resources/list_changed", _) => self.list_changed(List::Resources),
            ("notifications/prompts/list_changed", _) => self.list_changed(List::Prompts),
            ("notifications/resources/updated", Some(params)) => {
                self.events.event(Event::ResourceUpdated(params));
            }
            (_, params) => self.events.event(Event::Other { method, params }),
        }
    }

    fn list_changed(&self, list: List) {
        self.events.event(Event::ListChanged(list));
    }

    /// Notes that the server works on a request.
    fn touch(&self, id: u64) {
        if let Some(pending) = self.state.lock().pending.get(&id) {
            *pending.active.lock() = Instant::now();
        }
    }

    /// Puts an event into the channel of its request. The event comes back if the request wants
    /// none; it is lost if the request's channel stays full.
    async fn deliver(&self, id: u64, event: CallEvent) -> Result<(), Option<CallEvent>> {
        let (sender, is_lagging) = {
            let state = self.state.lock();
            match state.pending.get(&id) {
                Some(Pending { events: Some(sender), is_lagging, .. }) => {
                    (sender.clone(), *is_lagging)
                }
                _ => return Err(Some(event)),
            }
        };
        let event = match sender.try_send(event) {
            Ok(()) => return Ok(()),
            Err(mpsc::error::TrySendError::Closed(event)) => return Err(Some(event)),
            Err(mpsc::error::TrySendError::Full(event)) => event,
        };
        if !is_lagging {
            let sent = tokio::time::timeout(limits::EVENT_PATIENCE, sender.send(event)).await;
            if let Ok(sent) = sent {
                return sent.map_err(|error| Some(error.0));
            }
            tracing::warn!("events of a request are not taken; dropping those that do not fit");
            if let Some(pending) = self.state.lock().pending.get_mut(&id) {
                pending.is_lagging = true;
            }
        }
        Err(None)
    }

    /// Lets the owner of the connection or of a request answer what the server asks.
    async fn asked(
        self: &Arc<Self>,
        request: Request,
        origin: Option<u64>,
        transport: &Arc<dyn Transport>,
    ) {
        let Request { id, method, params } = request;
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            tracing::warn!(
                limit = limits::SERVER_REQUESTS,
                "a server asks more at once than is answered; the request is ignored"
            );
            return;
        };
        let token = CancellationToken::new();
        self.state.lock().asked.insert(id.clone(), token.clone());
        let waiting = self.hand_over(method, params, origin).await;
        let calls = self.clone();
        let transport = transport.clone();
        tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                () = token.cancelled() => None,
                outcome = calls.outcome(waiting) => Some(outcome),
            };
            calls.state.lock().asked.remove(&id);
            if let Some(outcome) = outcome {
                let response = Message::Response(Response { id: Some(id), outcome });
                if let Err(error) = transport.send(response).await {
                    tracing::debug!(%error, "could not answer a request of the server");
                }
            }
            drop(permit);
        });
    }

    /// Decides who answers a request of the server, and hands it over in the order of the wire.
    async fn hand_over(&self, method: String, params: Option<Raw>, origin: Option<u64>) -> Waiting {
        if method == "ping" {
            return Waiting::Known(Ok(raw(&serde_json::Map::new())));
        }
        let Owner::Call(id) = self.hearer(origin) else {
            return Waiting::Connection { method, params };
        };
        let (reply, answer) = oneshot::channel();
        match self.deliver(id, CallEvent::ServerRequest { method, params, reply }).await {
            Ok(()) => Waiting::Call(answer),
            Err(Some(CallEvent::ServerRequest { method, params, .. })) => {
                Waiting::Connection { method, params }
            }
            Err(_) => Waiting::Known(Err(RpcError::internal("the client is too busy to answer"))),
        }
    }

    async fn outcome(&self, waiting: Waiting) -> Result<Raw, RpcError> {
        match waiting {
            Waiting::Known(outcome) => outcome,
            Waiting::Call(answer) => answer
                .await
                .unwrap_or_else(|_| Err(RpcError::internal("the client did not answer"))),
            Waiting::Connection { method, params } => self.events.request(&method, params).await,
        }
    }

    /// The server takes back a request of its own.
    fn taken_back(&self, params: &RawValue) {
        if let Some(id) = cancellation::id_in(Some(params))
            && let Some(token) = self.state.lock().asked.remove(&id)
        {
            token.cancel();
        }
    }
}

/// Who answers a request of the server.
enum Waiting {
    Known(Result<Raw, RpcError>),
    Call(oneshot::Receiver<Result<Raw, RpcError>>),
    Connection { method: String, params: Option<Raw> },
}

// === impl Call ===

impl Call {
    /// When the server last showed that it works on the request.
    pub(super) fn last_active(&self) -> Instant {
        *self.active.lock()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        drop(self.calls.take(self.id));
    }
}

#[cfg(test)]
mod tests;
