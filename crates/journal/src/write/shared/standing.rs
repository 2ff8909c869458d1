//! How the record keeps up: what was lost or late, and whether the store takes what it is given.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Shared;
use crate::write::live::Live;
use crate::{JournalError, JournalStatus};

impl Shared {
    pub(crate) fn count_lost(&self, run: &Live, events: u64) {
        self.lost_events.fetch_add(events, Ordering::Relaxed);
        if run.lose(events) {
            self.lost_runs.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(run = %run.new.id, "the record of a run is not complete");
        }
        run.wake();
    }

    pub(crate) fn count_lost_requests(&self, requests: u64) {
        self.lost_requests.fetch_add(requests, Ordering::Relaxed);
    }

    pub(crate) fn count_late(&self) {
        self.stalled.store(true, Ordering::Release);
        self.late_runs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Acquire)
    }

    /// The store took something. True if it had not for a while.
    pub(crate) fn succeeded(&self) -> bool {
        self.queue.lock().taken = None;
        self.stalled.store(false, Ordering::Release);
        let was_failing = self.last_error.lock().take().is_some();
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        self.committed.send_replace(commits);
        was_failing
    }

    /// The store can be reached. True if it could not for a while.
    pub(crate) fn reached(&self) -> bool {
        self.stalled.store(false, Ordering::Release);
        self.last_error.lock().take().is_some()
    }

    /// The store did not take something. True if it had until now.
    pub(crate) fn failed(&self, error: &JournalError) -> bool {
        self.stalled.store(true, Ordering::Release);
        self.last_error.lock().replace(error.to_string().into()).is_none()
    }

    pub(crate) fn status(&self) -> JournalStatus {
        let queue = self.queue.lock();
        let (events, bytes, _) = queue.taken.unwrap_or((0, 0, Instant::now()));
        let oldest = queue.taken.map(|(_, _, oldest)| oldest).or(queue.oldest);
        JournalStatus {
            queued_events: queue.events + events,
            queued_bytes: queue.bytes + bytes,
            lost_events: self.lost_events.load(Ordering::Relaxed),
            lost_runs: self.lost_runs.load(Ordering::Relaxed),
            lost_requests: self.lost_requests.load(Ordering::Relaxed),
            late_runs: self.late_runs.load(Ordering::Relaxed),
            lag: oldest.map(|oldest| oldest.elapsed()).unwrap_or_default(),
            commits: self.commits.load(Ordering::Relaxed),
            last_error: self.last_error.lock().clone(),
        }
    }
}
