//! JSON-RPC 2.0 messages whose payloads stay raw.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// A JSON text that is passed on as it is.
pub type Raw = Box<RawValue>;

/// Writes anything serializable as raw JSON.
pub fn raw<T: Serialize + ?Sized>(value: &T) -> Raw {
    // Our own types have string keys and no failing serializers.
    to_raw_value(value).unwrap_or_else(|_| null())
}

/// Raw `null`.
pub fn null() -> Raw {
    RawValue::NULL.to_owned()
}

/// The id of a request: a number or a string, kept as it was written.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

/// One message.
#[derive(Clone, Debug)]
pub enum Message {
    /// Wants an answer with the same id.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// An answer.
    Response(Response),
}

/// A request as it came in or goes out.
#[derive(Clone, Debug)]
pub struct Request {
    /// Chosen by the sender, unique among its requests under way.
    pub id: Id,
    /// Such as `tools/call`.
    pub method: String,
    /// An object, or nothing.
    pub params: Option<Raw>,
}

/// A notification as it came in or goes out.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Such as `notifications/progress`.
    pub method: String,
    /// An object, or nothing.
    pub params: Option<Raw>,
}

/// An answer as it came in or goes out.
#[derive(Clone, Debug)]
pub struct Response {
    /// The request's id; none where the request could not be read.
    pub id: Option<Id>,
    /// The result, raw, or the error.
    pub outcome: Result<Raw, RpcError>,
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// The number that says what kind of error it is.
    pub code: i64,
    /// What happened, for people and models.
    pub message: String,
    /// More, if the sender gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

/// The error codes the protocol names.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The fault is the server's.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// Legacy: no such resource (the modern era uses [`INVALID_PARAMS`]).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// Modern: a header says something other than the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// Modern: the client lacks a capability the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// Modern: the protocol version is not one the server speaks.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Of our own: the server is about to end, or lacks something for now; call again.
    pub const UNAVAILABLE: i64 = -32030;
}

// === impl Id ===

impl Id {
    /// An id that counts.
    pub fn number(number: u64) -> Self {
        Self(number.to_string())
    }

    /// An id that is a string.
    pub fn string(text: &str) -> Self {
        Self(raw(text).get().to_owned())
    }

    /// The id of a text that is no valid message, if it has one all the same.
    pub fn of_message(text: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Envelope {
            id: Id,
        }
        serde_json::from_slice::<Envelope>(text).ok().map(|envelope| envelope.id)
    }

    /// The id as JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The number, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.clone())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9') => Ok(Self(text.to_owned())),
            _ => Err(D::Error::custom("an id is a number or a string")),
        }
    }
}

// === impl RpcError ===

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = Some(raw(data));
        self
    }

    /// The parameters do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// There is no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// Nothing is wrong with the request, but it cannot be served now; it may be sent again.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(code::UNAVAILABLE, message)
    }

    /// The fault is ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }
}

// === impl Message ===

/// What any message may have at the top; which of them are there says which kind it is.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    #[serde(default, deserialize_with = "present")]
    id: Option<Raw>,
    method: Option<String>,
    #[serde(default)]
    params: Option<Raw>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Raw>,
    error: Option<RpcError>,
}

