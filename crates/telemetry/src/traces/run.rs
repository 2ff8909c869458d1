//! The events of one run as spans.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{Event, PauseReason, StepId, StepPath};
use mcpgraph_graph as graph;
use mcpgraph_journal::{Origin, TraceContext};
use mcpgraph_runtime::{RunObserver, RunStart};
use mcpgraph_value::Value;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanContext, SpanKind, Status, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use super::attributes as key;
use super::events::{self, Events};
use super::ids::OfRun;
use super::node::{StepSpan, identify};
use super::peers::Peers;
use super::queue::discard;
use super::request::{Part, name_after_request};
use super::shown::{Shown, fail, failure_in};
use super::unrecorded::Unrecorded;
use super::{Tracing, context};
use crate::outline::Target;
use crate::steps::{OpenStep, OpenSteps};

/// Begins the span of a run; where it is not to be recorded, only its context is passed on.
pub(super) fn observe(tracing: &Tracing, run: &RunStart<'_>) -> Box<dyn RunObserver> {
    let part = Part::of(run);
    let name = run.tool;
    let builder = if part == Part::Inside {
        SpanBuilder::from_name(key::name(key::EXECUTE_TOOL, name)).with_kind(SpanKind::Internal)
    } else {
        SpanBuilder::from_name(key::name(key::TOOLS_CALL, name)).with_kind(SpanKind::Server)
    };
    let mut builder = builder.with_start_time(run.at);
    if part != Part::Around {
        // The sampler sees these; what only spans need is added below.
        builder = builder.with_attributes([
            KeyValue::new(key::OPERATION, key::EXECUTE_TOOL),
            key::text(key::TOOL_NAME, name),
        ]);
    }
    let parent = context::read(run.origin.trace.as_ref());
    let ids = run.is_durable.then(|| OfRun::new(run.id));
    let mut span = build(&tracing.tracer, ids.map(|ids| (ids, None)), builder, &parent);
    if !span.is_recording() {
        return Box::new(Unrecorded::below(span.span_context()));
    }
    match part {
        Part::Call => span.set_attribute(KeyValue::new(key::METHOD, key::TOOLS_CALL)),
        Part::Around => span.set_attribute(key::text(key::WORKFLOW, name)),
        Part::Inside => {}
    }
    if part != Part::Inside {
        tracing.describe_transport(&mut span);
    }
    describe(&mut span, run);
    Box::new(Recorded {
        tracer: tracing.tracer.clone(),
        shown: tracing.shown(),
        peers: tracing.peers.clone(),
        context: span.span_context().clone(),
        span: Some(span),
        events: Events::default(),
        ids,
        is_around: part == Part::Around,
        steps: OpenSteps::new(run, tracing.outlines.of(run)),
        clock: Clock { began: run.at, paused: Duration::ZERO, latest: Duration::ZERO },
    })
}

/// Builds a span, which has these ids if it is of a durable run.
fn build(
    tracer: &SdkTracer,
    ids: Option<(OfRun, Option<&StepPath>)>,
    builder: SpanBuilder,
    parent: &Context,
) -> Span {
    match ids {
        Some((ids, step)) => ids.give(step, || tracer.build_with_context(builder, parent)),
        None => tracer.build_with_context(builder, parent),
    }
}

fn describe(span: &mut Span, run: &RunStart<'_>) {
    span.set_attribute(KeyValue::new(key::RUN, run.id.to_string()));
    span.set_attribute(KeyValue::new(key::DIGEST, run.digest.to_string()));
    if let Some(parent) = &run.origin.parent {
        span.set_attribute(KeyValue::new(key::PARENT_RUN, parent.run.to_string()));
    }
    describe_origin(span, run.origin);
}

/// Who asked.
pub(super) fn describe_origin(span: &mut Span, origin: &Origin) {
    span.set_attribute(KeyValue::new(key::FACE, origin.face.name()));
    if let Some(version) = &origin.protocol {
        span.set_attribute(key::text(key::PROTOCOL_VERSION, version));
    }
    let client = origin.client.as_deref().and_then(|client| Value::from_json(client).ok());
    for (name, key) in [("name", key::CLIENT_NAME), ("version", key::CLIENT_VERSION)] {
        let said = client.as_ref().and_then(|client| client.get(name)?.as_str());
        if let Some(said) = said {
            span.set_attribute(key::bounded(key, said));
        }
    }
}

/// A run that is recorded.
struct Recorded {
    tracer: SdkTracer,
    shown: Shown,
    peers: Peers,
    context: SpanContext,
    /// None once the run has ended.
    span: Option<Span>,
    events: Events,
    /// The ids of its spans; none of a run that ends with this process.
    ids: Option<OfRun>,
    /// Whether it is a workflow that speaks for the request.
    is_around: bool,
    steps: OpenSteps<StepSpan>,
    clock: Clock,
}

