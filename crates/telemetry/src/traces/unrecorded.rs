//! What is not recorded, because the caller or the sampler decided so.

use mcpgraph_engine::{Event, StepId};
use mcpgraph_journal::TraceContext;
use mcpgraph_runtime::RunObserver;
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator};

use super::context;

/// A run or a call that is not recorded. Its trace still has an id, so that nobody below begins
/// another.
pub(super) struct Unrecorded(SpanContext);

impl Unrecorded {
    pub(super) fn below(span: &SpanContext) -> Self {
        Self(unrecorded_context(span))
    }

    pub(super) fn context(&self) -> TraceContext {
        context::write(&self.0)
    }
}

impl RunObserver for Unrecorded {
    fn event(&mut self, _: &Event) {}

    fn trace_context(&self, _: Option<StepId>) -> Option<TraceContext> {
        Some(self.context())
    }
}

/// The context of a span that is not recorded, with the id that the library leaves out.
fn unrecorded_context(span: &SpanContext) -> SpanContext {
    if span.is_valid() {
        return span.clone();
    }
    let id = RandomIdGenerator::default().new_span_id();
    SpanContext::new(span.trace_id(), id, span.trace_flags(), false, span.trace_state().clone())
}
