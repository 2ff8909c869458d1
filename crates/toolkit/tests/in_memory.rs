//! The toolkit on a file in memory, which changes at the worst moments.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::Source;
use mcpgraph_mcp::server::{Broadcaster, Limits, Server, serve_stdio};
use mcpgraph_runtime::Instruments;
use mcpgraph_toolkit::{Documents, Loaded, NotSaved, Toolkit};
use mcpgraph_upstream::{ClientInfo, UpstreamOptions};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

const GRAPH: &str = r#"server: { name: memory, version: "1" }
tools:
  - name: first # Stays.
    inputSchema: { type: object }
    nodes: [{ id: in, type: entry, next: out }, { id: out, type: exit }]
"#;

/// What somebody else does to a text before it is saved; none leaves it.
type Interference = Box<dyn FnMut(&str) -> Option<String> + Send>;

/// A graph file that is nowhere.
struct InMemory {
    text: Mutex<String>,
    interference: Mutex<Interference>,
    refusal: Option<&'static str>,
}

impl Documents for InMemory {
    fn source(&self) -> Result<Arc<Source>, String> {
        Ok(Source::new("graph.yaml", self.text.lock().as_str()))
    }

    fn read(&self) -> Loaded {
        let text = self.text.lock().clone();
        self.with_text(&text)
    }

    fn with_text(&self, text: &str) -> Loaded {
        let source = Source::new("graph.yaml", text);
        let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
        let compiled = file.as_ref().map(mcpgraph_graph::compile);
        let graph = compiled.and_then(|(graph, found)| {
            diagnostics.extend(found);
            graph
        });
        if let Some(file) = &file {
            file.fill_pointers(&mut diagnostics);
        }
        let graph = graph.filter(|_| !diagnostics.has_errors()).map(Arc::new);
        Loaded { file, graph, diagnostics }
    }

    fn save(
        &self,
        _: &Source,
        edit: &mut dyn FnMut(&Arc<Source>) -> Option<String>,
    ) -> Result<(), NotSaved> {
        if let Some(why) = self.refusal {
            return Err(NotSaved::Failed(why.to_owned()));
        }
        let mut text = self.text.lock();
        if let Some(other) = (self.interference.lock())(&text) {
            *text = other;
        }
        *text = edit(&Source::new("graph.yaml", text.as_str())).ok_or(NotSaved::Declined)?;
        Ok(())
    }
}

/// Calls one tool; gives its structured answer and the file afterwards.
async fn call(documents: InMemory, tool: &str, arguments: Value) -> (Value, String) {
    let documents = Arc::new(documents);
    let info = ClientInfo { name: "test".to_owned(), title: None, version: "1".to_owned() };
    let toolkit = Toolkit::new(
        Arc::clone(&documents) as _,
        UpstreamOptions::new(info),
        Instruments::default(),
    );
    let server =
        Server::new(toolkit, Broadcaster::new(), Limits::default(), CancellationToken::new());
    let (client, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(async move { serve_stdio(&server, reader, writer).await });
    let (output, mut input) = tokio::io::split(client);
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            }
        }
    });
    input.write_all(format!("{request}\n").as_bytes()).await.expect("the server reads");
    let mut line = String::new();
    let mut output = BufReader::new(output);
    let read = output.read_line(&mut line);
    let read = tokio::time::timeout(Duration::from_secs(30), read).await;
    read.expect("an answer in time").expect("a line");
    let answer: Value = serde_json::from_str(&line).expect("a message");
    let text = documents.text.lock().clone();
    (answer["result"]["structuredContent"].clone(), text)
}

fn memory(interference: Interference) -> InMemory {
    InMemory {
        text: Mutex::new(GRAPH.to_owned()),
        interference: Mutex::new(interference),
        refusal: None,
    }
}

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "inputSchema": { "type": "object" },
        "nodes": [{ "id": "in", "type": "entry", "next": "out" }, { "id": "out", "type": "exit" }]
    })
}

/// Does something once.
fn once(change: impl Fn(&str) -> String + Send + 'static) -> Interference {
    let mut done = false;
    Box::new(move |text| (!std::mem::replace(&mut done, true)).then(|| change(text)))
}

#[tokio::test]
async fn an_edit_is_made_again_on_what_somebody_else_saved() {
    let other = once(|text| format!("# Somebody else's.\n{text}"));
    let (answer, text) = call(memory(other), "addGraphTool", json!({ "tool": tool("mine") })).await;
    assert_eq!(answer["changed"], true, "{answer}");
    assert!(text.starts_with(&format!("# Somebody else's.\n{GRAPH}")), "{text}");
    assert!(text.contains("name: mine"), "{text}");
    // The answer shows what was saved, not what was prepared.
    assert!(!answer["diff"].as_str().unwrap().contains("+# Somebody"), "{answer}");
}

#[tokio::test]
async fn an_edit_that_does_not_fit_any_more_is_refused() {
    let taken = once(|text| text.replace("name: first", "name: mine"));
    let (answer, text) = call(memory(taken), "addGraphTool", json!({ "tool": tool("mine") })).await;
    assert_eq!(answer["error"]["diagnostics"][0]["code"], "MG0201", "{answer}");
    assert_eq!(text, GRAPH.replace("name: first", "name: mine"));

    let gone = once(|text| text.replace("name: first", "name: other"));
    let delete = json!({ "toolName": "first" });
    let (answer, text) = call(memory(gone), "deleteGraphTool", delete).await;
    assert_eq!(answer["error"]["code"], "MG0441", "{answer}");
    assert_eq!(text, GRAPH.replace("name: first", "name: other"));
}