/// The time of day from the time of a run.
struct Clock {
    began: SystemTime,
    /// How long the run has stood still; its own time does not have that.
    paused: Duration,
    latest: Duration,
}

impl Clock {
    fn time(&mut self, at: Duration) -> SystemTime {
        self.latest = self.latest.max(at);
        let since = self.paused.saturating_add(at);
        self.began.checked_add(since).unwrap_or(self.began)
    }
}

impl RunObserver for Recorded {
    fn event(&mut self, event: &Event) {
        let time = self.clock.time(event.at());
        match event {
            Event::Started { input, .. } => {
                if let Some(span) = &mut self.span {
                    if self.is_around {
                        name_after_request(span, input);
                    }
                    self.shown.payload(span, input, (key::INPUT_SIZE, key::ARGUMENTS));
                }
            }
            Event::StepStarted { began, .. } => {
                let began = self.clock.time(*began);
                self.step_started(event, began);
            }
            Event::StepFinished { step, output, edge, .. } => {
                let Some(mut step) = self.ended(*step) else { return };
                let key = if step.own.is_tool { key::RESULT } else { key::OUTPUT };
                if let Some(edge) = edge {
                    step.own.span.set_attribute(key::text(key::ROUTE, edge));
                }
                self.shown.payload(&mut step.own.span, output, (key::OUTPUT_SIZE, key));
                step.own.finish(None, time);
            }
            Event::StepFailed { step, error, edge, .. } => {
                let Some(mut step) = self.ended(*step) else { return };
                if let Some(edge) = edge {
                    step.own.span.set_attribute(key::text(key::ROUTE, edge));
                }
                step.own.finish(Some(&self.shown.error(error)), time);
            }
            Event::Retrying { step, attempt, delay, error, .. } => {
                let Some(step) = self.steps.get_mut(*step) else { return };
                step.own.retries += 1;
                let mut attributes = key::exception(&self.shown.error(error));
                attributes.push(key::count(key::ATTEMPT, *attempt));
                attributes.push(key::count(key::DELAY, delay.as_millis()));
                step.own.tell("retry", time, attributes);
            }
            Event::Log { step, level, message, .. } => {
                let attributes = vec![
                    KeyValue::new(key::LOG_LEVEL, level.name()),
                    key::bounded(key::LOG_MESSAGE, &self.shown.text(message)),
                ];
                if let Some(step) = self.steps.get_mut(*step) {
                    step.own.tell(events::LOG, time, attributes);
                }
            }
            Event::Paused { why, .. } => {
                let mut attributes = vec![KeyValue::new(key::PAUSE_REASON, reason(why))];
                if let PauseReason::Before(node) | PauseReason::After(node) = why {
                    attributes.push(key::text(key::NODE, node));
                }
                self.tell("paused", time, attributes);
            }
            Event::Resumed { waited, at } => {
                self.clock.paused = self.clock.paused.saturating_add(*waited);
                let time = self.clock.time(*at);
                self.tell("resumed", time, vec![key::count(key::WAITED, waited.as_millis())]);
            }
            Event::OutputChanged { node, scope, .. } => {
                let path = KeyValue::new(key::PATH, scope.to_string());
                self.tell("output_changed", time, vec![key::text(key::NODE, node), path]);
            }
            Event::Finished { outcome, .. } => {
                let (shown, is_around) = (self.shown.clone(), self.is_around);
                self.end(time, |span| match outcome {
                    Ok(output) => {
                        shown.payload(span, output, (key::OUTPUT_SIZE, key::RESULT));
                        // To the client it is the answer to its call, whose failure is a failure.
                        if is_around && let Some(error) = failure_in(output) {
                            fail(span, &shown.error(&error), time);
                        }
                    }
                    Err(error) => fail(span, &shown.error(error), time),
                });
            }
            // What is new in the engine has no form here yet.
            _ => {}
        }
    }

    /// The process that told of this before may have been killed with its spans, so they are sent
    /// again, as the same spans; what ended is marked.
    fn told_again(&mut self, event: &Event) {
        match event {
            Event::StepFinished { step, .. } | Event::StepFailed { step, .. } => {
                let step = self.steps.get_mut(*step).filter(|step| !step.is_recalled);
                if let Some(step) = step {
                    // What is known of the server is of this process, which did not call it.
                    step.own.server = None;
                    step.own.span.set_attribute(KeyValue::new(key::RECALLED, true));
                }
            }
            Event::Finished { .. } => {
                if let Some(span) = &mut self.span {
                    span.set_attribute(KeyValue::new(key::RUN_RECALLED, true));
                }
            }
            _ => {}
        }
        self.event(event);
    }

