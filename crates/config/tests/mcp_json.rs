//! `mcp.json`, as MCP clients keep it, and how it is merged under a graph file.

use mcpgraph_config::model::{Origin, Transport};
use mcpgraph_config::{merge_servers, read_graph, read_mcp_json};
use mcpgraph_diagnostics::{Colour, Source, to_json, to_terminal};

const MCP_JSON: &str = r#"{
	"mcpServers": {
		"files": {
			"command": "npx",
			"args": ["-y", "server-filesystem", "${ROOT:-.}"],
			"alwaysAllow": ["read_file"]
		},
		"search": {
			"type": "http",
			"url": "https://example.com/mcp",
			"header": {"X-Key": "k"}
		}
	},
	"inputs": []
}"#;

#[test]
fn tabs_and_the_keys_of_other_clients_do_no_harm() {
    let source = Source::new("mcp.json", MCP_JSON);
    let (servers, diagnostics) = read_mcp_json(&source, &|_| None);
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["files", "search"]);
    let Transport::Stdio { args, .. } = &servers[0].transport else { panic!("stdio") };
    assert_eq!(args[2].value, ".");
    insta::assert_snapshot!(to_terminal(&diagnostics, Colour::Plain), @r#"
    warning[MG0113]: `header` is not a known key of a server
      --> mcp.json:11:4
       |
    11 |             "header": {"X-Key": "k"}
       |             ^^^^^^^^
       hint: did you mean `headers`?
    "#);
}

#[test]
fn the_servers_of_the_graph_win() {
    let graph = "server: {name: g, version: '1'}\nmcpServers: {files: {command: own}}\n";
    let graph = Source::new("graph.yaml", graph);
    let (file, _) = read_graph(&graph, &|_| None);
    let mut file = file.expect("a file");
    let (servers, _) = read_mcp_json(&Source::new("mcp.json", MCP_JSON), &|_| None);
    merge_servers(&mut file, servers);
    let origins: Vec<(&str, Origin, &str)> = file
        .servers
        .iter()
        .map(|server| (server.name.as_str(), server.origin, server.source.name()))
        .collect();
    assert_eq!(
        origins,
        [("files", Origin::Graph, "graph.yaml"), ("search", Origin::McpJson, "mcp.json")]
    );
}

#[test]
fn problems_have_pointers_for_agents() {
    let source = Source::new("mcp.json", r#"{"mcpServers": {"a/b": {"command": 5}}}"#);
    let (_, diagnostics) = read_mcp_json(&source, &|_| None);
    let json = to_json(&diagnostics);
    assert_eq!(json["diagnostics"][0]["pointer"], "/mcpServers/a~1b/command");
    assert_eq!(json["diagnostics"][0]["column"], 36);
}

#[test]
fn a_file_without_servers_is_reported() {
    for text in ["{}", "[]", "", "{\"servers\": {}}"] {
        let (servers, diagnostics) = read_mcp_json(&Source::new("mcp.json", text), &|_| None);
        assert!(servers.is_empty() && diagnostics.has_errors(), "{text}");
    }
}

/// Whoever checks or serves a client's file as a graph file is told what it is, and nothing of keys
/// that it was never meant to have.
#[test]
fn a_client_s_file_is_no_graph_file() {
    let told = |text: &str| {
        let (file, diagnostics) = read_graph(&Source::new("mcp.json", text), &|_| None);
        (file.is_some(), to_terminal(&diagnostics, Colour::Plain))
    };
    let text = r#"{"mcpServers": {"files": {"command": "npx"}}, "inputs": []}"#;
    let (is_read, problems) = told(text);
    assert!(is_read, "what it says can be shown");
    insta::assert_snapshot!(problems, @r#"
    error[MG0112]: this is a client's file of servers, not a graph file
     --> mcp.json:1:2
      |
    1 | {"mcpServers": {"files": {"command": "npx"}}, "inputs": []}
      |  ^^^^^^^^^^^^
      hint: `mcpgraph serve -m mcp.json` serves its servers; a graph file has `server` and `tools`, too
    "#);
    let text = r#"{"servers": {"files": {"type": "http", "url": "https://example.com"}}}"#;
    insta::assert_snapshot!(told(text).1, @r#"
    error[MG0112]: this is a client's file of servers, not a graph file
     --> mcp.json:1:2
      |
    1 | {"servers": {"files": {"type": "http", "url": "https://example.com"}}}
      |  ^^^^^^^^^
      hint: rename `servers` to `mcpServers`, and `mcpgraph serve -m mcp.json` serves them
    "#);
    let (_, problems) = read_mcp_json(&Source::new("mcp.json", text), &|_| None);
    insta::assert_snapshot!(to_terminal(&problems, Colour::Plain), @r#"
    error[MG0112]: an mcp.json needs the key `mcpServers`
     --> mcp.json:1:2
      |
    1 | {"servers": {"files": {"type": "http", "url": "https://example.com"}}}
      |  ^^^^^^^^^
      hint: `servers` is how VS Code writes it; rename it to `mcpServers`
    "#);
    // A draft of a graph file is one.
    for draft in ["mcpServers: {a: {command: b}}\nversion: '2'", "tools: []", "servers: {a: 1}"] {
        assert!(!told(draft).1.contains("client's file"), "{draft}");
    }
}
