//! Calls that are under way: each is noted before it is made, and what came of it afterwards.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;

use mcpgraph_engine::{ErrorKind, RunError, StepId};
use mcpgraph_journal::RunId;
use mcpgraph_sop::{Answer, Permit};
use mcpgraph_value::Value;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinError;

use crate::{Conversation, Key, Procedures};

/// How many calls that have ended may be noted at once. Of those that were given up, more than
/// these stay open in the record until the walk ends.
pub(crate) const MAX_NOTING: usize = 256;

/// A call that its walk knows of. What came of it is noted also when nobody waits for it any more.
pub(crate) struct Noted {
    procedures: Weak<Procedures>,
    /// None once somebody notes what came of it.
    call: Option<Noting>,
}

/// What is to be noted, and where.
struct Noting {
    key: Key,
    /// The conversation may walk another procedure by then.
    run: RunId,
    permit: Permit,
    /// The step of the record; none if the walk had not begun.
    step: Option<StepId>,
    came: Came,
}

/// What came of a call.
#[derive(Clone)]
pub(crate) struct Came {
    /// For the walk; none if nobody knows.
    pub(crate) answer: Option<Answer>,
    /// For the record.
    pub(crate) output: Result<Value, RunError>,
}

impl Came {
    /// Nobody knows.
    pub(crate) fn unanswered() -> Self {
        Self { answer: None, output: Err(unanswered()) }
    }
}

/// Why a call has no output that anybody knows of.
pub(crate) fn unanswered() -> RunError {
    let message = "no answer is known: the call was cancelled, or the walk ended before it came";
    RunError::new(ErrorKind::OutcomeUnknown, message)
}

impl Noted {
    pub(crate) fn new(
        procedures: &Arc<Procedures>,
        key: Key,
        run: RunId,
        permit: Permit,
        step: Option<StepId>,
    ) -> Self {
        let call = Noting { key, run, permit, step, came: Came::unanswered() };
        Self { procedures: Arc::downgrade(procedures), call: Some(call) }
    }

    /// Notes what came of the call.
    pub(crate) async fn answered(mut self, came: Came) {
        let Some(procedures) = self.procedures.upgrade() else { return };
        if let Some(call) = &mut self.call {
            call.came = came;
        }
        let Ok(place) = Arc::clone(&procedures.noting).acquire_owned().await else { return };
        let Some(call) = self.call.take() else { return };
        if let Err(error) = to_its_end(procedures.conclude(call, place)).await {
            tracing::warn!(%error, "what came of a call is not noted");
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        // Where nothing can go on, the process ends, and with it the walk or what it knows of it.
        let (Some(procedures), Ok(runtime)) = (self.procedures.upgrade(), Handle::try_current())
        else {
            return;
        };
        match Arc::clone(&procedures.noting).try_acquire_owned() {
            Ok(place) => drop(runtime.spawn(procedures.conclude(call, place))),
            Err(_) => {
                let run = call.run;
                tracing::warn!(%run, "what came of a call is not noted: {MAX_NOTING} end at once");
            }
        }
    }
}

/// Begins something at once, in the order of the requests, and does all of it, also when whoever
/// waits for it goes away.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let mut work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => tokio::spawn(work).await,
    }
}

impl Procedures {
    /// Notes what came of a call. Others get its place when that is done.
    async fn conclude(self: Arc<Self>, call: Noting, _place: OwnedSemaphorePermit) {
        let Noting { key, run, permit, step, came } = call;
        let noted = self.with(&key, |Conversation { walk, trail }| {
            if trail.run != run {
                return;
            }
            if let Some(answer) = came.answer.clone() {
                walk.answered(permit, answer);
            }
            if let Some(step) = step {
                trail.answered(step, came.output.clone());
            }
        });
        if noted.await.is_err() {
            tracing::warn!(%run, "what a tool gave is not known to its walk");
        }
    }
}

#[cfg(test)]
mod tests;