    /// A step that is not under way has the context of its run.
    fn trace_context(&self, step: Option<StepId>) -> Option<TraceContext> {
        let span =
            step.and_then(|step| self.steps.get(step)).map(|step| step.own.span.span_context());
        Some(context::write(span.unwrap_or(&self.context)))
    }
}

impl Recorded {
    fn step_started(&mut self, event: &Event, time: SystemTime) {
        let Event::StepStarted { step, path, node, kind, input, began, .. } = event else { return };
        let (tracer, run) = (&self.tracer, &self.context);
        let ids = self.ids.map(|ids| (ids, Some(path)));
        self.steps.begin((*step, path), (node, kind), *began, |beginning| {
            let container = beginning.container.map(|step| step.own.span.span_context());
            let mut attributes = vec![
                key::text(key::TOOL, beginning.tool),
                key::text(key::NODE, node),
                KeyValue::new(key::KIND, *kind),
                key::count(key::STEP, *step),
                KeyValue::new(key::PATH, path.to_string()),
            ];
            if beginning.is_recalled {
                attributes.push(KeyValue::new(key::RECALLED, true));
            }
            let is_one_of_many = |kind| matches!(kind, "foreach" | "parallel");
            if let [.., item, _] = path.positions()
                && beginning.container.is_some_and(|step| is_one_of_many(step.kind))
            {
                attributes.push(key::count(key::ITEM, *item));
            }
            let (name, span_kind) = identify(node, kind, beginning.outline, &mut attributes);
            let builder = SpanBuilder::from_name(name)
                .with_kind(span_kind)
                .with_start_time(time)
                .with_attributes(attributes);
            let parent = context::below(container.unwrap_or(run));
            let span = build(tracer, ids, builder, &parent);
            let target = beginning.outline.and_then(|outline| outline.target.as_ref());
            let server = match target {
                Some(Target::Outside(graph::Target::Tool { server, .. }))
                    if !beginning.is_recalled =>
                {
                    Some(Arc::clone(server))
                }
                _ => None,
            };
            let (events, is_tool) = (Events::default(), target.is_some());
            StepSpan { span, events, retries: 0, server, is_tool }
        });
        if let (Some(input), Some(step)) = (input, self.steps.get_mut(*step)) {
            let key = if step.own.is_tool { key::ARGUMENTS } else { key::INPUT };
            self.shown.payload(&mut step.own.span, input, (key::INPUT_SIZE, key));
        }
    }

    /// A step that has ended. By now there is a connection to the server that it called.
    fn ended(&mut self, step: StepId) -> Option<OpenStep<StepSpan>> {
        let mut step = self.steps.end(step)?;
        if let Some(server) = step.own.server.take() {
            self.peers.describe(&mut step.own.span, &server, &self.shown);
        }
        Some(step)
    }

    /// Something that is about the run as a whole.
    fn tell(&mut self, name: &'static str, time: SystemTime, attributes: Vec<KeyValue>) {
        if let Some(span) = &mut self.span {
            self.events.tell(span, name, time, attributes);
        }
    }

    /// Ends the span of the run, and those of the steps that are left.
    fn end(&mut self, time: SystemTime, conclude: impl FnOnce(&mut Span)) {
        for mut step in self.steps.end_all() {
            step.own.span.end_with_timestamp(time);
        }
        if let Some(mut span) = self.span.take() {
            self.events.end(&mut span);
            conclude(&mut span);
            span.end_with_timestamp(time);
        }
    }
}

impl Drop for Recorded {
    /// A run that is dropped before its end has failed by a fault of ours, or its caller is gone. A
    /// durable one goes on, unless the fault is ours: whoever comes to the end of what is under way
    /// sends that.
    fn drop(&mut self) {
        if self.ids.is_some() && !std::thread::panicking() {
            self.steps
                .end_all()
                .map(|step| step.own.span)
                .chain(self.span.take())
                .for_each(discard);
            return;
        }
        let time = self.clock.time(self.clock.latest);
        self.end(time, |span| {
            span.set_attribute(KeyValue::new(key::ERROR_TYPE, "abandoned"));
            span.set_status(Status::error("the run was given up before its end"));
        });
    }
}

fn reason(why: &PauseReason) -> &'static str {
    match why {
        PauseReason::Asked => "asked",
        PauseReason::Stepped => "stepped",
        PauseReason::Before(_) => "before",
        PauseReason::After(_) => "after",
    }
}
