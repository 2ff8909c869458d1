//! Attempts that were never made, and time that is another run's, as Prometheus sees them.

use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, Given, RunError, StepPath};
use mcpgraph_journal::{Origin, Parent, RunId};
use mcpgraph_runtime::{Observer as _, RunStart};
use mcpgraph_telemetry::Metrics;
use mcpgraph_value::Value;

use crate::compile::compile;
use crate::driven::GRAPH;
use crate::prometheus::read;

const MS: Duration = Duration::from_millis(1);

/// The sum of the numbers that end like this, of a run with these events of the tool `failing`.
fn numbers<const N: usize>(parent: Option<Parent>, events: &[Event], names: [&str; N]) -> [f64; N] {
    let metrics = Metrics::new();
    let graph = compile(GRAPH).unwrap();
    let tool = graph.tool("failing").unwrap();
    let origin = Origin { parent, ..Origin::default() };
    let start = RunStart {
        id: RunId::new(),
        graph: Some(&graph),
        tool: &tool.name,
        digest: tool.digest,
        origin: &origin,
        at: SystemTime::now(),
        is_durable: false,
    };
    let mut run = metrics.begin(&start).unwrap();
    run.event(&Event::Started {
        tool: tool.name.clone(),
        digest: tool.digest,
        given: Given::default(),
        input: Value::Null,
    });
    for event in events {
        run.event(event);
    }
    drop(run);
    let families = read(&metrics.render());
    names.map(|name| {
        let samples = families.values().flat_map(|family| &family.samples);
        let samples = samples.filter(|sample| sample.0 == format!("mcpgraph_{name}"));
        samples.map(|sample| sample.2).sum()
    })
}

fn started(step: u64, node: &str, input: Option<Value>, at: Duration) -> Event {
    let kind = if node == "call" { "mcp" } else { "entry" };
    let position = u32::try_from(step).unwrap();
    let path = StepPath::new(&[position]);
    Event::StepStarted {
        step,
        path,
        node: node.into(),
        kind,
        input,
        item_name: None,
        began: at,
        at,
    }
}

fn failed(kind: ErrorKind, at: Duration) -> [Event; 2] {
    let error = RunError::new(kind, "it failed");
    [
        Event::StepFailed { step: 1, error: error.clone(), edge: None, at },
        Event::Finished { outcome: Err(error), at },
    ]
}

fn retrying(kind: ErrorKind, delay: Duration, at: Duration) -> Event {
    Event::Retrying { step: 1, attempt: 1, delay, error: RunError::new(kind, "it failed"), at }
}

const COUNTS: [&str; 2] = ["node_retries_total", "upstream_duration_seconds_count"];

#[test]
fn an_attempt_that_a_limit_prevented_is_not_counted() {
    let mut events = vec![
        started(1, "call", Some(Value::Null), MS),
        retrying(ErrorKind::Unavailable, 5000 * MS, 2 * MS),
    ];
    events.extend(failed(ErrorKind::Limit, 1000 * MS));
    assert_eq!(numbers(None, &events, COUNTS), [0.0, 1.0]);
    // The same attempt, made.
    events.truncate(2);
    events.extend(failed(ErrorKind::Limit, 5002 * MS));
    assert_eq!(numbers(None, &events, COUNTS), [1.0, 2.0]);
}

#[test]
fn arguments_that_fail_are_no_attempt_of_a_call() {
    for kind in [ErrorKind::Expression, ErrorKind::Timeout] {
        let mut events = vec![started(1, "call", None, MS)];
        events.extend(failed(kind, 2 * MS));
        assert_eq!(numbers(None, &events, COUNTS), [0.0, 0.0], "{kind:?}");
    }
    // What is tried again is the node.
    let mut events =
        vec![started(1, "call", None, MS), retrying(ErrorKind::Expression, MS, 2 * MS)];
    events.extend(failed(ErrorKind::ToolError, 5 * MS));
    assert_eq!(numbers(None, &events, COUNTS), [1.0, 1.0]);
}

#[test]
fn the_time_of_steps_that_were_taken_over_does_not_count() {
    let entry = [
        started(0, "entry", None, MS),
        Event::StepFinished { step: 0, output: Value::Null, edge: None, at: 3000 * MS },
    ];
    let mut events = entry.to_vec();
    events.push(started(1, "call", Some(Value::Null), 3000 * MS));
    events.extend(failed(ErrorKind::ToolError, 3004 * MS));
    let took = |parent| numbers(parent, &events, ["call_duration_seconds_sum"])[0];
    assert_eq!(took(None), 3.004);
    assert_eq!(took(Some(Parent { run: RunId::new(), from: 1 })), 0.004);
}
