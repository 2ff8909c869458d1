//! Calls that are passed on to another server, as a collector and as Prometheus see them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_journal::{Face, Origin, TraceContext};
use mcpgraph_runtime::{Observer, PassStart};
use mcpgraph_telemetry::{Metrics, Protocol, Traces};
use serde_json::json;

use crate::collector::Collector;
use crate::prometheus::read;

/// Passes on a call that came in this trace; gives what went along with it.
fn pass(
    observer: &Arc<dyn Observer>,
    trace: Option<&str>,
    outcome: Option<Result<&str, &RunError>>,
) -> Option<TraceContext> {
    pass_to("echo", observer, trace, outcome)
}

/// The same of a tool that is called like this by its server.
fn pass_to(
    tool: &str,
    observer: &Arc<dyn Observer>,
    trace: Option<&str>,
    outcome: Option<Result<&str, &RunError>>,
) -> Option<TraceContext> {
    let trace = trace.map(|text| TraceContext { traceparent: text.into(), tracestate: None });
    let origin = Origin { face: Face::Mcp, trace, ..Origin::default() };
    let start = PassStart {
        tool: &format!("up__{tool}"),
        server: "up",
        inner: tool,
        arguments: r#"{"a":1}"#,
        origin: &origin,
        at: SystemTime::now(),
    };
    let watching = observer.pass(&start)?;
    let context = watching.trace_context();
    match outcome {
        Some(outcome) => watching.ended(outcome),
        None => drop(watching),
    }
    context
}

#[tokio::test]
async fn a_call_that_is_passed_on_is_two_spans_of_one_trace() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let context = pass(&traces.observer(), Some(caller), Some(Ok("[1,2]"))).unwrap();
    let failure = RunError::new(ErrorKind::ProtocolError { code: -32602 }, "no such tool");
    pass(&traces.observer(), None, Some(Err(&failure)));
    pass(&traces.observer(), None, None);
    let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    let unseen = pass(&traces.observer(), Some(unsampled), Some(Ok("{}"))).unwrap();
    assert!(unseen.traceparent.ends_with("-00"), "{}", unseen.traceparent);
    traces.shutdown(Duration::from_secs(20)).await;

    let spans = collector.spans();
    assert_eq!(spans.len(), 6, "{spans:#?}");
    let outside = spans.iter().find(|span| span.parent == "00f067aa0ba902b7").unwrap();
    let inside = spans.iter().find(|span| span.parent == outside.id).unwrap();
    assert_eq!((&*outside.name, outside.kind), ("tools/call up__echo", 2));
    assert_eq!((&*inside.name, inside.kind), ("tools/call echo", 3));
    assert_eq!(inside.get("mcpgraph.server"), json!("up"));
    assert_eq!(outside.get("mcpgraph.input.size"), json!(7));
    assert_eq!(outside.get("mcpgraph.output.size"), json!(5));
    assert_eq!(outside.get("gen_ai.tool.call.arguments"), json!(null));
    // The server is told of the span that calls it.
    assert_eq!(*context.traceparent, format!("00-{}-{}-01", inside.trace, inside.id));
    let of_type = |kind: &str| {
        let kind = json!(kind);
        spans.iter().filter(|span| span.get("error.type") == kind && span.status == 2).count()
    };
    assert_eq!((of_type("-32602"), of_type("abandoned")), (2, 2));
}

#[test]
fn calls_that_are_passed_on_are_counted_and_timed() {
    let metrics = Metrics::new();
    let failure = RunError::new(ErrorKind::ToolError, "sold out");
    pass(&metrics.observer(), None, Some(Ok("{}")));
    pass(&metrics.observer(), None, Some(Err(&failure)));
    pass(&metrics.observer(), None, None);
    let waiting = || vec![("one".into(), 2.0), ("two".into(), 0.0)];
    metrics.register_each("waiting", "Who waits.", "server", waiting).unwrap();
    let text = metrics.render();
    read(&text);
    for line in [
        r#"mcpgraph_calls_total{tool="up__echo",outcome="ok"} 1"#,
        r#"mcpgraph_calls_total{tool="up__echo",outcome="tool_error"} 1"#,
        r#"mcpgraph_calls_total{tool="up__echo",outcome="abandoned"} 1"#,
        r#"mcpgraph_call_duration_seconds_count{tool="up__echo"} 3"#,
        r#"mcpgraph_upstream_duration_seconds_count{server="up",upstream_tool="echo",outcome="ok"} 1"#,
        r#"waiting{server="one"} 2"#,
        r#"waiting{server="two"} 0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
}

#[tokio::test]
async fn names_that_clients_make_up_have_an_end() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let metrics = Metrics::new();
    for end in ["a", "b"] {
        let name = "é".repeat(1 << 20) + end;
        pass_to(&name, &traces.observer(), None, Some(Ok("{}")));
        pass_to(&name, &metrics.observer(), None, Some(Ok("{}")));
    }
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    assert_eq!(spans.len(), 4);
    for span in &spans {
        assert!(span.name.len() < 200, "{} bytes", span.name.len());
        assert!(span.get("gen_ai.tool.name").as_str().unwrap().len() <= 16 * 1024);
    }
    let text = metrics.render();
    assert!(text.len() < 64 * 1024, "{} bytes", text.len());
    // They are still two.
    assert_eq!(read(&text)["mcpgraph_calls_total"].samples.len(), 2);
}
