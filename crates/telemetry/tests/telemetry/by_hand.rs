//! Events that a plain run does not have: pauses, changes, lines of a log.

use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, Given, LogLevel, PauseReason, RunError, StepPath};
use mcpgraph_graph::Tool;
use mcpgraph_journal::{Origin, Parent, RunId};
use mcpgraph_runtime::{Observer, RunStart};
use mcpgraph_telemetry::{Metrics, Protocol, Traces};
use mcpgraph_value::Value;
use serde_json::json;

use crate::collector::Collector;
use crate::compile::compile;
use crate::driven::GRAPH;
use crate::prometheus::read;
use crate::told::Told;

const MS: Duration = Duration::from_millis(1);

/// A run of the tool `greeting` that stood still for an hour.
fn events(tool: &Tool) -> Vec<Event> {
    let path = StepPath::new(&[0]);
    vec![
        Event::Started {
            tool: tool.name.clone(),
            digest: tool.digest,
            given: Given { seed: 0, clock: 0 },
            input: Value::Null,
        },
        Event::StepStarted {
            step: 0,
            path: path.clone(),
            node: "say".into(),
            kind: "transform",
            input: None,
            item_name: None,
            began: MS,
            at: 2 * MS,
        },
        Event::Log { step: 0, level: LogLevel::Warn, message: "careful".into(), at: 3 * MS },
        Event::Paused { why: PauseReason::After("say".into()), at: 4 * MS },
        Event::OutputChanged {
            scope: StepPath::new(&[]),
            node: "entry".into(),
            output: Value::Null,
            at: 4 * MS,
        },
        Event::Resumed { waited: Duration::from_hours(1), at: 4 * MS },
        Event::StepFinished { step: 0, output: Value::Null, edge: None, at: 5 * MS },
        // A step that nobody told of ends nothing.
        Event::StepFinished { step: 7, output: Value::Null, edge: None, at: 5 * MS },
        Event::Finished { outcome: Ok(Value::Null), at: 6 * MS },
    ]
}

fn observe(observer: &dyn Observer, at: SystemTime, parent: Option<Parent>) {
    observe_events(observer, at, parent, events);
}

fn observe_events(
    observer: &dyn Observer,
    at: SystemTime,
    parent: Option<Parent>,
    events: impl FnOnce(&Tool) -> Vec<Event>,
) {
    let graph = compile(GRAPH).unwrap();
    let tool = graph.tool("greeting").unwrap();
    let origin = Origin { parent, ..Origin::default() };
    let start = RunStart {
        id: RunId::new(),
        graph: Some(&graph),
        tool: &tool.name,
        digest: tool.digest,
        origin: &origin,
        at,
        is_durable: false,
    };
    let mut run = observer.begin(&start).unwrap();
    for event in events(tool) {
        run.event(&event);
    }
}

#[tokio::test]
async fn pauses_changes_and_logs_are_events_of_spans() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    observe(&*traces.observer(), began, None);
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    let [run, say] = spans.as_slice() else { panic!("{spans:#?}") };

    // An hour lies between the two ends, and the run's own time does not know of it.
    let since = |nanos: u64| Duration::from_nanos(nanos - 1_000_000_000_000_000_000);
    let hour = Duration::from_hours(1);
    assert_eq!((since(run.start), since(run.end)), (Duration::ZERO, hour + 6 * MS));
    assert_eq!((since(say.start), since(say.end)), (MS, hour + 5 * MS));

    let told = |span: &Told| -> Vec<_> {
        let events = span.events.iter();
        events.map(|it| (it.name.clone(), since(it.time), json!(it.attributes))).collect()
    };
    let log = json!({"mcpgraph.log.level": "warn", "mcpgraph.log.message": "careful"});
    assert_eq!(told(say), [("log".to_owned(), 3 * MS, log)]);
    let paused = json!({"mcpgraph.pause.reason": "after", "mcpgraph.node.id": "say"});
    let changed = json!({"mcpgraph.node.id": "entry", "mcpgraph.step.path": ""});
    let resumed = json!({"mcpgraph.pause.waited_ms": 3_600_000});
    assert_eq!(
        told(run),
        [
            ("paused".to_owned(), 4 * MS, paused),
            ("output_changed".to_owned(), 4 * MS, changed),
            ("resumed".to_owned(), hour + 4 * MS, resumed),
        ]
    );
}

#[test]
fn durations_are_of_the_runs_own_time() {
    let metrics = Metrics::new();
    observe(&metrics, SystemTime::now(), None);
    let families = read(&metrics.render());
    let sum = |name: &str| {
        let samples = &families[name].samples;
        samples.iter().find(|sample| sample.0 == format!("{name}_sum")).unwrap().2
    };
    assert_eq!(sum("mcpgraph_call_duration_seconds"), 0.006);
    assert_eq!(sum("mcpgraph_node_duration_seconds"), 0.004);
}

#[tokio::test]
async fn steps_that_an_earlier_run_executed_are_told_and_not_counted() {
    let parent = Parent { run: RunId::new(), from: 1 };
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    observe(&*traces.observer(), SystemTime::now(), Some(parent));
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    assert_eq!(spans[0].get("mcpgraph.run.parent.id"), parent.run.to_string());
    assert_eq!(spans[0].get("mcpgraph.step.recalled"), json!(null));
    assert_eq!(spans[1].get("mcpgraph.step.recalled"), json!(true));

    let metrics = Metrics::new();
    observe(&metrics, SystemTime::now(), Some(parent));
    let families = read(&metrics.render());
    assert!(families["mcpgraph_node_duration_seconds"].samples.is_empty());
    assert_eq!(families["mcpgraph_calls_total"].samples.len(), 1);
}

#[tokio::test]
async fn a_failure_is_told_however_much_is_logged_before() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let long = |tool: &Tool| {
        let mut events = events(tool)[..2].to_vec();
        let error = RunError::new(ErrorKind::Internal, "it failed");
        for number in 0..300 {
            let message = format!("line {number}").into();
            events.push(Event::Log { step: 0, level: LogLevel::Info, message, at: 3 * MS });
        }
        events.push(Event::Retrying {
            step: 0,
            attempt: 1,
            delay: MS,
            error: error.clone(),
            at: 3 * MS,
        });
        for _ in 0..100 {
            events.push(Event::Paused { why: PauseReason::Stepped, at: 4 * MS });
            events.push(Event::Resumed { waited: MS, at: 4 * MS });
        }
        events.push(Event::StepFailed { step: 0, error: error.clone(), edge: None, at: 5 * MS });
        events.push(Event::Finished { outcome: Err(error), at: 6 * MS });
        events
    };
    observe_events(&*traces.observer(), SystemTime::now(), None, long);
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    let [run, say] = spans.as_slice() else { panic!("{spans:#?}") };
    for span in [run, say] {
        assert_eq!(span.events.last().unwrap().name, "exception");
    }
    let count = |span: &Told, name: &str| span.events.iter().filter(|it| it.name == name).count();
    assert_eq!((count(say, "log"), count(say, "retry")), (96, 1));
    assert_eq!(say.get("mcpgraph.events.dropped"), json!(204));
    assert_eq!((run.events.len(), run.get("mcpgraph.events.dropped")), (128, json!(73)));
}
