//! How far a stream of events was read, and when it is opened again.

use std::time::Duration;

use crate::sse::{Event, EventTooLong};

/// The pause before a broken stream is opened again, unless the server named another.
const RETRY: Duration = Duration::from_secs(1);
/// The longest pause, whatever the server named.
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// How often in a row a broken stream is opened again without bringing anything.
pub(super) const MAX_RESUMES: u32 = 5;

/// How far a stream was read.
#[derive(Default)]
pub(super) struct Place {
    pub(super) last_event_id: Option<String>,
    retry: Option<Duration>,
    /// How often it was opened again since it last brought something.
    pub(super) attempts: u32,
}

impl Place {
    /// Something was read, or at least skipped.
    pub(super) fn note(&mut self, event: &Result<Event, EventTooLong>) {
        let (Ok(event) | Err(EventTooLong { event, .. })) = event;
        if let Some(id) = &event.id {
            self.last_event_id = Some(id.clone());
        }
        if event.retry.is_some() {
            self.retry = event.retry;
        }
        self.attempts = 0;
    }

    /// How long to wait before it is opened again.
    pub(super) fn pause(&self) -> Duration {
        self.retry.unwrap_or(RETRY).min(LONGEST_RETRY)
    }
}
