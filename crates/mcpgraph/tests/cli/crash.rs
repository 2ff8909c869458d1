//! What is left of runs when the process is killed: every step that anybody was told of.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcpgraph_journal::{Filter, Journal, RunId, RunStatus, RunSummary, StoredEvent};
use serde_json::{Value, json};

use crate::product::BINARY;

/// How often the process is killed, each time at another moment.
const KILLS: u64 = 300;

/// A loop that tells of every step and takes longer than any process here lives.
const GRAPH: &str = r#"
server: { name: crash, version: "1" }
executionLimits: { maxNodeExecutions: 1000000, maxExecutionTimeMs: 600000 }
tools:
  - name: count
    description: Counts
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: next }
      - { id: next, type: transform, transform: { expr: "{ 'n': $executionCount('next') }" }, next: again }
      - id: again
        type: switch
        conditions:
          - { rule: { "<": [{ var: next.n }, 900000] }, target: next }
          - { target: exit }
      - { id: exit, type: exit }
"#;

#[test]
fn every_step_somebody_was_told_of_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.yaml");
    fs::write(&graph, GRAPH).unwrap();
    let data = folder.path().join("data");
    let mut last = None;
    let mut most = 0;
    // A generator of its own, so that a failure can be repeated.
    let mut random: u64 = 0x5eed;
    for _ in 0..KILLS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let life = Duration::from_micros((random >> 33) % 25_000);
        let told = told_before_death(&graph, &data, life);
        let newest = newest(&data).filter(|run| Some(run.id) != last);
        // A process that told of nothing may have been killed before its run began.
        let Some(run) = newest else {
            assert_eq!(told, 0, "the run is lost");
            continue;
        };
        last = Some(run.id);
        assert_eq!(run.status, RunStatus::Interrupted);
        let kept = recorded_steps(&data, run.id);
        assert!(kept >= told, "{told} steps were told, {kept} are kept");
        assert_eq!(run.reached.map(|reached| reached.step), kept.checked_sub(1));
        most = most.max(told);
    }
    assert!(most > 10, "the processes lived too short to show anything: {most} steps");
}

fn newest(data: &Path) -> Option<RunSummary> {
    let journal = Journal::open_read(data).ok()?;
    journal.list(&Filter { limit: 1, ..Filter::default() }).unwrap().runs.pop()
}

/// Starts a run, kills its process after a while and counts the steps it told of.
fn told_before_death(graph: &Path, data: &Path, life: Duration) -> u64 {
    let mut process = start(graph, data);
    let mut input = process.stdin.take().unwrap();
    let call = |id: u64, method: &str, params: Value| {
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let hello = call(
        1,
        "initialize",
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "crash", "version": "1" },
        }),
    );
    input.write_all(hello.as_bytes()).unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let run = call(
        2,
        "tools/call",
        json!({ "name": "count", "arguments": {}, "_meta": { "progressToken": 1 } }),
    );
    let greeting = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    input.write_all(format!("{greeting}{run}").as_bytes()).unwrap();
    std::thread::sleep(life);
    process.kill().unwrap();
    process.wait().unwrap();
    // What it wrote before it died is still in the pipe; the last line may be cut.
    let lines = output.lines().map_while(Result::ok);
    let told = lines.filter(|line| line.contains("notifications/progress") && line.ends_with('}'));
    told.filter_map(|line| serde_json::from_str::<Value>(&line).ok()).fold(0, |most, message| {
        // The whole part of the progress is the number of steps that have ended.
        let ended = message["params"]["progress"].as_f64().unwrap() as u64;
        most.max(ended + 1)
    })
}

fn start(graph: &Path, data: &Path) -> Child {
    Command::new(BINARY)
        .arg("-g")
        .arg(graph)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn recorded_steps(data: &Path, run: RunId) -> u64 {
    let journal = Journal::open_read(data).unwrap();
    let mut steps = 0;
    let mut from = 0;
    loop {
        let events = journal.events(run, from, 1000).unwrap();
        let Some((last, _)) = events.last() else { return steps };
        from = last + 1;
        let begun = |event: &StoredEvent| matches!(event, StoredEvent::StepStarted { .. });
        steps += events.iter().filter(|(_, event)| begun(event)).count() as u64;
    }
}
