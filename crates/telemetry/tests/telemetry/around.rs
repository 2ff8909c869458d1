//! A request that goes through workflows is one span of a server, however many runs it has.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{Event, Given};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Face, Origin, RunId, TraceContext};
use mcpgraph_runtime::{Observer, PassStart, RunObserver, RunStart};
use mcpgraph_telemetry::{Peer, Protocol, Traces};
use mcpgraph_value::Value;
use serde_json::{Value as Json, json};

use crate::collector::Collector;
use crate::compile::compile;

const GRAPH: &str = r#"
version: "1.0"
server: { name: test, version: "1" }
tools:
  - name: hello
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: exit }
      - { id: exit, type: exit }
workflows:
  - name: audit
    workflowType: tools/call
    nodes:
      - { id: start, type: start, next: call }
      - { id: call, type: mcp-call, next: end }
      - { id: end, type: end }
"#;

/// Begins a run inside of another one.
fn begin(
    observer: &dyn Observer,
    graph: &Arc<Graph>,
    tool: &Arc<Tool>,
    input: &str,
    outer: Option<(RunId, TraceContext)>,
) -> (RunId, Box<dyn RunObserver>) {
    let (around, trace) = outer.unzip();
    let origin = Origin { face: Face::Mcp, around, trace, ..Origin::default() };
    let (id, at, digest) = (RunId::new(), SystemTime::now(), tool.digest);
    let start = RunStart {
        id,
        graph: Some(graph),
        tool: &tool.name,
        digest,
        origin: &origin,
        at,
        is_durable: false,
    };
    let mut run = observer.begin(&start).unwrap();
    let input = Value::from_json(input).unwrap();
    let (tool, given) = (Arc::clone(&tool.name), Given::default());
    run.event(&Event::Started { tool, digest, input, given });
    (id, run)
}

#[tokio::test]
async fn the_outermost_workflow_speaks_for_the_request() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    traces.serves_over(true);
    traces.know_servers(|server| {
        let url = Some(format!("https://{server}.example/mcp?key=hidden"));
        Some(Peer { url, protocol_version: Some("2025-11-25") })
    });
    let observer = traces.observer();
    let graph = compile(GRAPH).unwrap();
    let (workflow, hello) = (&graph.workflows[0].tool, graph.tool("hello").unwrap());
    let request = r#"{"request": {"method": "tools/call", "params": {"name": "hello"}}}"#;
    let (id, outer) = begin(&*observer, &graph, workflow, request, None);
    let below = || Some((id, outer.trace_context(None).unwrap()));
    begin(&*observer, &graph, workflow, request, below());
    begin(&*observer, &graph, hello, "{}", below());
    let (around, trace) = below().unzip();
    let origin = Origin { face: Face::Mcp, around, trace, ..Origin::default() };
    let passed = PassStart {
        tool: "up__echo",
        server: "up",
        inner: "echo",
        arguments: "{}",
        origin: &origin,
        at: SystemTime::now(),
    };
    observer.pass(&passed).unwrap().ended(Ok("{}"));
    drop(outer);
    let list = r#"{"request": {"method": "tools/list"}}"#;
    begin(&*observer, &graph, workflow, list, None);
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    // 1 is internal, 2 a server's, 3 a client's.
    let mut told: Vec<_> = spans.iter().map(|span| (&*span.name, span.kind)).collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("execute_tool hello", 1),
            ("execute_tool up__echo", 1),
            ("execute_tool workflow:audit", 1),
            ("tools/call echo", 3),
            ("tools/call hello", 2),
            ("tools/list", 2),
        ]
    );
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let request = of("tools/call hello");
    assert_eq!(request.get("gen_ai.tool.name"), json!("hello"));
    assert_eq!(request.get("mcp.method.name"), json!("tools/call"));
    assert_eq!(request.get("mcpgraph.workflow"), json!("workflow:audit"));
    assert_eq!(request.get("network.transport"), json!("tcp"));
    for key in ["mcp.method.name", "network.transport"] {
        assert_eq!(of("execute_tool hello").get(key), Json::Null);
    }
    let (client, peer) = (of("tools/call echo"), json!("up.example"));
    assert_eq!((client.get("server.address"), client.get("server.port")), (peer, json!(443)));
    assert_eq!(client.get("mcp.protocol.version"), json!("2025-11-25"));
    assert_eq!(of("tools/list").get("gen_ai.tool.name"), Json::Null);
}

#[tokio::test]
async fn a_failed_call_is_one_also_with_a_workflow_around_it() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let graph = compile(GRAPH).unwrap();
    let workflow = &graph.workflows[0].tool;
    let request = r#"{"request": {"method": "tools/call", "params": {"name": "hello"}}}"#;
    for (response, outer) in [
        (r#"{"content": [{"type": "text", "text": "sold out"}], "isError": true}"#, None),
        (r#"{"content": [], "isError": false}"#, None),
        // What is inside of another workflow is no answer yet.
        (r#"{"content": [], "isError": true}"#, Some(())),
    ] {
        let outer = outer.map(|()| {
            let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
            (RunId::new(), TraceContext { traceparent: traceparent.into(), tracestate: None })
        });
        let (_, mut run) = begin(&*traces.observer(), &graph, workflow, request, outer);
        let outcome = Ok(Value::from_json(response).unwrap());
        run.event(&Event::Finished { outcome, at: Duration::from_millis(1) });
    }
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    let [failed, fine, inside] = spans.as_slice() else { panic!("{spans:#?}") };
    assert_eq!((failed.kind, failed.status, &*failed.message), (2, 2, "sold out"));
    assert_eq!(failed.get("error.type"), json!("tool_error"));
    assert_eq!(failed.get("mcpgraph.error.code"), json!("MG0402"));
    assert_eq!(failed.events[0].name, "exception");
    assert_ne!(failed.get("mcpgraph.output.size"), Json::Null);
    for span in [fine, inside] {
        assert_eq!((span.status, span.get("error.type")), (0, Json::Null));
    }
}
