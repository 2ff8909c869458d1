//! The requests a client has under way.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::message::{Id, RpcError, code};

/// The requests under way on one connection or in one session.
#[derive(Debug)]
pub(crate) struct InFlight {
    limit: usize,
    free: Arc<Semaphore>,
    /// Fires when the connection or session ends.
    alive: CancellationToken,
    calls: Mutex<HashMap<Id, Wanted>>,
}

/// Whether the answer to a request is still wanted, and when it may be sent.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Fires when the work shall end: withdrawn, disconnected or shut down.
    pub(crate) cancel: CancellationToken,
    state: Arc<State>,
}

/// What decides over an answer.
#[derive(Default)]
struct State {
    withdrawn: AtomicBool,
    /// What it has to wait for.
    after: Mutex<Option<BoxFuture<'static, ()>>>,
}

/// A request's place among those under way.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) wanted: Wanted,
    /// Where the id is taken, if anywhere.
    entry: Option<(Arc<InFlight>, Id)>,
    permit: Option<OwnedSemaphorePermit>,
}

impl InFlight {
    pub(crate) fn new(limit: usize, alive: CancellationToken) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(limit));
        Arc::new(Self { limit, free, alive, calls: Mutex::default() })
    }

    /// Takes a request in, unless there are too many or its id is in use.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id) -> Result<Slot, RpcError> {
        let mut slot = self.enter(id)?;
        if slot.take_place() { Ok(slot) } else { Err(too_many(self.limit)) }
    }

    /// Takes a request in that has no place yet, unless its id is in use.
    pub(crate) fn enter(self: &Arc<Self>, id: &Id) -> Result<Slot, RpcError> {
        let wanted = Wanted::until(&self.alive);
        let mut calls = self.calls.lock();
        if calls.contains_key(id) {
            return Err(RpcError::new(
                code::INVALID_REQUEST,
                format!("a request with the id {id} is already under way"),
            ));
        }
        calls.insert(id.clone(), wanted.clone());
        Ok(Slot { wanted, entry: Some((self.clone(), id.clone())), permit: None })
    }

    /// The client no longer wants an answer. False for a request that is not there: it may have been
    /// answered.
    pub(crate) fn withdraw(&self, id: &Id) -> bool {
        let wanted = self.calls.lock().get(id).cloned();
        let Some(wanted) = wanted else { return false };
        wanted.state.withdrawn.store(true, Ordering::Release);
        wanted.cancel.cancel();
        true
    }

    /// Ends everything under way.
    pub(crate) fn end(&self) {
        self.alive.cancel();
    }

    /// Fires when everything under way shall end.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.alive.clone()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.free.available_permits() == self.limit
    }

    /// Waits until nothing is under way.
    pub(crate) async fn idle(&self) {
        let all = u32::try_from(self.limit).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        drop(self.free.acquire_many(all).await);
    }
}

/// The error for one request more than the limit allows.
pub(crate) fn too_many(limit: usize) -> RpcError {
    RpcError::unavailable(format!("too many requests are under way: the limit is {limit}"))
}

impl Wanted {
    /// Wanted for as long as `alive` does not fire.
    pub(crate) fn until(alive: &CancellationToken) -> Self {
        Self { cancel: alive.child_token(), state: Arc::default() }
    }

    /// The answer is not sent before this is over.
    pub(crate) fn after(&self, over: BoxFuture<'static, ()>) {
        let mut after = self.state.after.lock();
        *after = Some(match after.take() {
            Some(before) => before.then(|()| over).boxed(),
            None => over,
        });
    }

    /// What the answer has to wait for, if there is something.
    pub(crate) fn take_after(&self) -> Option<BoxFuture<'static, ()>> {
        mem::take(&mut *self.state.after.lock())
    }

    /// Whether the client said that it wants no answer.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.state.withdrawn.load(Ordering::Acquire)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = self.after.lock().is_some();
        f.debug_struct("State").field("withdrawn", &self.withdrawn).field("waits", &waits).finish()
    }
}

impl Slot {
    /// The place of a request whose id means nothing to any other.
    pub(crate) fn alone(wanted: Wanted, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { wanted, entry: None, permit }
    }

    /// Takes a place among those under way. False if there is none.
    pub(crate) fn take_place(&mut self) -> bool {
        if let Some((table, _)) = &self.entry {
            self.permit = table.free.clone().try_acquire_owned().ok();
        }
        self.permit.is_some()
    }

    /// Waits for a place among those under way. False if the request shall end before there is one.
    pub(crate) async fn wait_for_place(&mut self) -> bool {
        let Some((table, _)) = &self.entry else { return true };
        let free = table.free.clone();
        tokio::select! {
            biased;
            () = self.wanted.cancel.cancelled() => false,
            permit = free.acquire_owned() => {
                self.permit = permit.ok();
                true
            }
        }
    }

    /// Frees the id, right before the answer is sent: a client may use it again as soon as it has
    /// the answer. The place itself is taken until the answer is on its way.
    pub(crate) fn free_id(&mut self) {
        if let Some((table, id)) = self.entry.take() {
            table.calls.lock().remove(&id);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.free_id();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_places_are_limited() {
        let table = InFlight::new(2, CancellationToken::new());
        let mut first = table.begin(&Id::number(1)).unwrap();
        assert_eq!(table.begin(&Id::number(1)).unwrap_err().code, code::INVALID_REQUEST);
        let _second = table.begin(&Id::string("1")).unwrap();
        let refused = table.begin(&Id::number(3)).unwrap_err();
        assert!(refused.message.contains("the limit is 2"), "{refused}");
        first.free_id();
        assert!(table.begin(&Id::number(3)).is_err(), "the place is not free yet");
        drop(first);
        drop(table.begin(&Id::number(1)).unwrap());
        assert!(!table.is_idle());
    }

    #[test]
    fn withdrawing_is_not_ending() {
        let table = InFlight::new(9, CancellationToken::new());
        let first = table.begin(&Id::number(1)).unwrap();
        let second = table.begin(&Id::number(2)).unwrap();
        table.withdraw(&Id::number(1));
        table.withdraw(&Id::number(7));
        assert!(first.wanted.is_withdrawn() && first.wanted.cancel.is_cancelled());
        assert!(!second.wanted.cancel.is_cancelled());
        table.end();
        assert!(second.wanted.cancel.is_cancelled() && !second.wanted.is_withdrawn());
    }
}
