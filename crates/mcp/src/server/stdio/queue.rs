//! Requests that wait for a place among those under way.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::message::{Request, RpcError};
use crate::server::limits::Limits;

/// How many requests may wait, and how much of them.
pub(super) struct Queue {
    max_in_flight: usize,
    max_requests: usize,
    max_bytes: usize,
    requests: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
}

/// A request that waits, until this is dropped.
pub(super) struct Ticket {
    _request: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

impl Queue {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            max_in_flight: limits.max_in_flight,
            max_requests: limits.max_waiting,
            max_bytes: limits.max_waiting_bytes,
            requests: Arc::new(Semaphore::new(limits.max_waiting)),
            bytes: Arc::new(Semaphore::new(limits.max_waiting_bytes)),
        }
    }

    /// Lets a request wait, unless too many do or they are too large.
    pub(super) fn join(&self, request: &Request) -> Result<Ticket, RpcError> {
        let bytes = request.params.as_deref().map_or(0, |params: &RawValue| params.get().len());
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let requests = self.requests.clone().try_acquire_owned();
        let bytes = self.bytes.clone().try_acquire_many_owned(bytes);
        match (requests, bytes) {
            (Ok(request), Ok(bytes)) => Ok(Ticket { _request: request, _bytes: bytes }),
            _ => Err(RpcError::unavailable(format!(
                "too many requests are under way: the limit is {}, and {} more of {} bytes \
                 together may wait; send it again when some are answered",
                self.max_in_flight, self.max_requests, self.max_bytes
            ))),
        }
    }

    /// Waits until nothing waits.
    pub(super) async fn empty(&self) {
        let all = u32::try_from(self.max_requests).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        drop(self.requests.acquire_many(all).await);
    }
}
