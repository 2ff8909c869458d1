//! The W3C trace context: in `_meta`, where the protocol has it, and in the headers of HTTP, where
//! everything between a client and a server looks for it.
//!
//! What is not written as the specification says is not carried from one to the other.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::edit::Members;
use crate::message::Message;

/// The trace and the span a request belongs to; a header and a key of `_meta`.
pub(crate) const PARENT: &str = "traceparent";
/// What tracing systems add to that; a header and a key of `_meta`.
pub(crate) const STATE: &str = "tracestate";

/// How long the state may be; the specification asks for at least this.
const MAX_STATE_BYTES: usize = 512;
/// How long the parent may be. The first version has 55; later ones may add to it.
const MAX_PARENT_BYTES: usize = 128;

/// A trace context as it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The header `traceparent`.
    pub parent: String,
    /// The header `tracestate`.
    pub state: Option<String>,
}

impl TraceContext {
    /// What the headers of a request say; none if that is not a trace context.
    pub fn of_headers(headers: &HeaderMap) -> Option<Self> {
        let mut parents = headers.get_all(PARENT).iter();
        let (parent, None) = (parents.next()?, parents.next()) else { return None };
        let states = headers.get_all(STATE).iter();
        let states: Option<Vec<&str>> = states.map(|state| state.to_str().ok()).collect();
        let state = states.filter(|states| !states.is_empty()).map(|states| states.join(","));
        Self { parent: parent.to_str().ok()?.to_owned(), state }.checked()
    }

    /// What the `_meta` of a request's parameters says; none if that is not a trace context.
    fn of_params(params: &RawValue) -> Option<Self> {
        // Most have none, and a search is cheaper than reading them.
        if !params.get().contains(PARENT) {
            return None;
        }
        let params = Members::of(params)?;
        let meta = Members::of(params.get("_meta")?)?;
        let text = |key: &str| serde_json::from_str::<String>(meta.get(key)?.get()).ok();
        Self { parent: text(PARENT)?, state: text(STATE) }.checked()
    }

    /// The same where it is well written. A state that is not is left out, as the specification
    /// has it.
    fn checked(self) -> Option<Self> {
        is_parent(&self.parent)
            .then(|| Self { state: self.state.filter(|state| is_state(state)), ..self })
    }
}

/// Repeats the trace context of a request in the headers it is sent with.
pub(crate) fn add_headers(headers: &mut HeaderMap, message: &Message) {
    let Message::Request(request) = message else { return };
    let context = request.params.as_deref().and_then(TraceContext::of_params);
    let Some(TraceContext { parent, state }) = context else { return };
    for (name, value) in [(PARENT, Some(parent)), (STATE, state)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// Version, trace id, parent id and flags in hexadecimal, neither id of zeros only.
pub(crate) fn is_parent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut part = |length: usize| {
        parts.next().filter(|part| {
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            part.len() == length && part.bytes().all(is_hex)
        })
    };
    let (Some(version), Some(trace), Some(parent), Some(_)) =
        (part(2), part(32), part(16), part(2))
    else {
        return false;
    };
    let is_something = |id: &str| id.bytes().any(|byte| byte != b'0');
    let is_plain =
        text.len() <= MAX_PARENT_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    let may_go_on = version != "00" && version != "ff";
    is_plain
        && version != "ff"
        && is_something(trace)
        && is_something(parent)
        && (may_go_on || parts.next().is_none())
}

/// Visible characters, spaces and tabs, not too many.
fn is_state(text: &str) -> bool {
    !text.trim().is_empty()
        && text.len() <= MAX_STATE_BYTES
        && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ' || byte == b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Id, Request, raw};

    const WELL: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn parents_are_what_the_specification_says() {
        for good in [WELL, &WELL.replacen("00", "01", 1), &format!("cc{}-later", &WELL[2..])] {
            assert!(is_parent(good), "{good}");
        }
        for bad in [
            "",
            "00",
            &WELL.to_uppercase(),
            &format!("{WELL}-more"),
            &format!("{WELL}\r\nx: y"),
            &format!("cc{}-\n", &WELL[2..]),
            &WELL.replacen("00", "ff", 1),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            &WELL[..54],
            &format!("cc{}-{}", &WELL[2..], "x".repeat(100)),
        ] {
            assert!(!is_parent(bad), "{bad:?}");
        }
    }

    #[test]
    fn requests_repeat_their_context_in_headers() {
        let headers = |meta: serde_json::Value| {
            let params = raw(&serde_json::json!({"name": "x", "_meta": meta}));
            let method = "tools/call".to_owned();
            let request = Request { id: Id::number(1), method, params: Some(params) };
            let mut headers = HeaderMap::new();
            add_headers(&mut headers, &Message::Request(request));
            let text = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
            (text(PARENT), text(STATE))
        };
        let well = || Some(WELL.to_owned());
        let both = serde_json::json!({"traceparent": WELL, "tracestate": "a=1, b=2"});
        assert_eq!(headers(both), (well(), Some("a=1, b=2".to_owned())));
        let injected = serde_json::json!({"traceparent": WELL, "tracestate": "a=1\r\nevil: yes"});
        assert_eq!(headers(injected), (well(), None));
        for none in [
            serde_json::json!({"tracestate": "a=1"}),
            serde_json::json!({"traceparent": format!("{WELL}\r\nevil: yes")}),
            serde_json::json!({"traceparent": 7}),
            serde_json::json!([WELL, "traceparent"]),
        ] {
            assert_eq!(headers(none.clone()), (None, None), "{none}");
        }
    }

    #[test]
    fn headers_are_read_once_and_whole() {
        let read = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, value.parse().unwrap());
            }
            TraceContext::of_headers(&headers)
        };
        let context = |state: Option<&str>| {
            Some(TraceContext { parent: WELL.to_owned(), state: state.map(str::to_owned) })
        };
        assert_eq!(read(&[(PARENT, WELL)]), context(None));
        assert_eq!(
            read(&[(PARENT, WELL), (STATE, "a=1"), (STATE, "b=2")]),
            context(Some("a=1,b=2"))
        );
        assert_eq!(read(&[(PARENT, WELL), (STATE, &"x".repeat(513))]), context(None));
        assert_eq!(read(&[(PARENT, WELL), (PARENT, WELL)]), None);
        assert_eq!(read(&[(PARENT, "00-nonsense")]), None);
        assert_eq!(read(&[(STATE, "a=1")]), None);
    }
}
