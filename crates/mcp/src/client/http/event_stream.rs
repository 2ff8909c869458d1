//! A body that is a stream of events.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use super::super::ClientError;
use super::endpoint::Endpoint;
use crate::sse::{Decoder, Event, EventTooLong};

/// How long, and how far, a stream is read on after its answer, so that the server can end it and
/// the connection can be used again.
const DRAIN_TIME: Duration = Duration::from_secs(1);
const DRAIN_BYTES: usize = 64 * 1024;

/// A stream of events being read.
pub(super) struct EventStream {
    response: Response,
    endpoint: Endpoint,
    decoder: Decoder,
    ready: VecDeque<Result<Event, EventTooLong>>,
}

impl EventStream {
    pub(super) fn new(response: Response, endpoint: Endpoint) -> Self {
        let decoder = Decoder::new(endpoint.max_bytes);
        Self { response, endpoint, decoder, ready: VecDeque::new() }
    }

    /// The response whose body this is.
    pub(super) fn response(&self) -> &Response {
        &self.response
    }

    /// The next event, or none at the end of the stream. One that is too long is over when its end
    /// is known, and others may follow.
    pub(super) async fn next(
        &mut self,
    ) -> Result<Option<Result<Event, EventTooLong>>, ClientError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let chunk =
                self.response.chunk().await.map_err(|error| self.endpoint.network(error))?;
            let Some(chunk) = chunk else { return Ok(None) };
            self.decoder.feed(&chunk, &mut self.ready);
        }
    }

    /// The same where each event is needed.
    pub(super) async fn next_whole(&mut self) -> Result<Option<Event>, ClientError> {
        let event = self.next().await?.transpose();
        event.map_err(|skipped| ClientError::TooLarge { limit: skipped.limit })
    }

    /// Reads what little is left in the background.
    pub(super) fn drain(mut self) {
        tokio::spawn(tokio::time::timeout(DRAIN_TIME, async move {
            let mut total = 0;
            while let Ok(Some(chunk)) = self.response.chunk().await {
                total += chunk.len();
                if total > DRAIN_BYTES {
                    break;
                }
            }
        }));
    }
}