/// Tells `"id": null` from no id.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Raw>, D::Error> {
    Raw::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads one message; the error is the one to answer with.
    pub fn from_json(text: &[u8]) -> Result<Self, RpcError> {
        // An array would otherwise be taken for the fields of a message, in their order.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(not_one_message(text));
        }
        let envelope: Envelope = serde_json::from_slice(text).map_err(|error| {
            let kind = match error.classify() {
                serde_json::error::Category::Data => code::INVALID_REQUEST,
                _ => code::PARSE_ERROR,
            };
            RpcError::new(kind, format!("not a JSON-RPC message: {error}"))
        })?;
        let invalid = |why: &str| RpcError::new(code::INVALID_REQUEST, why);
        if envelope.jsonrpc != "2.0" {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        // A caller that gives no id all the same waits for an answer; some give null with what is
        // a notification by its name.
        let is_request = |method: &String| !method.starts_with("notifications/");
        let id = match envelope.id {
            Some(id) if id.get() == "null" && envelope.method.as_ref().is_some_and(is_request) => {
                return Err(invalid("the id of a request is a number or a string, not null"));
            }
            Some(id) if id.get() == "null" => None,
            Some(id) => Some(
                serde_json::from_str::<Id>(id.get())
                    .map_err(|_| invalid("an id is a number or a string"))?,
            ),
            None => None,
        };
        let params = envelope.params.filter(|params| params.get() != "null");
        match (envelope.method, id, envelope.result, envelope.error) {
            (Some(method), Some(id), None, None) => {
                Ok(Self::Request(Request { id, method, params }))
            }
            (Some(method), None, None, None) => {
                Ok(Self::Notification(Notification { method, params }))
            }
            (None, Some(id), Some(result), None) => {
                Ok(Self::Response(Response { id: Some(id), outcome: Ok(result) }))
            }
            (None, id, None, Some(error)) => {
                Ok(Self::Response(Response { id, outcome: Err(error) }))
            }
            _ => Err(invalid("neither a request, nor a notification, nor a response")),
        }
    }

    /// Reads a batch of revision 2025-03-26, of at most `limit` messages.
    pub fn batch_from_json(
        text: &[u8],
        limit: usize,
    ) -> Result<Vec<Result<Self, RpcError>>, RpcError> {
        let batch: Vec<&RawValue> = serde_json::from_slice(text)
            .map_err(|error| RpcError::new(code::PARSE_ERROR, format!("not a batch: {error}")))?;
        if batch.is_empty() || batch.len() > limit {
            return Err(RpcError::new(
                code::INVALID_REQUEST,
                format!("a batch holds 1 to {limit} messages, not {}", batch.len()),
            ));
        }
        Ok(batch.into_iter().map(|message| Self::from_json(message.get().as_bytes())).collect())
    }

    /// The message as JSON text on one line.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text);
        text
    }

    /// Adds the message to a text, as one line without its end.
    pub fn write_json(&self, text: &mut String) {
        /// What stands around a payload, about.
        const ENVELOPE: usize = 96;
        text.reserve(ENVELOPE + self.payload().map_or(0, |payload| payload.get().len()));
        text.push_str(r#"{"jsonrpc":"2.0""#);
        let mut field = |name: &str, value: &str| {
            text.push_str(",\"");
            text.push_str(name);
            text.push_str("\":");
            // A payload that came over HTTP may hold line breaks between its tokens; on stdio a
            // line is a message. Inside strings JSON has them escaped.
            if memchr::memchr2(b'\n', b'\r', value.as_bytes()).is_some() {
                text.extend(value.chars().filter(|c| !matches!(c, '\n' | '\r')));
            } else {
                text.push_str(value);
            }
        };
        match self {
            Self::Request(Request { id, method, params }) => {
                field("id", id.as_json());
                field("method", raw(method).get());
                if let Some(params) = params {
                    field("params", params.get());
                }
            }
            Self::Notification(Notification { method, params }) => {
                field("method", raw(method).get());
                if let Some(params) = params {
                    field("params", params.get());
                }
            }
            Self::Response(Response { id, outcome }) => {
                field("id", id.as_ref().map_or("null", Id::as_json));
                match outcome {
                    Ok(result) => field("result", result.get()),
                    Err(error) => field("error", raw(error).get()),
                }
            }
        }
        text.push('}');
    }

    /// What the message carries.
    fn payload(&self) -> Option<&RawValue> {
        match self {
            Self::Request(Request { params, .. })
            | Self::Notification(Notification { params, .. }) => params.as_deref(),
            Self::Response(Response { outcome, .. }) => outcome.as_deref().ok(),
        }
    }
}

/// The error for a batch where there are none.
pub(crate) fn no_batches() -> RpcError {
    RpcError::new(
        code::INVALID_REQUEST,
        "a batch: only protocol version 2025-03-26 has them; send each message by itself",
    )
}

fn not_one_message(text: &[u8]) -> RpcError {
    match serde_json::from_slice::<serde::de::IgnoredAny>(text) {
        Ok(_) => no_batches(),
        Err(error) => RpcError::new(code::PARSE_ERROR, format!("not a JSON-RPC message: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_a_pass_through() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"z":1.0,"a":123456789012345678901234567890}}"#,
            r#"{"jsonrpc":"2.0","id":"x\n","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1e2}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"b":[],"a":"\u00e9"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
        ] {
            assert_eq!(Message::from_json(text.as_bytes()).unwrap().to_json(), text);
        }
    }

    #[test]
    fn one_message_is_one_line() {
        let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n  \"a\": \"x\\ny\"\r\n}}";
        let line = Message::from_json(text.as_bytes()).unwrap().to_json();
        assert_eq!(line, r#"{"jsonrpc":"2.0","id":1,"result":{  "a": "x\ny"}}"#);
    }

    #[test]
    fn what_is_not_a_message_is_refused() {
        for (text, wanted) in [
            ("", code::PARSE_ERROR),
            ("{", code::PARSE_ERROR),
            ("[]", code::INVALID_REQUEST),
            ("[", code::PARSE_ERROR),
            (r#"["2.0",1,"ping",null,null,null]"#, code::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, code::INVALID_REQUEST),
            ("{}", code::INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, code::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, code::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, code::INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
                code::INVALID_REQUEST,
            ),
        ] {
            assert_eq!(Message::from_json(text.as_bytes()).unwrap_err().code, wanted, "{text}");
        }
    }

    #[test]
    fn a_notification_may_say_that_it_has_no_id() {
        let text = r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}"#;
        let message = Message::from_json(text.as_bytes()).unwrap();
        assert!(matches!(message, Message::Notification(_)), "{message:?}");
    }
}
