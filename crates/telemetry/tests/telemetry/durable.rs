//! A durable run that several processes execute, one after the other: one trace, and nothing counted
//! twice.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, Given, RunError, StepPath};
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_runtime::{Observer, RunObserver, RunStart};
use mcpgraph_telemetry::{Metrics, Protocol, Traces};
use mcpgraph_value::Value;
use serde_json::json;

use crate::collector::Collector;
use crate::compile::compile;
use crate::driven::GRAPH;
use crate::prometheus::read;
use crate::told::Told;

const MS: Duration = Duration::from_millis(1);

/// How many of the events the first process came to, and recorded.
const RECORDED: usize = 6;

/// A run of the tool `order` that calls twice; the second call fails once.
fn events() -> Vec<Event> {
    let begins = |step: u64, node: &str, kind, at| Event::StepStarted {
        step,
        path: StepPath::new(&[u32::try_from(step).unwrap()]),
        node: node.into(),
        kind,
        input: None,
        item_name: None,
        began: at,
        at,
    };
    let ends = |step, at| Event::StepFinished { step, output: Value::Null, edge: None, at };
    let error = || RunError::new(ErrorKind::Unavailable, "not yet");
    vec![
        Event::Started {
            tool: "order".into(),
            digest: mcpgraph_graph::Digest::of("order"),
            given: Given { seed: 0, clock: 0 },
            input: Value::Null,
        },
        begins(0, "entry", "entry", MS),
        ends(0, MS),
        begins(1, "price", "mcp", 2 * MS),
        Event::Retrying { step: 1, attempt: 1, delay: MS, error: error(), at: 3 * MS },
        ends(1, 5 * MS),
        begins(2, "broken", "mcp", 6 * MS),
        Event::StepFailed {
            step: 2,
            error: error(),
            edge: Some("mend".into()),
            at: 3_600_000 * MS,
        },
        Event::Finished { outcome: Ok(Value::Null), at: 3_600_001 * MS },
    ]
}

/// Begins an execution of a run that began an hour ago.
fn begin(
    observer: &dyn Observer,
    id: RunId,
    origin: &Origin,
    began: SystemTime,
) -> Box<dyn RunObserver> {
    let graph = compile(GRAPH).unwrap();
    let tool = graph.tool("order").unwrap();
    let (digest, tool) = (tool.digest, &tool.name);
    let start =
        RunStart { id, graph: Some(&graph), tool, digest, origin, at: began, is_durable: true };
    observer.begin(&start).unwrap()
}

fn hour_ago() -> SystemTime {
    SystemTime::now() - Duration::from_hours(1)
}

/// What the collector gets of a run that one process leaves and another ends, and what those who are
/// called in the first and in the second are told.
async fn handed_over(
    id: RunId,
    origin: &Origin,
    variables: &[(&str, &str)],
) -> (Vec<Told>, [String; 2]) {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let (began, events) = (hour_ago(), events());
    let mut passed_on = Vec::new();
    for is_again in [false, true] {
        let traces = Traces::start(collector.settings(variables)).unwrap();
        let mut run = begin(&*traces.observer(), id, origin, began);
        // The second call is under way when the first process leaves.
        for (number, event) in events.iter().enumerate() {
            match number {
                0..RECORDED if is_again => run.told_again(event),
                0..=RECORDED => run.event(event),
                _ if is_again => run.event(event),
                _ => {}
            }
            if number == RECORDED {
                passed_on.push(run.trace_context(Some(2)).unwrap().traceparent.to_string());
            }
        }
        drop(run);
        traces.shutdown(Duration::from_secs(20)).await;
    }
    (collector.spans(), passed_on.try_into().unwrap())
}

fn is_recalled(span: &Told) -> bool {
    span.get("mcpgraph.step.recalled") == json!(true)
}

#[tokio::test]
async fn all_executions_are_one_trace() {
    let caller = TraceContext {
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into(),
        tracestate: None,
    };
    for trace in [None, Some(caller)] {
        let (id, origin) = (RunId::new(), Origin { trace, ..Origin::default() });
        let (spans, passed_on) = handed_over(id, &origin, &[]).await;
        let told: Vec<_> = spans.iter().map(|span| (&*span.name, is_recalled(span))).collect();
        let told: BTreeMap<_, usize> = told.into_iter().fold(BTreeMap::new(), |mut all, one| {
            *all.entry(one).or_default() += 1;
            all
        });
        let wanted = BTreeMap::from([
            (("entry entry", false), 1),
            (("entry entry", true), 1),
            (("execute_tool order", false), 1),
            (("tools/call fail", false), 1),
            (("tools/call price", false), 1),
            (("tools/call price", true), 1),
        ]);
        assert_eq!(told, wanted);
        let root = spans.iter().find(|span| span.name == "execute_tool order").unwrap();
        assert_eq!((root.status, root.get("error.type")), (0, json!(null)));
        match &origin.trace {
            Some(_) => assert_eq!(root.trace, "4bf92f3577b34da6a3ce929d0e0e4736"),
            // The time of the run.
            None => assert!(
                root.parent.is_empty() && root.trace[..12] == id.to_string().replace('-', "")[..12]
            ),
        }
        assert_eq!(root.end - root.start, 3_600_001_000_000);
        for span in &spans {
            assert_eq!(span.trace, root.trace);
            assert!(span.id == root.id || span.parent == root.id, "{span:#?}");
        }
        // What is told again is the same but for the mark.
        for again in spans.iter().filter(|span| is_recalled(span)) {
            let first = spans.iter().find(|it| it.id == again.id && !is_recalled(it)).unwrap();
            let mut again = again.clone();
            again.attributes.remove("mcpgraph.step.recalled");
            assert_eq!(&again, first);
        }
        // A call that is made again is below the same span.
        assert_eq!(passed_on[0], passed_on[1]);
        let fail = spans.iter().find(|span| span.name == "tools/call fail").unwrap();
        assert!(passed_on[0].contains(&root.trace) && passed_on[0].contains(&fail.id));
    }
}

