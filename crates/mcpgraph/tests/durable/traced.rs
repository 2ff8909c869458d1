//! What a collector and Prometheus see of a run that goes on after its process is gone.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::PostgresServer;
use serde_json::{Value, json};

use crate::world::{World, no_arguments, until};

/// A collector that takes spans as JSON.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&spans);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || while take(stream.as_ref().unwrap(), &kept).is_some() {});
            }
        });
        Self { address, spans }
    }

    fn variables(&self) -> [(&str, &str); 3] {
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &self.address),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            ("OTEL_BSP_SCHEDULE_DELAY", "20"),
        ]
    }
}

/// Takes one request; none if there is no other.
fn take(mut stream: &TcpStream, kept: &Mutex<Vec<Value>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let told: Value = serde_json::from_slice(&body).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let scopes = list(&told["resourceSpans"]).into_iter().flat_map(|it| list(&it["scopeSpans"]));
    kept.lock().unwrap().extend(scopes.flat_map(|scope| list(&scope["spans"])));
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    )
    .ok()
}

/// The numbers that Prometheus reads of what ended, without those that are 0.
fn counted(address: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let families =
        ["calls_total", "node_duration_seconds_count", "upstream_duration_seconds_count"];
    let is_one =
        |line: &&str| families.iter().any(|name| line.starts_with(&format!("mcpgraph_{name}{{")));
    let mut lines: Vec<_> = answer.lines().filter(is_one).map(str::to_owned).collect();
    lines.sort();
    lines
}

fn attribute(span: &Value, key: &str) -> Option<Value> {
    let found = span["attributes"].as_array()?.iter().find(|it| it["key"] == key)?;
    found["value"].as_object()?.values().next().cloned()
}

/// Ends the process in the middle of a run, and looks at what the next one tells.
fn is_one_trace(world: &World, is_killed: bool) {
    let collector = Collector::start();
    let mut first = world.replica_in(&collector.variables());
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    // So that what happened before is kept, too, and exported.
    thread::sleep(Duration::from_millis(300));
    if is_killed {
        first.kill();
    } else {
        first.terminate();
    }
    call.join().unwrap();
    let second = world.replica_in(&collector.variables());
    let run = world.ended();
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    let numbers = until("it is counted", || {
        let numbers = counted(second.address());
        let is_counted = numbers.iter().any(|line| line.starts_with("mcpgraph_calls_total"));
        is_counted.then_some(numbers)
    });
    let node = |node: &str, kind: &str| {
        format!(
            "mcpgraph_node_duration_seconds_count{{tool=\"repeatable\",node=\"{node}\",kind=\"{kind}\"}} 1"
        )
    };
    let upstream = |tool: &str| {
        format!(
            "mcpgraph_upstream_duration_seconds_count{{server=\"counting\",upstream_tool=\"{tool}\",outcome=\"ok\"}} 1"
        )
    };
    assert_eq!(
        numbers,
        [
            "mcpgraph_calls_total{tool=\"repeatable\",outcome=\"ok\"} 1".to_owned(),
            node("after", "mcp"),
            node("exit", "exit"),
            node("middle", "mcp"),
            upstream("effect"),
            upstream("repeatable"),
        ],
        "the calls that the second process made"
    );
    // It exports what waits.
    second.terminate();

    let spans = collector.spans.lock().unwrap();
    let roots: Vec<_> = spans
        .iter()
        .filter(|span| {
            span["name"] == "tools/call repeatable" && attribute(span, "mcpgraph.run.id").is_some()
        })
        .collect();
    let [root] = roots[..] else { panic!("{roots:#?}") };
    assert!(root["parentSpanId"].as_str().is_none_or(str::is_empty), "{root}");
    assert_eq!(attribute(root, "mcpgraph.run.id"), Some(json!(run.id.to_string())));
    assert_ne!(root["status"]["code"], json!(2), "{root}");
    let mut seen = HashSet::new();
    let mut recalled = Vec::new();
    for span in &*spans {
        assert_eq!(span["traceId"], root["traceId"]);
        assert!(span == root || span["parentSpanId"] == root["spanId"], "{span}");
        let node = attribute(span, "mcpgraph.node.id");
        if attribute(span, "mcpgraph.step.recalled").is_some() {
            recalled.push((node, span["spanId"].clone()));
        } else {
            assert!(seen.insert((node, span["spanId"].clone())), "told twice: {span}");
        }
    }
    assert_eq!(seen.len(), 6, "the call and each of its nodes, once: {seen:?}");
    let nodes: Vec<_> = recalled.iter().map(|(node, _)| node.clone().unwrap()).collect();
    assert_eq!(nodes, ["entry", "before"]);
    assert!(recalled.iter().all(|span| seen.contains(span)), "told again, as the same span");
    assert_eq!(world.count("begin", "before"), 1);
}

#[test]
fn a_run_whose_process_was_killed_is_one_trace() {
    let Some(world) = World::in_file() else { return };
    is_one_trace(&world, true);
}

#[test]
fn a_run_that_was_handed_over_is_one_trace() {
    let Some(world) = World::in_file() else { return };
    is_one_trace(&world, false);
}

#[test]
fn a_run_that_another_replica_goes_on_with_is_one_trace() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(world) = World::in_database(&server, "traced") else { return };
    is_one_trace(&world, true);
}
