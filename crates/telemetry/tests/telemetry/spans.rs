//! The spans of a run, one by one, in all encodings.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::Event;
use mcpgraph_journal::{Face, Origin, Redaction};
use mcpgraph_telemetry::{Delivery, Protocol, Traces};
use serde_json::json;

use crate::collector::Collector;
use crate::driven::{Driven, drive};
use crate::told::Told;

const PATIENCE: Duration = Duration::from_secs(20);

/// What the trace of the tool `order` looks like.
const ORDER: &str = include_str!("order.txt");

/// Attributes that are another with each run.
const CHANGING: [&str; 2] = ["mcpgraph.run.id", "mcpgraph.tool.digest"];

fn origin() -> Origin {
    Origin {
        face: Face::Mcp,
        client: Some(r#"{"name":"tester","version":"3"}"#.into()),
        protocol: Some("2025-11-25".into()),
        ..Origin::default()
    }
}

/// Drives a tool of the graph and gives what the collector got of it.
async fn traced(
    collector: &Collector,
    variables: &[(&str, &str)],
    tool: &str,
    input: &str,
) -> (Driven, Vec<Told>, Delivery) {
    let traces = Traces::start(collector.settings(variables)).unwrap();
    let driven = drive(tool, input, origin(), &[traces.observer()]).await;
    let delivery = traces.shutdown(PATIENCE).await;
    (driven, collector.spans(), delivery)
}

#[tokio::test]
async fn every_way_tells_the_same() {
    for protocol in [Protocol::HttpProtobuf, Protocol::HttpJson, Protocol::Grpc] {
        let collector = Collector::start(protocol).await;
        let variables = [
            ("OTEL_SERVICE_NAME", "shop"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret"),
        ];
        let (driven, spans, delivery) =
            traced(&collector, &variables, "order", r#"{"items": [1, 2]}"#).await;
        assert_eq!(driven.finished.outcome.as_ref().unwrap().to_json(), r#""Hello, you""#);
        let count = spans.len() as u64;
        assert_eq!(delivery, Delivery { exported: count, ..Delivery::default() }, "{protocol:?}");
        assert_eq!(tree(&spans), ORDER, "{protocol:?}");
        assert!(collector.authorization().iter().all(|value| value == "Bearer secret"));
        assert!(!collector.authorization().is_empty());
        for span in &spans {
            assert_eq!(span.resource["service.name"], "shop");
            assert_eq!(span.resource["service.version"], env!("CARGO_PKG_VERSION"));
            assert_eq!(span.resource["deployment.environment.name"], "test");
            assert_eq!(span.scope, "mcpgraph");
        }
        check_ids(&driven, &spans);
        check_times(&driven, &spans);
    }
}

/// There is one trace, and ids are what they should be.
fn check_ids(driven: &Driven, spans: &[Told]) {
    let root = spans.iter().find(|span| span.parent.is_empty()).unwrap();
    assert_eq!(root.get("mcpgraph.run.id"), driven.run().to_string());
    assert_eq!(root.get("mcpgraph.tool.digest").as_str().unwrap().len(), 32);
    for span in spans {
        assert_eq!((span.trace.len(), span.id.len()), (32, 16));
        assert_eq!(span.trace, root.trace);
    }
    let ids: std::collections::HashSet<_> = spans.iter().map(|span| &span.id).collect();
    assert_eq!(ids.len(), spans.len());
}

/// Spans begin and end when the events say.
fn check_times(driven: &Driven, spans: &[Told]) {
    let nanos = |at: Duration| {
        let time = (driven.began + at).duration_since(SystemTime::UNIX_EPOCH).unwrap();
        u64::try_from(time.as_nanos()).unwrap()
    };
    let mut wanted = HashMap::new();
    let mut end = None;
    for event in &driven.events {
        match event {
            Event::StepStarted { step, began, .. } => {
                wanted.insert(*step, (nanos(*began), None));
            }
            Event::StepFinished { step, at, .. } | Event::StepFailed { step, at, .. } => {
                wanted.get_mut(step).unwrap().1 = Some(nanos(*at));
            }
            Event::Finished { at, .. } => end = Some(nanos(*at)),
            _ => {}
        }
    }
    for span in spans {
        let told = (span.start, Some(span.end));
        match span.get("mcpgraph.step.id").as_u64() {
            Some(step) => assert_eq!(told, wanted.remove(&step).unwrap(), "{}", span.name),
            None => assert_eq!(told, (nanos(Duration::ZERO), end)),
        }
        assert!(span.events.iter().all(|event| (span.start..=span.end).contains(&event.time)));
    }
    assert!(wanted.is_empty(), "steps without a span: {wanted:?}");
}

#[tokio::test]
async fn a_run_that_fails_says_so() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let (_, spans, _) = traced(&collector, &[], "failing", "{}").await;
    let root = spans.iter().find(|span| span.parent.is_empty()).unwrap();
    let call = spans.iter().find(|span| span.name == "tools/call refuse").unwrap();
    for span in [root, call] {
        assert_eq!((span.status, &*span.message), (2, "closed"), "{}", span.name);
        assert_eq!(span.get("error.type"), "-32050");
        assert_eq!(span.get("rpc.response.status_code"), "-32050");
        assert_eq!(span.get("mcpgraph.error.code"), "MG0403");
        assert_eq!(span.get("mcpgraph.error.node"), "call");
        let event = &span.events[0];
        assert_eq!((&*event.name, event.time), ("exception", span.end));
        assert_eq!(event.attributes["exception.message"], "closed");
        assert_eq!(event.attributes["exception.type"], "-32050");
        assert_eq!(event.attributes["mcpgraph.error.code"], "MG0403");
    }
}

#[tokio::test]
async fn payloads_are_told_only_if_asked_for() {
    let variable = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let long = format!(r#"{{"items": [3], "text": "{}"}}"#, "é".repeat(20_000));
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let (_, spans, _) = traced(&collector, &[variable], "order", &long).await;
    let span = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let root = span("tools/call order");
    let told = root.get("gen_ai.tool.call.arguments");
    let told = told.as_str().unwrap();
    assert!(told.starts_with(r#"{"items":[3],"text":"é"#));
    assert!((16 * 1024 - 1..=16 * 1024).contains(&told.len()), "{}", told.len());
    assert_eq!(root.get("mcpgraph.input.size"), 40_023);
    assert_eq!(root.get("gen_ai.tool.call.result"), r#""Hello, you""#);
    let price = span("tools/call price");
    assert_eq!(price.get("gen_ai.tool.call.arguments"), r#"{"of":[3]}"#);
    assert_eq!(price.get("gen_ai.tool.call.result"), r#"{"total":7}"#);
    assert_eq!(
        span("execute_tool greeting").get("gen_ai.tool.call.arguments"),
        r#"{"name":"you"}"#
    );
    assert_eq!(span("foreach each").get("mcpgraph.input"), "[3]");
    assert_eq!(span("foreach each").get("mcpgraph.output"), "[6]");
    assert_eq!(span("transform double").get("mcpgraph.input"), json!(null));
}

#[tokio::test]
async fn secrets_are_not_told() {
    let variable = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[variable])).unwrap();
    let observer = traces.observer();
    observer.set_redaction(&Redaction {
        secrets: vec!["hunter22".to_owned(), "sold out".to_owned()],
        fields: vec!["password".to_owned()],
    });
    let input = r#"{"items": [1], "key": "Bearer hunter22", "password": {"is": "swordfish"}}"#;
    drive("order", input, origin(), &[observer]).await;
    traces.shutdown(PATIENCE).await;
    let spans = collector.spans();
    let told = format!("{spans:?}");
    for secret in ["hunter22", "sold out", "swordfish"] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
    let root = spans.iter().find(|span| span.name == "tools/call order").unwrap();
    assert_eq!(
        root.get("gen_ai.tool.call.arguments"),
        r#"{"items":[1],"key":"Bearer [redacted]","password":"[redacted]"}"#
    );
}

/// The spans as an outline: name, kind, what is not as usual, attributes, events.
fn tree(spans: &[Told]) -> String {
    fn add(spans: &[Told], parent: &str, depth: usize, text: &mut String) {
        let mut children: Vec<_> = spans.iter().filter(|span| span.parent == parent).collect();
        children.sort_by_key(|span| span.get("mcpgraph.step.id").as_u64());
        for span in children {
            let indent = "  ".repeat(depth);
            let kind = ["?", "internal", "server", "client"][usize::try_from(span.kind).unwrap()];
            write!(text, "{indent}{} ({kind})", span.name).unwrap();
            if span.status != 0 {
                write!(text, " status {}: {}", span.status, span.message).unwrap();
            }
            text.push('\n');
            for (key, value) in &span.attributes {
                if !CHANGING.contains(&key.as_str()) {
                    writeln!(text, "{indent}  | {key} = {value}").unwrap();
                }
            }
            for event in &span.events {
                let attributes = json!(event.attributes);
                writeln!(text, "{indent}  * {} {attributes}", event.name).unwrap();
            }
            add(spans, &span.id, depth + 1, text);
        }
    }
    let mut text = String::new();
    add(spans, "", 0, &mut text);
    text
}
