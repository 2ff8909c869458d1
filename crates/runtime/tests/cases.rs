//! Runs as data: every `cases/*.md` holds graphs, calls and what is expected of them.
//!
//! A case file is prose with fenced blocks. `yaml graph` is the graph for the calls below it, and
//! `json answers` what its upstream tools answer, by `server.tool`. A `json call TOOL` begins a
//! call, and is followed by what is expected: `text trace`, `json result` or `json error`.

#[path = "support/case_file.rs"]
mod case_file;
#[path = "support/scripted.rs"]
mod scripted;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_engine::Event;
use mcpgraph_graph::Graph;
use mcpgraph_runtime::{Caller, Execution, Runtime};
use mcpgraph_value::Value;
use tokio_util::sync::CancellationToken;

use case_file::{Block, Case};
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
    let graph = compile(case.graph)?;
    let tool = graph.tool(case.tool).cloned().ok_or("no such tool")?;
    let input = Value::from_json(case.input).map_err(|error| error.to_string())?;
    let runtime = Runtime::new(Arc::new(Scripted::new(case.answers)?));
    let recorder = Arc::new(Recorder::default());
    let finished = runtime
        .execute(Execution {
            graph,
            tool,
            input,
            caller: Arc::clone(&recorder) as _,
            cancel: CancellationToken::new(),
            meta: Vec::new(),
        })
        .await;
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
                let error = error.to_value();
                // Only what the case names is compared, so that it can be about one thing.
                for (key, value) in wanted.as_object().ok_or("an error is an object")?.iter() {
                    if error.get(key) != Some(value) {
                        return Err(format!("got {error}\nwanted {wanted}\n{trace}"));
                    }
                }
            }
            Block::Trace(_) => {}
        }
    }
    Ok(())
}

fn compile(text: &str) -> Result<Arc<Graph>, String> {
    let source = Source::new("graph.yaml", text);
    let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    let graph = file.and_then(|file| {
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        graph
    });
    match graph {
        Some(graph) if !diagnostics.has_errors() => Ok(Arc::new(graph)),
        _ => Err(to_terminal(&diagnostics, Colour::Plain)),
    }
}

/// Writes down what happens: a line when a step ends, and one for each retry.
#[derive(Default)]
struct Recorder {
    trace: Mutex<String>,
    inputs: Mutex<std::collections::HashMap<u64, (String, Option<Value>)>>,
}

impl Caller for Recorder {
    fn event(&self, event: &Event) {
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
            Event::Retrying { step, attempt, error, .. } => {
                writeln!(trace, "{} retry {attempt}: {}", inputs[step].0, error.kind.name())
                    .unwrap();
            }
            _ => {}
        }
    }
}
