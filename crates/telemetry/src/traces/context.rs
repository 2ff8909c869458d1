//! The W3C trace context: read from a caller, told to those who are called.

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

/// The fields of a caller's context, by the names of their headers.
struct Fields<'a>(&'a TraceContext);

impl Extractor for Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(&self.0.traceparent),
            "tracestate" => {
                self.0.tracestate.as_deref().filter(|state| state.len() <= MAX_STATE_BYTES)
            }
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}
