//! Runs as data: every `cases/*.md` holds graphs, calls and what is expected of them.
//!
//! A case file is prose with fenced blocks. `yaml graph` is the graph for the calls below it; where
//! it says nothing of them, `version`, `server` and the servers of the answers are added. `json
//! answers` is what its upstream tools answer, by `server.tool`. A `json call TOOL` begins a call,
//! and is followed by what is expected: `text trace`, `json result` or `json error`.
//!
//! A trace has a line for each step in the order they end: its path, its node, what it works on,
//! its output and where it goes. Of an error only the members that the case names are compared;
//! `messageContains` lists parts of its message, and `place` is where it happened, in words.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "support/case_file.rs"]
mod case_file;
#[path = "support/compile.rs"]
mod compile;
#[path = "support/scripted.rs"]
mod scripted;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mcpgraph_engine::Event;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_runtime::{Caller, Execution, Record, Runtime};
use mcpgraph_value::Value;

use case_file::{Block, Case};
use compile::compile;
use scripted::Scripted;

#[tokio::test]
async fn every_case_runs_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut calls = 0;
    let mut wrong = String::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        for case in case_file::cases(&text) {
            calls += 1;
            if let Err(why) = check(&case).await {
                let name = path.file_name().unwrap().to_string_lossy();
                writeln!(wrong, "{name}:{}: {}\n{why}\n", case.line, case.title).unwrap();
            }
        }
    }
    println!("{calls} calls in {} files", paths.len());
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(calls > 0);
}

/// Makes one call and compares everything the case says about it.
async fn check(case: &Case<'_>) -> Result<(), String> {
    let graph = compile(&whole_file(case)?)?;
    let tool = graph.tool(case.tool).cloned().ok_or("no such tool")?;
    let input = Value::from_json(case.input).map_err(|error| error.to_string())?;
    let recorder = Arc::new(Recorder::default());
    let runtime = Runtime::new(Arc::new(Scripted::new(case.answers)?));
    let finished = runtime
        .execute(Execution {
            caller: Arc::clone(&recorder) as _,
            ..Execution::new(Arc::clone(&graph), Arc::clone(&tool), input)
        })
        .await;
    replay(&runtime, &recorder, graph, tool)?;
    let trace = recorder.trace.lock().unwrap().clone();
    for block in &case.expected {
        match block {
            Block::Trace(wanted) if trace.trim() != wanted.trim() => {
                return Err(format!("trace:\n{trace}\nwanted:\n{wanted}"));
            }
            Block::Result(wanted) => {
                let wanted = Value::from_json(wanted).map_err(|error| error.to_string())?;
                match &finished.outcome {
                    Ok(result) if result.to_json() == wanted.to_json() => {}
                    other => return Err(format!("got {other:?}\nwanted {wanted}\n{trace}")),
                }
            }
            Block::Error(wanted) => {
                let wanted = Value::from_json(wanted).map_err(|error| error.to_string())?;
                let Err(error) = &finished.outcome else {
                    return Err(format!("got {:?}\nwanted an error {wanted}", finished.outcome));
                };
                let error = finished.details(error);
                let place = finished.place.as_ref().map(ToString::to_string);
                if !is_as_wanted(&error, place.as_deref(), &wanted)? {
                    let place = place.unwrap_or_default();
                    return Err(format!("got {error} at {place}\nwanted {wanted}\n{trace}"));
                }
            }
            Block::Trace(_) => {}
        }
    }
    Ok(())
}

/// Whether the run happens again as it did, without its answers.
fn replay(
    runtime: &Runtime,
    recorder: &Recorder,
    graph: Arc<Graph>,
    tool: Arc<Tool>,
) -> Result<(), String> {
    let record = Record {
        graph,
        tool,
        events: &recorder.events.lock().unwrap(),
        is_same: &Event::tells_the_same_as,
    };
    runtime.replay(&record).map_err(|divergence| format!("replay: {divergence:#?}"))
}

/// The graph of a case with what every file needs and a case is not about.
fn whole_file(case: &Case<'_>) -> Result<String, String> {
    let mut text = case.graph.to_owned();
    if !text.contains("\nserver:") && !text.starts_with("server:") {
        text.insert_str(0, "server: { name: case, version: \"1\" }\n");
    }
    let answers = Value::from_json(case.answers).map_err(|error| error.to_string())?;
    let tools = answers.as_object().ok_or("answers are an object")?;
    let servers: BTreeSet<&str> =
        tools.keys().filter_map(|tool| tool.split_once('.')).map(|(server, _)| server).collect();
    if !servers.is_empty() && !text.contains("mcpServers:") {
        let servers: Vec<String> =
            servers.iter().map(|server| format!("{server}: {{ command: scripted }}")).collect();
        write!(text, "\nmcpServers: {{ {} }}\n", servers.join(", ")).unwrap();
    }
    Ok(text)
}

/// Whether an error has what the case names of it.
fn is_as_wanted(error: &Value, place: Option<&str>, wanted: &Value) -> Result<bool, String> {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let is_in_message = |part: &Value| part.as_str().is_some_and(|part| message.contains(part));
    let wanted = wanted.as_object().ok_or("an error is an object")?;
    Ok(wanted.iter().all(|(key, value)| match (&**key, value) {
        ("messageContains", Value::Array(parts)) => parts.iter().all(is_in_message),
        ("messageContains", part) => is_in_message(part),
        ("place", wanted) => wanted.as_str() == place,
        _ => error.get(key) == Some(value),
    }))
}

/// Writes down what happens: a line when a step ends, and one for each retry.
#[derive(Default)]
struct Recorder {
    events: Mutex<Vec<Event>>,
    trace: Mutex<String>,
    inputs: Mutex<HashMap<u64, (String, Option<Value>)>>,
}

impl Caller for Recorder {
    fn event(&self, event: &Event) {
        self.events.lock().unwrap().push(event.clone());
        let mut trace = self.trace.lock().unwrap();
        let mut inputs = self.inputs.lock().unwrap();
        match event {
            Event::StepStarted { step, path, node, input, .. } => {
                inputs.insert(*step, (format!("{path} {node}"), input.clone()));
            }
            Event::StepFinished { step, output, edge, .. } => {
                let (name, input) = &inputs[step];
                let input = input.as_ref().map(|input| format!(" {input}")).unwrap_or_default();
                let edge = edge.as_ref().map(|edge| format!(" → {edge}")).unwrap_or_default();
                writeln!(trace, "{name}{input} = {output}{edge}").unwrap();
            }
            Event::StepFailed { step, error, edge, .. } => {
                let edge = edge.as_ref().map(|edge| format!(" → {edge}")).unwrap_or_default();
                writeln!(trace, "{} failed: {}{edge}", inputs[step].0, error.kind.name()).unwrap();
            }
            Event::Retrying { step, attempt, delay, error, .. } => {
                let (name, why) = (&inputs[step].0, error.kind.name());
                let pause = delay.as_millis();
                writeln!(trace, "{name} retry {attempt} after {pause} ms: {why}").unwrap();
            }
            _ => {}
        }
    }
}