/// Names are told once, and only those of nodes that the run may come to.
#[tokio::test]
async fn a_breakpoint_at_a_node_that_no_run_comes_to_is_refused() {
    let each = json!({ "id": "each", "type": "foreach", "items": "[1, 2]", "body": [
        { "id": "double", "type": "transform", "transform": { "expr": "$.item * 2" } },
    ], "next": "sub" });
    let sub = json!({ "id": "sub", "type": "graph", "tool": "first", "next": "out" });
    let mut mine = tool("mine");
    mine["nodes"] = json!([
        { "id": "in", "type": "entry", "next": "each" }, each, sub, { "id": "out", "type": "exit" },
    ]);
    let debug = |node: &str| {
        let points = json!([{ "node": node }]);
        let arguments = json!({ "toolDefinition": mine, "breakpoints": points, "paused": false });
        call(memory(Box::new(|_| None)), "debugGraphTool", arguments)
    };
    let (answer, _) = debug("duoble").await;
    assert_eq!(answer["error"]["code"], "MG0441", "{answer}");
    assert_eq!(answer["error"]["nearest"], "double", "{answer}");
    let known: Vec<&str> =
        answer["error"]["known"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let once: std::collections::HashSet<&str> = known.iter().copied().collect();
    assert_eq!(once.len(), known.len(), "{answer}");
    for name in ["in", "each", "sub", "out", "double"] {
        assert!(once.contains(name), "{name}: {answer}");
    }
    let (answer, _) = debug("double").await;
    assert_eq!(answer["state"], "paused", "{answer}");
}

/// Other servers would have to be asked whether the calls are right.
#[tokio::test]
async fn an_edit_is_checked_anew_when_the_servers_changed() {
    let servers =
        once(|text| format!("{text}mcpServers: {{ s: {{ command: 'true', disabled: true }} }}\n"));
    let (answer, text) =
        call(memory(servers), "addGraphTool", json!({ "tool": tool("mine") })).await;
    assert_eq!(answer["changed"], true, "{answer}");
    assert!(text.contains("name: mine") && text.contains("mcpServers"), "{text}");
}

#[tokio::test]
async fn somebody_who_never_stops_does_not_hold_up_the_toolkit_for_ever() {
    let mut count = 0;
    let restless: Interference = Box::new(move |_| {
        count += 1;
        Some(format!("{GRAPH}mcpServers: {{ s{count}: {{ command: 'true', disabled: true }} }}\n"))
    });
    let (answer, text) =
        call(memory(restless), "addGraphTool", json!({ "tool": tool("mine") })).await;
    assert_eq!(answer["error"]["code"], "MG0444", "{answer}");
    assert!(answer["error"]["diff"].as_str().unwrap().contains("+  - name: mine"), "{answer}");
    assert!(!text.contains("name: mine"));
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_told_of() {
    let documents = InMemory { refusal: Some("the disk is full"), ..memory(Box::new(|_| None)) };
    let (answer, text) = call(documents, "addGraphTool", json!({ "tool": tool("mine") })).await;
    assert_eq!(answer["error"]["code"], "MG0444", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("the disk is full"));
    assert_eq!(text, GRAPH);
}

/// What is listed is what is checked: every schema compiles, and every tool says what it does.
#[tokio::test]
async fn a_failure_is_told_with_what_its_node_saw_though_nothing_is_recorded() {
    let definition = json!({
        "name": "halves",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "in", "type": "entry", "next": "each" },
            {
                "id": "each", "type": "foreach", "items": "[4, 2]", "as": "n", "maxParallel": 2,
                "next": "out",
                "body": [{
                    "id": "half", "type": "transform",
                    "transform": { "expr": "$.n = 2 ? $error('odd one out') : $.n / 2" }
                }]
            },
            { "id": "out", "type": "exit" }
        ]
    });
    let arguments = json!({ "toolDefinition": definition, "arguments": { "a": 1 } });
    let (answer, _) = call(memory(Box::new(|_| None)), "runGraphTool", arguments).await;
    let failed = &answer["error"]["failedAt"];
    assert_eq!(failed["node"], "half", "{answer:#}");
    let context = json!({ "in": { "a": 1 }, "n": 2, "index": 1 });
    assert_eq!(failed["context"], context, "{answer:#}");
}

#[tokio::test]
async fn every_tool_is_described() {
    let documents = memory(Box::new(|_| None));
    let info = ClientInfo { name: "test".to_owned(), title: None, version: "1".to_owned() };
    let toolkit =
        Toolkit::new(Arc::new(documents), UpstreamOptions::new(info), Instruments::default());
    let tools = toolkit.tools();
    assert_eq!(tools.len(), 22);
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            assert!(jsonschema::meta::is_valid(&tool[schema]), "{tool}");
            jsonschema::validator_for(&tool[schema]).unwrap();
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        let hints = &tool["annotations"];
        assert!(
            hints["readOnlyHint"] != hints["destructiveHint"] || tool["name"] == "addGraphTool"
        );
    }
}
