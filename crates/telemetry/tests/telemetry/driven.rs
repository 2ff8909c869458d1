//! Runs that are really driven, with tools that answer what a test says.

use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::Event;
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_runtime::{
    EffectCall, Effects, Execution, Finished, Observer, RunObserver, RunStart, Runtime,
};
use mcpgraph_value::Value;
use parking_lot::Mutex;

use crate::compile::compile;
use crate::scripted::Scripted;

/// A loop, a retry, a loop over items, another tool, branches, and an error that is handled.
pub(crate) const GRAPH: &str = r#"
version: "1.0"
server: { name: test, version: "1" }
mcpServers: { shop: { command: scripted } }
tools:
  - name: order
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: count }
      - { id: count, type: transform, transform: { expr: '$executionCount("count") + 1' }, next: again }
      - id: again
        type: switch
        conditions:
          - { rule: { "<": [{ var: $.count }, 2] }, target: count }
          - { target: price }
      - { id: price, type: mcp, server: shop, tool: price, args: { of: $.entry.items }, retry: { times: 2, backoffMs: 1 }, next: each }
      - id: each
        type: foreach
        items: $.entry.items
        body: [{ id: double, type: transform, transform: { expr: $.item * 2 } }]
        next: greet
      - { id: greet, type: graph, tool: greeting, args: { name: you }, next: sides }
      - id: sides
        type: parallel
        branches:
          left: [{ id: l, type: transform, transform: { expr: '1' } }]
          right: [{ id: r, type: transform, transform: { expr: '2' } }]
        next: broken
      - { id: broken, type: mcp, server: shop, tool: fail, onError: mend, next: exit }
      - { id: mend, type: transform, transform: { expr: $.greet }, next: exit }
      - { id: exit, type: exit }
  - name: greeting
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: say }
      - { id: say, type: transform, transform: { expr: '"Hello, " & $.entry.name' }, next: exit }
      - { id: exit, type: exit }
  - name: failing
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: call }
      - { id: call, type: mcp, server: shop, tool: refuse, next: exit }
      - { id: exit, type: exit }
"#;

const ANSWERS: &str = r#"{
  "shop.price": [{"unavailable": "not yet"}, {"structuredContent": {"total": 7}, "content": []}],
  "shop.fail": {"isError": true, "content": [{"type": "text", "text": "sold out"}]},
  "shop.refuse": {"protocol": {"code": -32050, "message": "closed"}}
}"#;

/// What a run came to.
pub(crate) struct Driven {
    pub(crate) finished: Finished,
    pub(crate) began: SystemTime,
    pub(crate) events: Vec<Event>,
    /// What each upstream call was to pass on, with the tool's name.
    pub(crate) passed_on: Vec<(String, Option<TraceContext>)>,
}

/// Runs a tool of [`GRAPH`] before these observers.
pub(crate) async fn drive(
    tool: &str,
    input: &str,
    origin: Origin,
    observers: &[Arc<dyn Observer>],
) -> Driven {
    let tools =
        Arc::new(Listening { tools: Scripted::new(ANSWERS).unwrap(), passed_on: Mutex::default() });
    let notes = Arc::new(Notes::default());
    let mut runtime = Runtime::new(Arc::clone(&tools) as _).observed_by(Arc::clone(&notes) as _);
    for observer in observers {
        runtime = runtime.observed_by(Arc::clone(observer));
    }
    let finished = runtime.execute(execution(tool, input, origin)).await;
    let notes = notes.0.lock();
    let (began, events) = (notes.0.unwrap(), notes.1.clone());
    let passed_on = tools.passed_on.lock().clone();
    Driven { finished, began, events, passed_on }
}

/// A call of a tool of [`GRAPH`].
pub(crate) fn execution(tool: &str, input: &str, origin: Origin) -> Execution {
    let graph = compile(GRAPH).unwrap();
    let tool = Arc::clone(graph.tool(tool).unwrap());
    Execution { origin, ..Execution::new(graph, tool, Value::from_json(input).unwrap()) }
}

impl Driven {
    pub(crate) fn run(&self) -> RunId {
        self.finished.run
    }
}

/// Notes the trace that calls are made in.
struct Listening {
    tools: Scripted,
    passed_on: Mutex<Vec<(String, Option<TraceContext>)>>,
}

#[async_trait::async_trait]
impl Effects for Listening {
    async fn call(&self, call: EffectCall) -> Result<Value, mcpgraph_engine::RunError> {
        let target = call.call.target.to_string();
        let tool = target.rsplit('.').next().unwrap_or_default();
        self.passed_on.lock().push((tool.to_owned(), call.trace.clone()));
        self.tools.call(call).await
    }
}

/// Notes when a run began and what happened.
#[derive(Default)]
struct Notes(Arc<Mutex<(Option<SystemTime>, Vec<Event>)>>);

impl Observer for Notes {
    fn begin(&self, run: &RunStart<'_>) -> Option<Box<dyn RunObserver>> {
        self.0.lock().0 = Some(run.at);
        Some(Box::new(Self(Arc::clone(&self.0))))
    }
}

impl RunObserver for Notes {
    fn event(&mut self, event: &Event) {
        self.0.lock().1.push(event.clone());
    }
}
