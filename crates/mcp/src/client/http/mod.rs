//! Servers at a URL.

pub(super) mod sse;
pub(super) mod streamable;

mod endpoint;
mod event_stream;
mod place;
mod request_headers;
mod session;

/// Scheme, host and port of a URL: what may be shown of it. The rest may hold a secret.
pub(super) fn origin_of(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(url) => url.origin().ascii_serialization(),
        Err(_) => "a URL that cannot be read".to_owned(),
    }
}
