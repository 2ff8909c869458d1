//! The W3C trace context: read from a caller, told to those who are called.

use std::collections::HashSet;

use mcpgraph_journal::TraceContext;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::SpanContext;
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// How many bytes of `tracestate` are passed on; the specification asks for 512.
const MAX_STATE_BYTES: usize = 512;

/// The context a span has its parent in; empty where the caller sent none, or nonsense.
pub(super) fn read(caller: Option<&TraceContext>) -> Context {
    let empty = Context::new();
    match caller {
        Some(caller) => TraceContextPropagator::new().extract_with_context(&empty, &Fields(caller)),
        None => empty,
    }
}

/// The context below a span.
pub(super) fn below(parent: &SpanContext) -> Context {
    Context::new().with_remote_span_context(parent.clone())
}

/// What those who are called under a span are told.
pub(super) fn write(span: &SpanContext) -> TraceContext {
    let traceparent =
        format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8());
    let state = span.trace_state().header();
    let is_told = !state.is_empty() && state.len() <= MAX_STATE_BYTES;
    TraceContext { traceparent: traceparent.into(), tracestate: is_told.then(|| state.into()) }
}

/// How many members `tracestate` has at most.
const MAX_MEMBERS: usize = 32;

/// Not too long, nothing but visible characters, spaces and tabs, and every key once: of two members
/// with the same key nobody knows which one counts, so that the specification has all dropped.
fn is_state(text: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t');
    if text.len() > MAX_STATE_BYTES || !text.bytes().all(may_stand) {
        return false;
    }
    let members = text.split(',').map(str::trim).filter(|member| !member.is_empty());
    let mut keys = HashSet::new();
    members.take(MAX_MEMBERS + 1).all(|member| {
        member.split_once('=').is_some_and(|(key, _)| keys.insert(key)) && keys.len() <= MAX_MEMBERS
    })
}

/// The fields of a caller's context, by the names of their headers.
struct Fields<'a>(&'a TraceContext);

impl Extractor for Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(&self.0.traceparent),
            "tracestate" => self.0.tracestate.as_deref().filter(|state| is_state(state)),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_is_none_is_not_passed_on() {
        let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let passed = |state: &str| {
            let caller =
                TraceContext { traceparent: traceparent.into(), tracestate: Some(state.into()) };
            let context = read(Some(&caller));
            let told = write(context.span().span_context());
            assert_eq!(&*told.traceparent, traceparent);
            told.tracestate
        };
        assert_eq!(passed("a=1,b=2").as_deref(), Some("a=1,b=2"));
        let members = |count: usize| {
            let members: Vec<_> = (0..count).map(|number| format!("k{number}=1")).collect();
            members.join(",")
        };
        assert_eq!(passed(&members(32)), Some(members(32).into()));
        let long = format!("a={}", "x".repeat(600));
        for state in ["a=1\r\nx: y", "a=é", "a=1,b=2, a=3", "a", &members(33), &long] {
            assert_eq!(passed(state), None, "{state:?}");
        }
    }
}
