//! The trace context, taken from a caller and passed on; and which calls are traced at all.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_journal::{Origin, TraceContext};
use mcpgraph_telemetry::{Protocol, Traces};

use crate::collector::Collector;
use crate::driven::{Driven, drive};
use crate::told::Told;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A run that was called in a trace, and its spans.
async fn called(
    flags: Option<&str>,
    state: Option<&str>,
    variables: &[(&str, &str)],
) -> (Driven, Vec<Told>) {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(variables)).unwrap();
    let trace = flags.map(|flags| TraceContext {
        traceparent: format!("00-{TRACE}-{CALLER}-{flags}").into(),
        tracestate: state.map(Arc::from),
    });
    let origin = Origin { trace, ..Origin::default() };
    let driven = drive("order", r#"{"items": [1]}"#, origin, &[traces.observer()]).await;
    assert!(driven.finished.outcome.is_ok());
    traces.shutdown(Duration::from_secs(20)).await;
    (driven, collector.spans())
}

/// The parts of what was passed on with the first call of a tool.
fn passed_on(driven: &Driven, tool: &str) -> (String, String, String, Option<Arc<str>>) {
    let (_, context) = driven.passed_on.iter().find(|(name, _)| name == tool).unwrap();
    let context = context.as_ref().unwrap();
    let parts: Vec<_> = context.traceparent.split('-').map(str::to_owned).collect();
    let [version, trace, span, flags] = parts.try_into().unwrap();
    assert_eq!(version, "00");
    (trace, span, flags, context.tracestate.clone())
}

#[tokio::test]
async fn a_call_belongs_to_its_callers_trace_and_passes_it_on() {
    let (driven, spans) = called(Some("01"), Some("vendor=1,other=2"), &[]).await;
    let root = spans.iter().find(|span| span.parent == CALLER).unwrap();
    assert_eq!(root.name, "execute_tool order");
    assert!(spans.iter().all(|span| span.trace == TRACE && span.state == "vendor=1,other=2"));
    for tool in ["price", "fail"] {
        let name = format!("tools/call {tool}");
        let span = spans.iter().find(|span| span.name == name).unwrap();
        let wanted = (TRACE.into(), span.id.clone(), "01".into(), Some("vendor=1,other=2".into()));
        assert_eq!(passed_on(&driven, tool), wanted, "{tool}");
    }
    // Both attempts are of one span.
    let price: Vec<_> = driven.passed_on.iter().filter(|(tool, _)| tool == "price").collect();
    assert_eq!(price.len(), 2);
    assert_eq!(price[0], price[1]);
}

#[tokio::test]
async fn a_call_without_a_trace_begins_one() {
    let (driven, spans) = called(None, None, &[]).await;
    let root = spans.iter().find(|span| span.parent.is_empty()).unwrap();
    assert_eq!(spans.iter().filter(|span| span.parent.is_empty()).count(), 1);
    let (trace, _, flags, state) = passed_on(&driven, "price");
    assert_eq!((&trace, &*flags, state), (&root.trace, "01", None));
}

#[tokio::test]
async fn a_context_that_is_none_begins_a_trace_too() {
    let collector = Collector::start(Protocol::HttpJson).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    for nonsense in ["", "00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "\u{0}é"]
    {
        let context = TraceContext { traceparent: nonsense.into(), tracestate: None };
        let origin = Origin { trace: Some(context), ..Origin::default() };
        drive("greeting", r#"{"name": "x"}"#, origin, &[traces.observer()]).await;
    }
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    assert_eq!(spans.iter().filter(|span| span.parent.is_empty()).count(), 4);
}

#[tokio::test]
async fn a_caller_that_is_not_traced_is_heeded() {
    let (driven, spans) = called(Some("00"), Some("vendor=1"), &[]).await;
    assert!(spans.is_empty());
    let (trace, span, flags, state) = passed_on(&driven, "price");
    assert_eq!((&*trace, &*flags, state), (TRACE, "00", Some("vendor=1".into())));
    assert_ne!(span, CALLER);
    let (driven, spans) = called(Some("00"), None, &[("OTEL_TRACES_SAMPLER", "always_on")]).await;
    assert!(!spans.is_empty());
    assert_eq!(passed_on(&driven, "price").2, "01");
}

#[tokio::test]
async fn samplers_decide_for_the_whole_trace() {
    let off = [("OTEL_TRACES_SAMPLER", "parentbased_always_off")];
    let (driven, spans) = called(None, None, &off).await;
    assert!(spans.is_empty());
    let (trace, span, flags, _) = passed_on(&driven, "price");
    assert_eq!((trace.len(), span.len(), &*flags), (32, 16, "00"));
    assert!(trace.bytes().any(|byte| byte != b'0') && span.bytes().any(|byte| byte != b'0'));
    assert!(!called(Some("01"), None, &off).await.1.is_empty());
    assert!(called(Some("01"), None, &[("OTEL_TRACES_SAMPLER", "always_off")]).await.1.is_empty());
    // The ratio goes by the trace's id, so that everyone who sees it decides the same.
    let ratio =
        |ratio| [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", ratio)];
    assert!(called(Some("01"), None, &ratio("0.0001")).await.1.is_empty());
    assert!(!called(Some("01"), None, &ratio("0.9999")).await.1.is_empty());
}
