//! A call that is passed on as spans: the client's call, and below it the one of the server.

use std::time::SystemTime;

use mcpgraph_engine::RunError;
use mcpgraph_journal::TraceContext;
use mcpgraph_runtime::{PassObserver, PassStart};
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanContext, SpanKind, Status, Tracer as _};
use opentelemetry_sdk::trace::Span;

use super::attributes as key;
use super::peers::Peers;
use super::run::describe_origin;
use super::shown::{Shown, fail};
use super::unrecorded::Unrecorded;
use super::{Tracing, context};

/// Begins the spans of a call; where it is not to be recorded, only its context is passed on.
pub(super) fn observe(tracing: &Tracing, call: &PassStart<'_>) -> Box<dyn PassObserver> {
    let begin = |tool: &str, kind: SpanKind, parent: &opentelemetry::Context| {
        let mut attributes = vec![
            KeyValue::new(key::OPERATION, key::EXECUTE_TOOL),
            key::bounded(key::TOOL_NAME, tool),
        ];
        let is_request = kind != SpanKind::Internal;
        if is_request {
            attributes.push(KeyValue::new(key::METHOD, key::TOOLS_CALL));
        }
        let what = if is_request { key::TOOLS_CALL } else { key::EXECUTE_TOOL };
        let builder = SpanBuilder::from_name(key::name(what, tool))
            .with_kind(kind)
            .with_start_time(call.at)
            .with_attributes(attributes);
        tracing.tracer.build_with_context(builder, parent)
    };
    let parent = context::read(call.origin.trace.as_ref());
    // Inside of a workflow it is not the client's request, which that speaks for.
    let is_inside = call.origin.around.is_some();
    let kind = if is_inside { SpanKind::Internal } else { SpanKind::Server };
    let mut outside = begin(call.tool, kind, &parent);
    if !outside.is_recording() {
        return Box::new(Unrecorded::below(outside.span_context()));
    }
    if !is_inside {
        tracing.describe_transport(&mut outside);
    }
    describe_origin(&mut outside, call.origin);
    let mut inside = begin(call.inner, SpanKind::Client, &context::below(outside.span_context()));
    inside.set_attribute(key::bounded(key::SERVER, call.server));
    let shown = tracing.shown();
    for span in [&mut outside, &mut inside] {
        shown.json(span, call.arguments, (key::INPUT_SIZE, key::ARGUMENTS));
    }
    let context = inside.span_context().clone();
    let (peers, server) = (tracing.peers.clone(), call.server.to_owned());
    Box::new(Passed { spans: Some([inside, outside]), context, shown, peers, server })
}

/// A call that is recorded.
struct Passed {
    /// The inner one first; none once it has ended.
    spans: Option<[Span; 2]>,
    context: SpanContext,
    shown: Shown,
    peers: Peers,
    server: String,
}

impl Passed {
    fn end(&mut self, conclude: impl Fn(&Shown, &mut Span, SystemTime)) {
        let time = SystemTime::now();
        if let Some([inside, _]) = &mut self.spans {
            self.peers.describe(inside, &self.server, &self.shown);
        }
        for mut span in self.spans.take().into_iter().flatten() {
            conclude(&self.shown, &mut span, time);
            span.end_with_timestamp(time);
        }
    }
}

impl PassObserver for Passed {
    fn trace_context(&self) -> Option<TraceContext> {
        Some(context::write(&self.context))
    }

    fn ended(mut self: Box<Self>, outcome: Result<&str, &RunError>) {
        self.end(|shown, span, time| match outcome {
            Ok(result) => shown.json(span, result, (key::OUTPUT_SIZE, key::RESULT)),
            Err(error) => fail(span, &shown.error(error), time),
        });
    }
}

impl Drop for Passed {
    /// A call that is dropped before its end: its caller is gone.
    fn drop(&mut self) {
        self.end(|_, span, _| {
            span.set_attribute(KeyValue::new(key::ERROR_TYPE, "abandoned"));
            span.set_status(Status::error("the call was given up before its end"));
        });
    }
}

impl PassObserver for Unrecorded {
    fn trace_context(&self) -> Option<TraceContext> {
        Some(self.context())
    }

    fn ended(self: Box<Self>, _: Result<&str, &RunError>) {}
}
