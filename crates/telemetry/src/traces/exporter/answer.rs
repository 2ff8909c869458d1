//! What a collector answers to spans that reached it. The library takes every answer without an error
//! for a good one.

use mcpgraph_value::Value;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message as _;

use crate::outline::shortened;

/// How much of what a collector says is logged.
const MAX_SAID_BYTES: usize = 512;

/// What a collector made of spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::traces) struct Answer {
    /// How many it did not take; more than there were if it took none.
    pub(in crate::traces) rejected: u64,
    /// What there is to say about that, or else about spans that it took.
    pub(in crate::traces) said: Option<String>,
}

impl Answer {
    /// Reads the answer to an export over HTTP that did not fail. One that is neither an answer nor a
    /// page for people is taken for a good one: there are collectors that only say `OK`.
    pub(super) fn read(content_type: &str, body: &[u8]) -> Self {
        if content_type.contains("html") || body.trim_ascii_start().starts_with(b"<") {
            let said = "what answers is no collector: it sent a page of HTML".to_owned();
            return Self { rejected: u64::MAX, said: Some(said) };
        }
        let is_json = content_type.contains("json");
        let answer = if is_json { of_json(body) } else { of_protobuf(body) };
        answer.unwrap_or_default()
    }

    /// What a collector says of spans that it took in part.
    pub(super) fn of(partial: ExportTracePartialSuccess) -> Self {
        let said = shortened(&partial.error_message, MAX_SAID_BYTES);
        Self {
            // Fewer than none is nonsense.
            rejected: partial.rejected_spans.try_into().unwrap_or_default(),
            said: (!said.is_empty()).then(|| said.to_owned()),
        }
    }
}

fn of_protobuf(body: &[u8]) -> Option<Answer> {
    ExportTraceServiceResponse::decode(body).ok()?.partial_success.map(Answer::of)
}

fn of_json(body: &[u8]) -> Option<Answer> {
    let body = Value::from_json(std::str::from_utf8(body).ok()?).ok()?;
    let partial = body.get("partialSuccess")?;
    let rejected = partial.get("rejectedSpans").map(|rejected| match rejected.as_str() {
        // As JSON, protocol buffers write integers of 64 bits as strings.
        Some(text) => text.parse().ok(),
        None => rejected.to_json().parse().ok(),
    });
    let said = partial.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    Some(Answer::of(ExportTracePartialSuccess {
        rejected_spans: rejected.flatten().unwrap_or_default(),
        error_message: said.to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rejected: u64, said: &str) -> Answer {
        Answer { rejected, said: Some(said.to_owned()) }
    }

    #[test]
    fn what_is_not_taken_is_found_in_both_encodings() {
        let json = "application/json; charset=utf-8";
        for text in [
            r#"{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "quota"}}"#,
            r#"{"partialSuccess": {"rejectedSpans": 3, "errorMessage": "quota"}, "more": 1}"#,
        ] {
            assert_eq!(Answer::read(json, text.as_bytes()), answer(3, "quota"));
        }
        let partial_success =
            Some(ExportTracePartialSuccess { rejected_spans: 3, error_message: "quota".into() });
        let bytes = ExportTraceServiceResponse { partial_success }.encode_to_vec();
        assert_eq!(Answer::read("application/x-protobuf", &bytes), answer(3, "quota"));
        assert_eq!(Answer::read("", &bytes), answer(3, "quota"));
    }

    #[test]
    fn what_says_nothing_is_good() {
        for text in ["", "{}", "OK", "null", r#"{"partialSuccess": {}}"#, "{"] {
            for content_type in ["application/json", "application/x-protobuf", "text/plain", ""] {
                assert_eq!(
                    Answer::read(content_type, text.as_bytes()),
                    Answer::default(),
                    "{text}"
                );
            }
        }
        let negative = r#"{"partialSuccess": {"rejectedSpans": "-3"}}"#;
        assert_eq!(Answer::read("application/json", negative.as_bytes()), Answer::default());
    }

    #[test]
    fn a_page_for_people_is_no_answer() {
        assert_eq!(Answer::read("text/html", b"").rejected, u64::MAX);
        assert_eq!(Answer::read("", b"\n<!doctype html>").rejected, u64::MAX);
    }
}
