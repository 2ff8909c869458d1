//! What a compiled graph says of the file it comes from.

use std::time::Duration;

use mcpgraph_diagnostics::Source;
use mcpgraph_graph::Graph;

use crate::support;

fn graph(text: &str) -> Graph {
    support::compile(&Source::new("graph.yaml", text)).0.expect("a graph")
}

const FILE: &str = r#"
server: {name: orders, version: "1.2", instructions: Be kind.}
executionLimits: {maxNodeExecutions: 7, maxDepth: 2}
mcpServers: {s: {command: run}}
tools:
  - name: first
    title: The first
    description: Does it.
    inputSchema: {type: object, x-extra: [1, 2.50]}
    outputSchema: {type: number}
    annotations: {readOnlyHint: true, vendor: {a: 1}}
    _meta: {example.com/b: 1}
    executionLimits: {maxNodeExecutions: 9}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: s, tool: t, retry: {times: 4, backoffMs: 20000}, next: exit}
      - {id: exit, type: exit}
  - name: second
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
"#;

#[test]
fn a_tool_is_shown_to_clients_as_it_was_written() {
    let definition = graph(FILE).tool("first").unwrap().definition.to_json();
    assert_eq!(
        definition,
        r#"{"name":"first","title":"The first","description":"Does it.","#.to_owned()
            + r#""inputSchema":{"type":"object","x-extra":[1,2.50]},"#
            + r#""outputSchema":{"type":"number"},"#
            + r#""annotations":{"readOnlyHint":true,"vendor":{"a":1}},"#
            + r#""_meta":{"example.com/b":1}}"#
    );
}

#[test]
fn the_server_has_its_name_for_a_title() {
    let server = graph(FILE).server;
    assert_eq!((server.name.as_str(), server.title.as_str()), ("orders", "orders"));
    assert_eq!(server.instructions.as_deref(), Some("Be kind."));
}

#[test]
fn a_tools_own_limits_stand_in_the_place_of_the_files() {
    let graph = graph(FILE);
    let limits = |name| graph.tool(name).unwrap().limits;
    assert_eq!((limits("first").node_executions, limits("first").depth), (9, 2));
    assert_eq!((limits("second").node_executions, limits("second").depth), (7, 2));
    assert_eq!(limits("second").execution_time, Duration::from_mins(5));
    assert_eq!(limits("second").context_bytes, 64 * 1024 * 1024);
}

#[test]
fn the_pause_before_a_retry_doubles_up_to_a_minute() {
    let graph = graph(FILE);
    let node = &graph.tool("first").unwrap().body.nodes[1];
    let pauses = [1, 2, 3, 4, u32::MAX].map(|attempt| node.backoff(attempt).as_secs());
    assert_eq!(pauses, [20, 40, 60, 60, 60]);
}

#[test]
fn a_digest_names_the_text_of_a_tool() {
    let before = graph(FILE);
    let after = graph(&FILE.replace("Does it.", "Does it well."));
    let digest = |graph: &Graph, name| graph.tool(name).unwrap().digest;
    assert_ne!(digest(&before, "first"), digest(&after, "first"));
    assert_eq!(digest(&before, "second"), digest(&after, "second"));
    assert_ne!(before.digest, after.digest);
    assert_eq!(before.digest, graph(FILE).digest);
}
