//! Pages of other origins: a browser lets them call the endpoint, and read its answers, only if the
//! answers say so.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use super::config::HttpConfig;
use super::guard::Guard;
use super::respond::empty;
use crate::{header, trace};

/// How long a browser need not ask again, in seconds: one hour.
const MAX_AGE: &str = "3600";

const METHODS: &str = "POST, GET, DELETE";

/// What a page may read beside the body.
const READABLE: &str = "Mcp-Session-Id, WWW-Authenticate";

/// What a page may send. Headers with a tool's arguments have names of their own and come on top.
const SENDABLE: [&str; 10] = [
    "accept",
    "authorization",
    "content-type",
    header::LAST_EVENT_ID,
    header::PROTOCOL_VERSION,
    header::SESSION_ID,
    header::METHOD,
    header::NAME,
    trace::PARENT,
    trace::STATE,
];

struct Pages {
    /// The path of the endpoint.
    path: String,
    guard: Guard,
}

/// Lets pages of the allowed origins call the endpoint of `router`, and nothing that is beside it.
///
/// It belongs around whoever asks for tokens: a browser asks whether a page may call before it
/// shows one, and a page must be able to read that one was refused.
pub fn open_to_pages(router: Router, config: &HttpConfig) -> Router {
    let pages = Arc::new(Pages { path: config.path.clone(), guard: Guard::new(config) });
    router.layer(middleware::from_fn_with_state(pages, answer))
}

async fn answer(State(pages): State<Arc<Pages>>, request: Request, next: Next) -> Response<Body> {
    if request.uri().path() != pages.path {
        return next.run(request).await;
    }
    // Whoever may not come is refused by the endpoint itself, and may not read why.
    let origin = match pages.guard.check(request.uri(), request.headers()) {
        Ok(()) => single_origin(request.headers()),
        Err(_) => None,
    };
    let mut response = match preflight(&request).filter(|_| origin.is_some()) {
        Some(response) => response,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_name(ORIGIN));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READABLE));
    }
    response
}

fn single_origin(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut all = headers.get_all(ORIGIN).iter();
    let (Some(only), None) = (all.next(), all.next()) else { return None };
    Some(only.clone())
}

/// The answer to a browser that asks what a page may send.
fn preflight(request: &Request) -> Option<Response<Body>> {
    let headers = request.headers();
    if *request.method() != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
    {
        return None;
    }
    let mut response = empty(StatusCode::NO_CONTENT);
    let answer = response.headers_mut();
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    answer.insert(VARY, HeaderValue::from_name(ACCESS_CONTROL_REQUEST_HEADERS));
    if let Ok(sendable) = HeaderValue::from_str(&sendable(headers)) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, sendable);
    }
    Some(response)
}

/// What a page may send, of what it wants to send: names of arguments are only known from there.
fn sendable(headers: &HeaderMap) -> String {
    let mut names = SENDABLE.join(", ");
    let wanted = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    for name in wanted.filter_map(|names| names.to_str().ok()).flat_map(|names| names.split(',')) {
        let Ok(name) = name.trim().parse::<HeaderName>() else { continue };
        if name.as_str().starts_with(header::PARAMETER_PREFIX) {
            names.push_str(", ");
            names.push_str(name.as_str());
        }
    }
    names
}
