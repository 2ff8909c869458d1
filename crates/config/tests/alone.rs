//! Graph files of which nothing outside is called: recorded ones, and those that are only drawn.

use mcpgraph_config::model::{GraphFile, Origin};
use mcpgraph_config::{read_graph, read_graph_alone};
use mcpgraph_diagnostics::{Diagnostics, Source};

/// Variables that nobody set, and servers of an `mcp.json` that is not there, also in bodies.
const GRAPH: &str = r#"
server: { name: g, version: "1" }
mcpServers:
  own: { command: "${PROGRAM}", env: { KEY: "${SECRET}" } }
tools:
  - name: t
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: foreach
        items: "[1, 2]"
        body: [{ id: inner, type: mcp, server: elsewhere, tool: a }]
        next: both
      - id: both
        type: parallel
        branches:
          left: [{ id: left, type: mcp, server: further, tool: b }]
          right: [{ id: right, type: mcp, server: own, tool: c }]
        next: exit
      - { id: exit, type: exit }
"#;

fn codes(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(|diagnostic| diagnostic.code.to_string())
        .collect()
}

fn servers(file: &GraphFile) -> Vec<(&str, Origin)> {
    file.servers.iter().map(|server| (server.name.as_str(), server.origin)).collect()
}

#[test]
fn neither_variables_nor_servers_have_to_be_known() {
    let source = Source::new("graph.yaml", GRAPH);
    let (file, diagnostics) = read_graph(&source, &|_| None);
    assert!(!codes(&diagnostics).is_empty());
    assert_eq!(servers(&file.expect("a file")), [("own", Origin::Graph)]);

    let (file, diagnostics) = read_graph_alone(&source);
    assert_eq!(codes(&diagnostics), [""; 0]);
    let file = file.expect("a file");
    let mut known = servers(&file);
    known.sort_by_key(|(name, _)| *name);
    assert_eq!(
        known,
        [("elsewhere", Origin::McpJson), ("further", Origin::McpJson), ("own", Origin::Graph)]
    );
}

#[test]
fn what_is_wrong_with_the_text_is_told_as_ever() {
    let text = GRAPH.replace("type: foreach", "type: fereach");
    let source = Source::new("graph.yaml", text);
    let (_, alone) = read_graph_alone(&source);
    let (_, usual) = read_graph(&source, &|_| Some(String::new()));
    assert!(!codes(&alone).is_empty());
    assert_eq!(codes(&alone), codes(&usual));
    let (file, diagnostics) = read_graph_alone(&Source::new("graph.yaml", "- not a graph"));
    assert!(file.is_none() && diagnostics.has_errors());
}
