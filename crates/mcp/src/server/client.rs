//! The client as the server sees it.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::{Raw, raw};
use crate::trace::{self, TraceContext};
use crate::version::Version;

/// Who makes a request.
///
/// In the legacy era one client lasts as long as its session; in the modern era each request
/// brings its own.
#[derive(Clone, Debug)]
pub struct Client {
    /// The protocol version agreed on, or named by the request.
    pub version: Version,
    /// The client's name and version, if it told.
    pub info: Option<Raw>,
    /// The object of the client's capabilities.
    pub capabilities: Raw,
    /// The legacy session; none in the modern era.
    pub session: Option<SessionKey>,
    /// Who it was found to be by whoever let it in; none where nobody asks.
    pub principal: Option<Arc<str>>,
}

/// Names a legacy session among all of the process. It is a secret of its client.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(Arc<str>);

/// The `_meta` of a request, in its order.
#[derive(Clone, Debug, Default)]
pub struct Meta(IndexMap<String, Raw>);

/// How severe a log message is, least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For developers.
    Debug,
    /// Something happened as it should.
    Info,
    /// Something worth knowing happened.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
    /// A part has failed.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

// === impl Client ===

impl Client {
    /// Whether the client declared a capability, such as `sampling` or `elicitation.url`.
    pub fn supports(&self, capability: &str) -> bool {
        let Ok(declared) = serde_json::from_str::<serde_json::Value>(self.capabilities.get())
        else {
            return false;
        };
        capability
            .split('.')
            .try_fold(&declared, |at, name| at.get(name))
            .is_some_and(|found| !found.is_null() && found != &serde_json::Value::Bool(false))
    }
}

// === impl SessionKey ===

impl SessionKey {
    /// A key that nobody can guess.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(format!("{:032x}", u128::from_be_bytes(bytes)).into()))
    }

    /// A key that was made before.
    pub(crate) fn known(key: &str) -> Self {
        Self(key.into())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows the key can take over the session: logs show its beginning only.
        write!(f, "{}…", self.0.get(..8).unwrap_or_default())
    }
}

// === impl Meta ===

impl Meta {
    /// Reads the `_meta` of a request's parameters. Where it is not an object there is none.
    pub(crate) fn of(params: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Option<IndexMap<String, Raw>>,
        }
        params
            .and_then(|params| serde_json::from_str::<Params>(params.get()).ok())
            .and_then(|params| params.meta)
            .map_or_else(Self::default, Self)
    }

    /// The same, with the trace context of the headers it came with where it has none of its own
    /// that can be read.
    pub(crate) fn or_traced_by(mut self, headers: &HeaderMap) -> Self {
        let own = self.get_str(trace::PARENT);
        if !own.is_some_and(|own| trace::is_parent(&own))
            && let Some(context) = TraceContext::of_headers(headers)
        {
            self.0.insert(trace::PARENT.to_owned(), raw(&context.parent));
            match context.state {
                Some(state) => drop(self.0.insert(trace::STATE.to_owned(), raw(&state))),
                None => drop(self.0.shift_remove(trace::STATE)),
            }
        }
        self
    }

    /// One entry.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.get(key).map(|value| &**value)
    }

    /// One entry that is a string.
    pub fn get_str(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }
}

// === impl LogLevel ===

impl LogLevel {
    /// Reads a level's name, written as JSON.
    pub(crate) fn from_json(text: &RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta_key;

    fn client(capabilities: serde_json::Value) -> Client {
        Client {
            version: Version::LATEST,
            info: None,
            capabilities: raw(&capabilities),
            session: None,
            principal: None,
        }
    }

    #[test]
    fn capabilities_are_found_by_path() {
        let client = client(serde_json::json!({"elicitation": {"url": {}}, "roots": null}));
        assert!(client.supports("elicitation"));
        assert!(client.supports("elicitation.url"));
        assert!(!client.supports("elicitation.form"));
        assert!(!client.supports("roots"));
        assert!(!client.supports("sampling"));
    }

    #[test]
    fn meta_is_read_or_empty() {
        let params = raw(&serde_json::json!({"a": 1, "_meta": {"progressToken": 7, "x": "y"}}));
        let meta = Meta::of(Some(&params));
        assert_eq!(meta.get(meta_key::PROGRESS_TOKEN).map(RawValue::get), Some("7"));
        assert_eq!(meta.get_str("x").as_deref(), Some("y"));
        assert_eq!(meta.get_str(meta_key::PROGRESS_TOKEN), None);
        for other in ["[]", "null", "{}", r#"{"_meta":null}"#, r#"{"_meta":[1]}"#, "7"] {
            let params: Raw = serde_json::from_str(other).unwrap();
            assert_eq!(Meta::of(Some(&params)).iter().count(), 0, "{other}");
        }
    }

    #[test]
    fn a_session_key_is_not_logged_whole() {
        let key = SessionKey::random().unwrap();
        assert_eq!(key.as_str().len(), 32);
        assert!(!format!("{key:?}").contains(key.as_str()));
    }
}
