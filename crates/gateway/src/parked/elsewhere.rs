//! Calls that wait on another process than the one their client answers to.
//!
//! The state of a question names the process that holds the call. Whoever is given the answer sends
//! it there through the store, and is sent what comes of it. What the server says before that, other
//! than a question, is told to nobody.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcpgraph_journal::{Journal, JournalError};
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::server::Call;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Hearer, Parking, QUESTIONS, random};
use crate::relay::{self, CLIENT_PATIENCE};
use crate::seal::{self, Bound, STATE};

/// How often it is looked whether the process that holds a call still lives.
const LOOK: Duration = Duration::from_secs(1);

/// The words in the addresses of letters.
const ANSWER: &str = "answer";
const WITHDRAWN: &str = "withdrawn";

/// The store through which processes write to each other. It must not be kept open by this.
pub(super) struct Post {
    journal: Weak<Journal>,
    /// What this process is called.
    pub(super) name: Arc<str>,
}

/// An answer on its way to the process that holds the call.
#[derive(Serialize, Deserialize)]
struct Answer {
    state: String,
    /// What the request is bound to, in short.
    bound: String,
    responses: String,
    refused: Refused,
}

/// What the client cannot be asked, and what a server that does is told.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Refused(HashMap<String, RpcError>);

/// What comes of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Result(Raw),
    Error(RpcError),
}

impl Refused {
    fn of(call: &Call) -> Self {
        let refused = QUESTIONS.iter().filter_map(|method| {
            let error = call.peer.may_ask(method).err()?;
            Some(((*method).to_owned(), error))
        });
        Self(refused.collect())
    }

    pub(super) fn may_ask(&self, method: &str) -> Result<(), RpcError> {
        self.0.get(method).map_or(Ok(()), |error| Err(error.clone()))
    }
}

impl Post {
    pub(super) fn new(journal: &Arc<Journal>) -> Self {
        Self { journal: Arc::downgrade(journal), name: Arc::clone(journal.name()) }
    }

    /// Sends an answer to the process that holds the call; what comes of it.
    pub(super) async fn send(
        &self,
        holder: &str,
        state: &str,
        bound: &Bound,
        responses: &str,
        call: &Call,
    ) -> Result<Raw, RpcError> {
        let id =
            random().ok_or_else(|| RpcError::internal("the system gives no random numbers"))?;
        let answer = Answer {
            state: state.to_owned(),
            bound: bound.name(),
            responses: responses.to_owned(),
            refused: Refused::of(call),
        };
        if !self.lives(holder).await.map_err(away)? {
            return Err(gone());
        }
        let (outcome, journal) = (back(&id), self.journal().map_err(away)?);
        self.leave(&to(holder, ANSWER, &id), &answer).await.map_err(away)?;
        let error = tokio::select! {
            outcome = journal.letter(&outcome) => {
                return match serde_json::from_str(&outcome) {
                    Ok(Outcome::Result(result)) => Ok(result),
                    Ok(Outcome::Error(error)) => Err(error),
                    Err(error) => Err(RpcError::internal(error.to_string())),
                };
            }
            () = self.until_gone(holder) => return Err(gone()),
            () = call.cancel.cancelled() => RpcError::internal("the request was taken back"),
            () = tokio::time::sleep(CLIENT_PATIENCE) => RpcError::internal(format!(
                "the call waits on another replica, which did not end it within {} s",
                CLIENT_PATIENCE.as_secs()
            )),
        };
        if let Err(error) = self.leave(&to(holder, WITHDRAWN, &id), &()).await {
            tracing::debug!(%error, "a call on another replica could not be taken back");
        }
        Err(error)
    }

    fn journal(&self) -> Result<Arc<Journal>, JournalError> {
        let closed = || JournalError::Damaged("the store is closed".to_owned());
        self.journal.upgrade().ok_or_else(closed)
    }

    async fn until_gone(&self, holder: &str) {
        loop {
            tokio::time::sleep(LOOK).await;
            // While the store cannot be asked nobody knows.
            if let Ok(false) = self.lives(holder).await {
                return;
            }
        }
    }