/// A run that is sampled is so in every process, and of many runs the share is what was asked for.
#[test]
fn samplers_see_even_ids() {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.3"),
    ];
    let settings = crate::collector::read(&variables, &[]);
    let observers = [(); 2].map(|()| Traces::start(settings.clone()).unwrap().observer());
    let (origin, graph) = (Origin::default(), compile(GRAPH).unwrap());
    let tool = graph.tool("order").unwrap();
    let mut sampled = 0;
    let mut traces = HashSet::new();
    for _ in 0..2000 {
        let start = RunStart {
            id: RunId::new(),
            graph: Some(&graph),
            tool: &tool.name,
            digest: tool.digest,
            origin: &origin,
            at: SystemTime::now(),
            is_durable: true,
        };
        let context = |observer: &std::sync::Arc<dyn Observer>| {
            observer.begin(&start).unwrap().trace_context(None).unwrap().traceparent
        };
        let [one, other] = observers.each_ref().map(context);
        assert_eq!(one, other);
        sampled += usize::from(one.ends_with("-01"));
        traces.insert(one);
    }
    assert_eq!(traces.len(), 2000);
    assert!((480..720).contains(&sampled), "{sampled}");
}

#[test]
fn what_was_recorded_is_not_counted_again() {
    let (id, origin, began) = (RunId::new(), Origin::default(), hour_ago());
    let [first, second, third] = [(); 3].map(|()| Metrics::new());
    let mut run = begin(&first, id, &origin, began);
    for event in &events()[..=RECORDED] {
        run.event(event);
    }
    drop(run);
    let mut run = begin(&second, id, &origin, began);
    for event in &events()[..RECORDED] {
        run.told_again(event);
    }
    for event in &events()[RECORDED..] {
        run.event(event);
    }
    drop(run);
    // The engine had not been told of its end.
    let mut run = begin(&third, id, &origin, began);
    for event in &events() {
        run.told_again(event);
    }
    drop(run);

    let counts = |metrics: &Metrics| -> Vec<(String, Vec<String>, f64)> {
        let families = read(&metrics.render());
        let samples = families.values().flat_map(|family| family.samples.clone());
        let counted =
            samples.filter(|(name, ..)| name.ends_with("_count") || name.ends_with("_total"));
        let labels = |labels: BTreeMap<String, String>| labels.into_values().collect();
        counted.map(|(name, of, number)| (name, labels(of), number)).collect()
    };
    let one = |name: &str, labels: &[&str]| {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        (format!("mcpgraph_{name}"), labels, 1.0)
    };
    assert_eq!(
        counts(&first),
        [
            one("node_duration_seconds_count", &["entry", "entry", "order"]),
            one("node_duration_seconds_count", &["mcp", "price", "order"]),
            one("node_retries_total", &["price", "order"]),
            one("upstream_duration_seconds_count", &["ok", "shop", "price"]),
            one("upstream_duration_seconds_count", &["unavailable", "shop", "price"]),
        ]
    );
    assert_eq!(
        counts(&second),
        [
            one("call_duration_seconds_count", &["order"]),
            one("calls_total", &["ok", "order"]),
            one("node_duration_seconds_count", &["mcp", "broken", "order"]),
            one("node_errors_total", &["MG0404", "broken", "order"]),
            one("upstream_duration_seconds_count", &["unavailable", "shop", "fail"]),
        ]
    );
    assert_eq!(counts(&third), []);
    for metrics in [&first, &second, &third] {
        assert_eq!(read(&metrics.render())["mcpgraph_runs_active"].samples[0].2, 0.0);
    }
    // The attempt that ended was made by the second process, which has not been there for an hour.
    let families = read(&second.render());
    let sum = |name: &str| {
        let samples = &families[name].samples;
        samples.iter().find(|sample| sample.0 == format!("{name}_sum")).unwrap().2
    };
    assert!(sum("mcpgraph_upstream_duration_seconds") < 60.0);
    assert!(sum("mcpgraph_node_duration_seconds") > 3500.0);
}
