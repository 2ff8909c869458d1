//! The library's way over HTTP, with an ear for what it does not listen to.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::Answer;
use crate::traces::collector::Collector;

/// What a last attempt begins before the time is up: the library gives up rather than wait to the
/// very end, and adds up to 100 ms to what it waits.
const LAST_ATTEMPT: Duration = Duration::from_millis(250);

/// An export under way.
#[derive(Debug)]
pub(super) struct Exchange {
    /// When its time is up.
    pub(super) deadline: Instant,
    /// What the collector said.
    pub(super) answer: Answer,
}

impl Exchange {
    /// One whose time is up then.
    pub(super) fn before(deadline: Instant) -> Self {
        Self { deadline, answer: Answer::default() }
    }
}

/// The one export that is under way at a time.
pub(super) type Exchanges = Arc<Mutex<Exchange>>;

/// Sends requests, and notes what comes back.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) client: reqwest::Client,
    pub(super) exchanges: Exchanges,
    pub(super) collector: Collector,
}

#[async_trait]
impl HttpClient for Listening {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let outcome = self.client.send_bytes(request).await;
        self.collector.note(&outcome);
        let mut response = outcome?;
        let mut exchange = self.exchanges.lock();
        if response.status().is_success() {
            let content_type = response.headers().get(CONTENT_TYPE);
            let content_type = content_type.and_then(|it| it.to_str().ok()).unwrap_or_default();
            exchange.answer = Answer::read(&content_type.to_ascii_lowercase(), response.body());
        } else if let Some(wait) = response.headers_mut().get_mut(RETRY_AFTER) {
            let left = exchange.deadline.saturating_duration_since(Instant::now());
            *wait = within(wait, left.saturating_sub(LAST_ATTEMPT));
        }
        Ok(response)
    }
}

/// A wait that is no longer than the time left. The library would give the spans up at once, where
/// one attempt at the end may save them.
fn within(wait: &HeaderValue, left: Duration) -> HeaderValue {
    let seconds = wait.to_str().ok().and_then(|wait| wait.trim().parse::<u64>().ok());
    match seconds {
        Some(seconds) if seconds > left.as_secs() => left.as_secs().into(),
        _ => wait.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_not_longer_than_the_time_left() {
        let left = Duration::from_millis(9_750);
        for (wait, told) in [("3", "3"), ("9", "9"), ("30", "9"), ("soon", "soon")] {
            assert_eq!(within(&HeaderValue::from_static(wait), left), told);
        }
        assert_eq!(within(&HeaderValue::from_static("30"), Duration::ZERO), "0");
    }
}
