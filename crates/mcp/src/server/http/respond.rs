//! Responses of the HTTP transport.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::Stream;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use crate::message::{self, Id, Message, RpcError, code};
use crate::sse;

/// The media type of a message.
pub(super) const JSON: &str = "application/json";

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A message as the whole body.
pub(super) fn json(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// An answer as the whole body.
pub(super) fn answer(status: StatusCode, response: message::Response) -> Response<Body> {
    json(status, Message::Response(response).to_json())
}

/// A response that says why a request is not served.
#[derive(Debug)]
pub(super) struct Refused(Box<Response<Body>>);

impl Refused {
    pub(super) fn into_response(self) -> Response<Body> {
        *self.0
    }

    /// The same refusal, which names the methods that are served instead.
    pub(super) fn allowing(mut self, methods: &'static str) -> Self {
        self.0.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
        self
    }
}

/// A request that is not served, with the reason as a JSON-RPC error.
pub(super) fn refuse(status: StatusCode, id: Option<Id>, error: RpcError) -> Refused {
    Refused(Box::new(answer(status, message::Response { id, outcome: Err(error) })))
}

/// A request that is not served because it is not as HTTP or the protocol wants it.
pub(super) fn invalid(status: StatusCode, why: impl Into<String>) -> Refused {
    refuse(status, None, RpcError::new(code::INVALID_REQUEST, why))
}

/// The status for a modern answer, so that what stands in between understands it.
pub(super) fn modern_status(response: &message::Response) -> StatusCode {
    match response.outcome.as_ref().map_err(|error| error.code) {
        Err(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Err(
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        Err(code::UNAVAILABLE) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

/// A stream of events. `next` gives the events as they come; where it is silent for `keep_alive`,
/// a comment is sent.
pub(super) fn events<S>(events: S, keep_alive: Duration) -> Response<Body>
where
    S: Stream<Item = Bytes> + Send + 'static,
{
    let alive = futures_util::stream::unfold(Box::pin(events), move |mut events| async move {
        use futures_util::StreamExt;
        match tokio::time::timeout(keep_alive, events.next()).await {
            Ok(event) => Some((event?, events)),
            Err(_) => Some((Bytes::from_static(sse::KEEP_ALIVE), events)),
        }
    });
    let alive = futures_util::StreamExt::map(alive, Ok::<_, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(alive));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(sse::CONTENT_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Some proxies collect a response before they pass it on unless they are told not to.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
