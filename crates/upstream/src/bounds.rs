//! When a call must be done, and who may end it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::millis;
use crate::server::Server;
use crate::{CallContext, UpstreamError};

/// The deadline and the cancellation of a call, with what their errors need to say.
pub(crate) struct Bounds<'a> {
    server: &'a Arc<str>,
    what: &'a str,
    timeout: Duration,
    deadline: Instant,
    cancel: &'a CancellationToken,
}

impl<'a> Bounds<'a> {
    /// Stands for the end of time in sums that would overflow.
    const NEVER: Duration = Duration::from_hours(30 * 365 * 24);

    /// The bounds of a call that began at `start`; the server's own timeout if the call has none.
    pub(crate) fn new(
        server: &'a Server,
        what: &'a str,
        context: &'a CallContext,
        start: Instant,
    ) -> Self {
        let timeout = context.timeout.unwrap_or(server.spec.timeout);
        let deadline = start + timeout.min(Self::NEVER);
        Self { server: &server.name, what, timeout, deadline, cancel: &context.cancel }
    }

    /// How much time is left.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Leaves out time that does not count.
    pub(crate) fn put_off(&mut self, time: Duration) {
        self.deadline += time;
    }

    /// Waits until the deadline or the cancellation.
    pub(crate) async fn hold<T>(&self, work: impl Future<Output = T>) -> Result<T, UpstreamError> {
        match tokio::time::timeout_at(self.deadline, self.cancellable(work)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.timed_out()),
        }
    }

    /// Waits until the cancellation.
    pub(crate) async fn cancellable<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, UpstreamError> {
        match self.cancel.run_until_cancelled(work).await {
            Some(outcome) => Ok(outcome),
            None => Err(UpstreamError::Cancelled { server: self.server.clone() }),
        }
    }

    /// The error of a call that reached its deadline.
    pub(crate) fn timed_out(&self) -> UpstreamError {
        UpstreamError::Timeout {
            server: self.server.clone(),
            what: self.what.to_owned(),
            ms: millis(self.timeout),
        }
    }
}