    async fn lives(&self, holder: &str) -> Result<bool, JournalError> {
        let holder = holder.to_owned();
        self.blocking(move |journal| journal.lives(&holder)).await
    }

    async fn leave(&self, address: &str, letter: &impl Serialize) -> Result<(), JournalError> {
        let letter = serde_json::to_string(letter)
            .map_err(|error| JournalError::Damaged(error.to_string()))?;
        let address = address.to_owned();
        self.blocking(move |journal| journal.leave_letter(&address, &letter)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let journal = self.journal()?;
        let done = tokio::task::spawn_blocking(move || body(&journal)).await;
        done.unwrap_or_else(|error| Err(JournalError::Damaged(error.to_string())))
    }
}

/// Goes on with the calls held here whose clients answer to other processes, until the future is
/// dropped.
pub(super) async fn take_answers(parking: Weak<Parking>, journal: Arc<Journal>) {
    let prefix = format!("parked {} ", journal.name());
    let under_way: Arc<Mutex<HashMap<String, CancellationToken>>> = Arc::default();
    loop {
        // In the order of addresses an answer comes before its being taken back.
        for (address, letter) in journal.letters(&prefix).await {
            let Some(parking) = parking.upgrade() else { return };
            match address.strip_prefix(&prefix).and_then(|rest| rest.split_once(' ')) {
                Some((ANSWER, id)) => {
                    let (id, under_way) = (id.to_owned(), Arc::clone(&under_way));
                    let cancel = CancellationToken::new();
                    under_way.lock().insert(id.clone(), cancel.clone());
                    tokio::spawn(async move {
                        parking.answered(&id, &letter, &cancel).await;
                        under_way.lock().remove(&id);
                    });
                }
                Some((WITHDRAWN, id)) => {
                    if let Some(cancel) = under_way.lock().remove(id) {
                        cancel.cancel();
                    }
                }
                _ => {}
            }
        }
    }
}

impl Parking {
    /// Goes on with a call whose client has answered to another process.
    async fn answered(self: &Arc<Self>, id: &str, letter: &str, cancel: &CancellationToken) {
        let Some(post) = self.post.get() else { return };
        let Ok(Answer { state, bound, responses, refused }) = serde_json::from_str(letter) else {
            return;
        };
        let resumed = self.resume(&state, |held| held.name() == bound, &responses);
        let outcome = match resumed {
            Ok((conversation, bound)) => {
                let hearer = Hearer::Elsewhere { refused: &refused, cancel };
                let outcome = self.go_on(conversation, hearer, || Ok(bound.clone())).await;
                outcome.and_then(|outcome| outcome.map_err(|error| relay::as_rpc(&error)))
            }
            Err(error) => Err(error),
        };
        let outcome = outcome.map_or_else(Outcome::Error, Outcome::Result);
        if let Err(error) = post.leave(&back(id), &outcome).await {
            tracing::warn!(%error, "what came of an answer does not reach its client");
        }
    }
}

fn to(holder: &str, what: &str, id: &str) -> String {
    format!("parked {holder} {what} {id}")
}

fn back(id: &str) -> String {
    format!("outcome {id}")
}

fn gone() -> RpcError {
    RpcError::invalid_params(format!(
        "the replica on which the call waited for this answer is gone, and the call with it; call \
         again without `{STATE}`"
    ))
}

fn away(error: JournalError) -> RpcError {
    tracing::debug!(%error, "an answer cannot be sent to the replica that asked");
    RpcError::internal(format!(
        "the call waits on another replica, which cannot be reached: {error}"
    ))
}

/// The process that holds the call of a state.
pub(super) fn holder(state: &str) -> Result<Option<&str>, RpcError> {
    let rest = state.strip_prefix(super::PREFIX).ok_or_else(seal::foreign)?;
    Ok(rest.split_once('.').map(|(_, holder)| holder))
}
