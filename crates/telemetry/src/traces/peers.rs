//! How servers are reached that are called, and how clients reach this one.

use std::sync::{Arc, OnceLock};

use opentelemetry::KeyValue;
use opentelemetry::trace::Span as _;
use opentelemetry_sdk::trace::Span;

use super::attributes as key;
use super::shown::Shown;

/// What is known of a server that is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its URL; none of a process of our own.
    pub url: Option<String>,
    /// The protocol version that is spoken with it, once that is known.
    pub protocol_version: Option<&'static str>,
}

/// Finds a server by its name.
type Find = dyn Fn(&str) -> Option<Peer> + Send + Sync;

/// The servers that are called. A clone is the same.
#[derive(Clone, Default)]
pub(super) struct Peers(Arc<OnceLock<Box<Find>>>);

impl Peers {
    /// Asks this from now on; the first that is given stays.
    pub(super) fn set(&self, find: impl Fn(&str) -> Option<Peer> + Send + Sync + 'static) {
        self.0.get_or_init(|| Box::new(find));
    }

    /// Says on the span of a call how its server was reached.
    pub(super) fn describe(&self, span: &mut Span, server: &str, shown: &Shown) {
        let Some(peer) = self.0.get().and_then(|find| find(server)) else { return };
        if let Some(version) = peer.protocol_version {
            span.set_attribute(KeyValue::new(key::PROTOCOL_VERSION, version));
        }
        span.set_attribute(KeyValue::new(key::TRANSPORT, transport(peer.url.is_some())));
        let url = peer.url.and_then(|url| reqwest::Url::parse(&url).ok());
        let Some((url, host)) = url.as_ref().and_then(|url| Some((url, url.host_str()?))) else {
            return;
        };
        span.set_attribute(key::bounded(key::SERVER_ADDRESS, &shown.text(host)));
        if let Some(port) = url.port_or_known_default() {
            span.set_attribute(key::count(key::SERVER_PORT, port));
        }
    }
}

/// What the conventions call a connection over HTTP, and one over the streams of a process.
pub(super) fn transport(is_http: bool) -> &'static str {
    if is_http { "tcp" } else { "pipe" }
}
