//! What a legacy session keeps between its messages.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::broadcast::Subscriber;
use super::client::{Client, LogLevel};
use crate::message::{Id, Raw, Response, RpcError};

/// A legacy session: one stdio connection after `initialize`, or one `Mcp-Session-Id`.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    /// The changes this session has to be told of.
    pub(crate) changes: Arc<Subscriber>,
    max_awaited: usize,
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
}

impl Session {
    pub(crate) fn new(client: Arc<Client>, changes: Arc<Subscriber>, max_awaited: usize) -> Self {
        Self { client, changes, max_awaited, state: Mutex::default() }
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
        Ok((id.clone(), Answer { id, session: self.clone(), outcome }))
    }

    /// Hands an answer of the client to whom it is for. One that nobody awaits is ignored: it may
    /// have come too late.
    pub(crate) fn answered(&self, response: Response) {
        let Some(id) = response.id else { return };
        let waiting = self.state.lock().awaited.remove(&id);
        if let Some(waiting) = waiting {
            // The asker may have given up in this moment.
            drop(waiting.send(response.outcome));
        }
    }

    /// Lets everyone who waits for the client know that it is gone.
    pub(crate) fn abandon(&self) {
        self.state.lock().awaited.clear();
    }
}

impl Answer {
    /// The answer; none if the client is gone.
    pub(crate) async fn wait(mut self) -> Option<Result<Raw, RpcError>> {
        (&mut self.outcome).await.ok()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.session.state.lock().awaited.remove(&self.id);
    }
}
