//! The pages, as they were built from `studio/` into `dist/`.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use mcpgraph_graph::Digest;

use crate::api::Shared;

/// Scripts and styles are our own files, and nothing inside a page is ever one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// A file of the pages.
struct Page {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! page {
    ($name:literal, $kind:literal) => {
        Page {
            path: concat!("/", $name),
            kind: $kind,
            bytes: include_bytes!(concat!("../dist/", $name)),
        }
    };
}

/// Every file; a test holds the table and the folder together.
static PAGES: [Page; 6] = [
    page!("index.html", "text/html; charset=utf-8"),
    page!("app.js", "text/javascript; charset=utf-8"),
    page!("app.css", "text/css; charset=utf-8"),
    page!("code.js", "text/javascript; charset=utf-8"),
    page!("icon.svg", "image/svg+xml"),
    page!("manifest.json", "application/json"),
];

/// The paths of the pages; the first page is the root.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    let root = ("/", &PAGES[0]);
    let named = PAGES.iter().map(|page| (page.path, page));
    std::iter::once(root).chain(named).fold(Router::new(), |router, (path, page)| {
        router.route(path, get(async move |request: Request| respond(page, &request)))
    })
}

fn respond(page: &'static Page, request: &Request) -> Response {
    let etag = format!("\"{}\"", Digest::of(page.bytes));
    let is_known = request
        .headers()
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|known| known.to_str().ok())
        .any(|known| known.split(',').any(|known| known.trim() == etag));
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(page.bytes))
    };
    mark(response.headers_mut(), page, &etag);
    response
}

fn mark(headers: &mut HeaderMap, page: &Page, etag: &str) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.kind));
    // The names stay the same from version to version, so browsers ask each time.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
}

#[cfg(test)]
mod tests;
