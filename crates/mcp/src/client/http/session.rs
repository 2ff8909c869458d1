//! What a streamable HTTP connection has agreed on: version, and in the legacy era a session.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::header;
use crate::version::{Era, Version};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static(header::LAST_EVENT_ID);

/// The session of a connection; a new one takes its place when the server has forgotten it.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    /// The id the server gave, if it keeps sessions.
    pub(super) id: Option<HeaderValue>,
    /// The version, once it is agreed on.
    pub(super) version: Option<Version>,
    /// Which session of the connection this is.
    pub(super) generation: u64,
}

impl Session {
    /// The headers that name the session and the version.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(id) = &self.id {
            headers.insert(SESSION_ID, id.clone());
        }
        if let Some(version) = self.version {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        }
        headers
    }

    /// The same, to read on after an event.
    pub(super) fn headers_after(&self, last_event_id: Option<&str>) -> HeaderMap {
        let mut headers = self.headers();
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        headers
    }

    /// Whether every request stands alone.
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some_and(|version| version.era() == Era::Modern)
    }
}

/// The header that names a version.
pub(super) fn set_version(headers: &mut HeaderMap, version: Version) {
    headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
}
