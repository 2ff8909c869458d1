//! What a legacy session keeps between its messages.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::broadcast::Subscriber;
use super::client::{Client, LogLevel};
use super::saved::{SavedSession, SessionStore};
use crate::message::{Id, Message, Raw, Response, RpcError};

/// How many bits count the questions of one process; those above tell processes apart. Together they
/// fit into what every JSON reader takes for a whole number.
const ID_BITS: u32 = 20;

/// A legacy session: one stdio connection after `initialize`, or one `Mcp-Session-Id`.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    /// The changes this session has to be told of.
    pub(crate) changes: Arc<Subscriber>,
    max_awaited: usize,
    /// Where other processes find it, if they serve it too.
    saved: Option<Arc<dyn SessionStore>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    log_level: Option<LogLevel>,
    next_id: u64,
    /// Requests sent to the client that it has not answered.
    awaited: HashMap<Id, oneshot::Sender<Result<Raw, RpcError>>>,
}

/// An answer that the client owes. Dropping it means that it is no longer wanted.
pub(crate) struct Answer {
    id: Id,
    session: Arc<Session>,
    outcome: oneshot::Receiver<Result<Raw, RpcError>>,
    /// Waits for an answer that came to another process.
    elsewhere: Option<AbortOnDropHandle<()>>,
}

impl Session {
    pub(crate) fn new(client: Arc<Client>, changes: Arc<Subscriber>, max_awaited: usize) -> Self {
        Self { client, changes, max_awaited, saved: None, state: Mutex::default() }
    }

    /// The same session, which other processes serve too.
    pub(crate) fn saved_in(mut self, store: Arc<dyn SessionStore>) -> Self {
        // Each process asks the client something, and no two of them with the same id.
        let mut bytes = [0; 4];
        if getrandom::fill(&mut bytes).is_ok() {
            self.state.get_mut().next_id = u64::from(u32::from_be_bytes(bytes)) << ID_BITS;
        }
        self.saved = Some(store);
        self
    }

    /// Takes over what another process kept of it.
    pub(crate) fn take_over(&self, saved: &SavedSession) {
        self.state.lock().log_level = saved.log_level();
        self.changes.set_watched(saved.watched());
    }

    /// Has other processes see a change of it too.
    pub(crate) async fn save(&self, mut change: impl FnMut(&mut SavedSession) + Send) {
        if let (Some(store), Some(key)) = (&self.saved, &self.client.session)
            && let Err(error) = store.change(key.as_str(), &mut change).await
        {
            tracing::warn!(%error, "a session is different in other processes");
        }
    }

    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        self.state.lock().log_level
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.state.lock().log_level = Some(level);
    }

    /// A fresh id for a request to the client, and the place where its answer will be.
    pub(crate) fn expect_answer(self: &Arc<Self>) -> Result<(Id, Answer), RpcError> {
        let (sender, outcome) = oneshot::channel();
        let mut state = self.state.lock();
        if state.awaited.len() >= self.max_awaited {
            return Err(RpcError::internal(format!(
                "the client owes too many answers: the limit is {}",
                self.max_awaited
            )));
        }
        state.next_id += 1;
        let id = Id::number(state.next_id);
        state.awaited.insert(id.clone(), sender);
        drop(state);
        let elsewhere = self.saved.clone().map(|store| {
            let (session, id) = (Arc::downgrade(self), id.clone());
            AbortOnDropHandle::new(tokio::spawn(async move {
                let key = session.upgrade().and_then(|session| session.client.session.clone());
                let Some(key) = key else { return };
                let answer = store.answered(key.as_str(), id.as_json()).await;
                let answer = Message::from_json(answer.as_bytes());
                if let (Ok(Message::Response(answer)), Some(session)) = (answer, session.upgrade())
                {
                    session.answered(answer);
                }
            }))
        });
        Ok((id.clone(), Answer { id, session: self.clone(), outcome, elsewhere }))
    }

    /// Hands an answer of the client to whom it is for. One that nobody awaits is given back: it may
    /// have come too late, or be for another process.
    pub(crate) fn answered(&self, response: Response) -> Option<Response> {
        let waiting = response.id.as_ref().and_then(|id| self.state.lock().awaited.remove(id));
        let Some(waiting) = waiting else { return Some(response) };
        // The asker may have given up in this moment.
        drop(waiting.send(response.outcome));
        None
    }

    /// The same, also for what another process asked.
    pub(crate) async fn answered_anywhere(&self, response: Response) {
        if let Some(response) = self.answered(response)
            && let (Some(store), Some(key)) = (&self.saved, &self.client.session)
            && let Some(id) = response.id.clone()
        {
            let answer = Message::Response(response).to_json();
            store.answer(key.as_str(), id.as_json(), &answer).await;
        }
    }

    /// Lets everyone who waits for the client know that it is gone.
    pub(crate) fn abandon(&self) {
        self.state.lock().awaited.clear();
    }
}

impl Answer {
    /// The answer, whichever process it came to; none if the client is gone.
    pub(crate) async fn wait(mut self) -> Option<Result<Raw, RpcError>> {
        (&mut self.outcome).await.ok()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        drop(self.elsewhere.take());
        self.session.state.lock().awaited.remove(&self.id);
    }
}
