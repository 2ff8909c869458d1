//! What of values and messages spans may show.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_journal::Masker;
use mcpgraph_value::Value;
use opentelemetry::trace::{Span as _, Status};
use opentelemetry_sdk::trace::Span;

use super::attributes as key;
use crate::outline::shortened;

/// What of values and messages a span may show.
#[derive(Clone)]
pub(super) struct Shown {
    /// Whether payloads are asked for.
    payloads: bool,
    masker: Arc<Masker>,
}

impl Shown {
    pub(super) fn new(payloads: bool, masker: Arc<Masker>) -> Self {
        Self { payloads, masker }
    }

    /// The same as [`Self::payload`] of what is JSON already.
    pub(super) fn json(&self, span: &mut Span, json: &str, keys: (&'static str, &'static str)) {
        let (size_key, key) = keys;
        span.set_attribute(key::count(size_key, json.len()));
        if self.payloads {
            span.set_attribute(key::bounded(key, &self.masker.json_text(json)));
        }
    }

    /// The size of a payload, and the payload itself where it was asked for.
    pub(super) fn payload(
        &self,
        span: &mut Span,
        payload: &Value,
        keys: (&'static str, &'static str),
    ) {
        let (size_key, key) = keys;
        span.set_attribute(key::size(size_key, payload));
        if self.payloads {
            span.set_attribute(key::bounded(key, &self.masker.json_text(&payload.to_json())));
        }
    }

    /// A text that may hold a secret.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masker.message(text)
    }

    pub(super) fn error<'e>(&self, error: &'e RunError) -> Cow<'e, RunError> {
        match self.masker.message(&error.message) {
            Cow::Borrowed(_) => Cow::Borrowed(error),
            Cow::Owned(message) => Cow::Owned(RunError { message, ..error.clone() }),
        }
    }
}

/// A span has failed.
pub(super) fn fail(span: &mut Span, error: &RunError, time: SystemTime) {
    span.set_attributes(key::error(error));
    span.add_event_with_timestamp(key::EXCEPTION, time, key::exception(error));
    let message = shortened(&error.message, key::MAX_TEXT_BYTES).to_owned();
    span.set_status(Status::error(message));
}

/// The failure that the response to a call tells of, if it does.
pub(super) fn failure_in(response: &Value) -> Option<RunError> {
    if response.get("isError").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    let text = response.pointer("/content/0/text").and_then(Value::as_str);
    let text = text.unwrap_or("the tool says that it failed");
    Some(RunError::new(ErrorKind::ToolError, text))
}
