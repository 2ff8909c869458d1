//! What is known of the collector: where it is, and what the latest attempt to reach it came to.
//!
//! The library tries again on its own until its time is up, and keeps to itself why it had to.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use opentelemetry_http::{Bytes, HttpError, Response};
use parking_lot::Mutex;

/// Names the collector in messages. Copies are the same.
#[derive(Clone)]
pub(super) struct Collector {
    /// What may be shown of its URL.
    endpoint: Arc<str>,
    /// Why the latest attempt failed, if it did and that is known.
    trouble: Arc<Mutex<Option<String>>>,
}

impl Collector {
    pub(super) fn new(endpoint: String) -> Self {
        Self { endpoint: endpoint.into(), trouble: Arc::default() }
    }

    /// Notes what an attempt came to.
    pub(super) fn note(&self, outcome: &Result<Response<Bytes>, HttpError>) {
        *self.trouble.lock() = match outcome {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answers {}", response.status())),
            Err(error) => Some(innermost(&**error)),
        };
    }

    /// Where it is, and the latest trouble with it, or `otherwise`.
    pub(super) fn trouble_or(&self, otherwise: Option<&str>) -> String {
        let trouble = self.trouble.lock();
        match trouble.as_deref().or(otherwise) {
            Some(why) => format!("the collector at {}: {why}", self.endpoint),
            None => format!("the collector at {} has not answered", self.endpoint),
        }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// What an error goes back to. Those around it name the whole URL, which may hold credentials.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
