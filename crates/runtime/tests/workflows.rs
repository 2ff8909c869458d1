//! Workflows as the engine and the sandbox run them, around a call that the test makes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "support/compile.rs"]
mod compile;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcpgraph_engine::{ErrorKind, Event, RunError};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_runtime::{
    Caller, DebugSession, DebugState, Debugger, Execution, Finished, Instruments, LiveRuns, Record,
    Runtime, World, Wrapped,
};
use mcpgraph_upstream::{ClientInfo, UpstreamOptions, Upstreams, specs};
use mcpgraph_value::{Map, Value};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Keeps what happens.
#[derive(Default)]
struct Recorder(Mutex<Vec<Event>>);

impl Caller for Recorder {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// The call: gives its request back, or fails where it is called so.
struct Inside;

#[async_trait]
impl Wrapped for Inside {
    async fn call(
        &self,
        request: Value,
        _: Option<TraceContext>,
        _: CancellationToken,
    ) -> Result<Value, RunError> {
        if request.pointer("/params/name").and_then(Value::as_str) == Some("fail") {
            return Err(RunError::new(ErrorKind::ProtocolError { code: -32602 }, "no such tool"));
        }
        Ok(Value::from_json(&format!(r#"{{"asked":{}}}"#, request.to_json())).unwrap())
    }
}

/// The call as a run of its own, inside that of the workflow, before which a debugger stops.
struct Debugged {
    runtime: Runtime,
    around: RunId,
    graph: Arc<Graph>,
    session: Mutex<Option<DebugSession>>,
}

#[async_trait]
impl Wrapped for Debugged {
    async fn call(
        &self,
        _: Value,
        _: Option<TraceContext>,
        _: CancellationToken,
    ) -> Result<Value, RunError> {
        let tool = Arc::clone(self.graph.tool("inner").unwrap());
        let execution = Execution {
            origin: Origin { around: Some(self.around), ..Origin::default() },
            debug: self.session.lock().unwrap().take(),
            ..Execution::new(Arc::clone(&self.graph), tool, Map::new().into())
        };
        self.runtime.execute(execution).await.outcome
    }
}

fn runtime() -> Runtime {
    let info = ClientInfo { name: "test".into(), title: None, version: "1".into() };
    let upstreams = Upstreams::new(specs(&[]), UpstreamOptions::new(info));
    Runtime::new(Arc::new(World::new(Arc::new(upstreams))))
}

/// A workflow with these nodes between `start`, `call` and `end`, which the test connects.
fn workflow(nodes: &str) -> (Arc<Graph>, Arc<Tool>) {
    let text = format!(
        "server: {{name: t, version: '1'}}\nworkflows:\n- name: w\n  workflowType: tools/call\n  \
         executionLimits: {{maxPayloadBytes: 65536}}\n  nodes:\n{nodes}\n  - {{id: end, type: end}}\n"
    );
    let graph = compile::compile(&text).unwrap();
    let tool = Arc::clone(graph.runnable("workflow:w").unwrap());
    (graph, tool)
}

fn execution(graph: &Arc<Graph>, tool: &Arc<Tool>, name: &str) -> (Execution, Arc<Recorder>) {
    let input = format!(
        r#"{{"request":{{"method":"tools/call","params":{{"name":"{name}"}}}},"metadata":{{}}}}"#
    );
    let recorder = Arc::new(Recorder::default());
    let execution = Execution {
        caller: Arc::clone(&recorder) as _,
        wrapped: Some(Arc::new(Inside)),
        ..Execution::new(Arc::clone(graph), Arc::clone(tool), Value::from_json(&input).unwrap())
    };
    (execution, recorder)
}

/// Runs a workflow around a call of `name`, and again by its record.
async fn run(nodes: &str, name: &str) -> (Finished, Vec<Event>) {
    let (graph, tool) = workflow(nodes);
    let runtime = runtime();
    let (execution, recorder) = execution(&graph, &tool, name);
    let finished = runtime.execute(execution).await;
    let events = recorder.0.lock().unwrap().clone();
    let record = Record { graph, tool, events: &events, is_same: &Event::tells_the_same_as };
    runtime.replay(&record).unwrap_or_else(|divergence| panic!("{divergence:?}"));
    (finished, events)
}

/// The nodes in the order they ended, with a mark where they failed.
fn ended(events: &[Event]) -> Vec<String> {
    let node = |wanted: u64| {
        events.iter().find_map(|event| match event {
            Event::StepStarted { step, node, .. } if *step == wanted => Some(node.to_string()),
            _ => None,
        })
    };
    events
        .iter()
        .filter_map(|event| match event {
            Event::StepFinished { step, .. } => node(*step),
            Event::StepFailed { step, .. } => node(*step).map(|node| format!("{node}!")),
            _ => None,
        })
        .collect()
}

/// A run around one that stands still has to wait for it, and must not run out of time.
#[tokio::test]
async fn the_time_of_a_workflow_stands_still_while_the_run_inside_it_does() {
    let text = "
server: {name: t, version: '1'}
tools:
- name: inner
  inputSchema: {type: object}
  nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
workflows:
- name: w
  workflowType: tools/call
  executionLimits: {maxExecutionTimeMs: 300}
  nodes:
  - {id: start, type: start, next: call}
  - {id: call, type: mcp-call, next: end}
  - {id: end, type: end}
";
    let graph = compile::compile(text).unwrap();
    let tool = Arc::clone(graph.runnable("workflow:w").unwrap());
    let live = Some(LiveRuns::default());
    let runtime = runtime().with(Instruments { live, ..Instruments::default() });
    let (execution, recorder) = execution(&graph, &tool, "x");
    let (mut debugger, session) = Debugger::new(true, Vec::new());
    let wrapped = Debugged {
        runtime: runtime.clone(),
        around: execution.id,
        graph: Arc::clone(&graph),
        session: Mutex::new(Some(session)),
    };
    let execution = Execution { wrapped: Some(Arc::new(wrapped)), ..execution };
    let running = tokio::spawn(async move { runtime.execute(execution).await });
    assert!(matches!(debugger.stopped().await, DebugState::Paused { .. }));
    tokio::time::sleep(Duration::from_millis(600)).await;
    debugger.resume().await.unwrap();
    let finished = running.await.unwrap();
    assert_eq!(finished.outcome, Ok(Map::new().into()));
    let events = recorder.0.lock().unwrap().clone();
    let stands = |event: &Event| matches!(event, Event::Paused { .. } | Event::Resumed { .. });
    assert_eq!(events.iter().filter(|event| stands(event)).count(), 2, "{events:?}");
    let record = Record { graph, tool, events: &events, is_same: &Event::tells_the_same_as };
    assert!(self::runtime().replay(&record).is_ok());
}

#[tokio::test]
async fn branches_that_end_by_themselves_come_first() {
    let nodes = "
  - {id: start, type: start, next: [side, call, other]}
  - {id: side, type: hook, hook: {script: ''}, next: deeper}
  - {id: deeper, type: hook, hook: {script: ''}}
  - {id: other, type: hook, hook: {script: ''}}
  - {id: call, type: mcp-call, next: [after, end]}
  - {id: after, type: hook, hook: {script: ''}}";
    let (finished, events) = run(nodes, "x").await;
    assert!(finished.outcome.is_ok(), "{finished:?}");
    assert_eq!(ended(&events), ["start", "side", "deeper", "other", "call", "after", "end"]);
}

/// A hook that gives too much has failed, and what it gave is not taken.
#[tokio::test]
async fn what_a_failed_hook_gave_changes_nothing() {
    for script in [
        "return { request: {}, response: { much: 'x'.repeat(100000) } }",
        "return { request: {}, response: 1 }",
    ] {
        let nodes = format!(
            "
  - {{id: start, type: start, next: before}}
  - {{id: before, type: hook, hook: {{onError: continue, script: \"{script}\"}}, next: call}}
  - {{id: call, type: mcp-call, next: end}}"
        );
        let (finished, events) = run(&nodes, "x").await;
        assert_eq!(ended(&events), ["start", "before!", "call", "end"]);
        let response = finished.outcome.unwrap();
        let asked = response.pointer("/asked/params/name").and_then(Value::as_str);
        assert_eq!(asked, Some("x"), "{response}");
    }
}

#[tokio::test]
async fn what_nobody_waits_for_ends_after_the_answer_and_is_recorded() {
    let nodes = "
  - {id: start, type: start, next: [slow, call]}
  - {id: slow, type: hook, hook: {blocking: false, script: \"console.log('hi'); await sleep(300); throw new Error('lost')\"}}
  - {id: call, type: mcp-call, next: end}";
    let (graph, tool) = workflow(nodes);
    let (execution, recorder) = execution(&graph, &tool, "x");
    let (answer, answered) = oneshot::channel();
    let execution = Execution { answer: Some(answer), ..execution };
    let runtime = runtime();
    let began = Instant::now();
    let run = tokio::spawn(async move { runtime.execute(execution).await });
    let early = answered.await.unwrap();
    assert!(early.outcome.is_ok() && began.elapsed() < Duration::from_millis(250));
    let finished = run.await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(early.outcome, finished.outcome);
    let events = recorder.0.lock().unwrap().clone();
    assert_eq!(ended(&events), ["start", "call", "end", "slow!"]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Log { message, .. } if &**message == "hi"))
    );
    assert!(matches!(events.last(), Some(Event::Finished { outcome: Ok(_), .. })));
    // The same again, by its record.
    let (_, events) = self::run(nodes, "x").await;
    assert_eq!(ended(&events), ["start", "call", "end", "slow!"]);
}

#[tokio::test]
async fn a_run_that_fails_does_not_stop_what_nobody_waits_for() {
    let nodes = "
  - {id: start, type: start, next: [note, guard]}
  - {id: note, type: hook, hook: {blocking: false, script: await sleep(100)}}
  - {id: guard, type: hook, hook: {script: 'return {continue: false}'}, next: call}
  - {id: call, type: mcp-call, next: end}";
    let (finished, events) = run(nodes, "x").await;
    assert_eq!(finished.outcome.unwrap_err().kind, ErrorKind::HookBlocked);
    assert_eq!(ended(&events), ["start", "guard!", "note"]);
}

#[tokio::test]
async fn failures_are_told_apart() {
    let nodes = |script: &str| {
        format!(
            "
  - {{id: start, type: start, next: hook}}
  - {{id: hook, type: hook, hook: {{script: {script:?}}}, next: call}}
  - {{id: call, type: mcp-call, next: end}}"
        )
    };
    let kind = async |script: &str, name: &str| {
        run(&nodes(script), name).await.0.outcome.unwrap_err().kind
    };
    assert_eq!(kind("throw 1", "x").await, ErrorKind::HookFailed);
    assert_eq!(kind("return 1", "x").await, ErrorKind::HookFailed);
    assert_eq!(kind("return {continue: 'no'}", "x").await, ErrorKind::HookFailed);
    assert_eq!(kind("return {context: 1}", "x").await, ErrorKind::HookFailed);
    assert_eq!(kind("", "fail").await, ErrorKind::ProtocolError { code: -32602 });
    let skip = "
  - {id: start, type: start, next: route}
  - {id: route, type: switch, conditions: [{rule: true, target: end}, {target: call}]}
  - {id: call, type: mcp-call, next: end}";
    let (finished, _) = run(skip, "x").await;
    assert_eq!(finished.outcome.unwrap_err().kind, ErrorKind::NoResponse);
}

#[tokio::test]
async fn variables_and_outputs_are_seen_by_later_nodes() {
    let nodes = "
  - {id: start, type: start, next: one}
  - {id: one, type: hook, hook: {script: 'return {context: {a: 1, b: 1}}'}, next: two}
  - {id: two, type: transform, transform: {expr: \"{'context': {'b': $.variables.a + 1, 'seen': $.one.context.a}}\"}, next: call}
  - {id: call, type: mcp-call, next: three}
  - {id: three, type: hook, hook: {script: 'return {response: {...context.variables, asked: context.response.asked.params.name}}'}, next: end}";
    let (finished, _) = run(nodes, "x").await;
    assert_eq!(finished.outcome.unwrap().to_json(), r#"{"a":1,"b":2,"seen":1,"asked":"x"}"#);
}
