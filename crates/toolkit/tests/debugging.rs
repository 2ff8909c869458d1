//! Runs under a debugger, controlled by a client that does not always wait for an answer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::Source;
use mcpgraph_journal::{Journal, JournalOptions};
use mcpgraph_mcp::server::{Broadcaster, Limits, Server, serve_stdio};
use mcpgraph_runtime::Instruments;
use mcpgraph_toolkit::{Documents, Loaded, NotSaved, Toolkit};
use mcpgraph_upstream::{ClientInfo, UpstreamOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio_util::sync::CancellationToken;

const GRAPH: &str = r#"
server: { name: debugged, version: "1" }
tools:
  - name: adds
    inputSchema: { type: object }
    nodes:
      - { id: in, type: entry, next: one }
      - { id: one, type: transform, transform: { expr: "1" }, next: two }
      - { id: two, type: transform, transform: { expr: "$.one + 1" }, next: out }
      - { id: out, type: exit }
  - name: sleeps
    inputSchema: { type: object }
    nodes:
      - { id: in, type: entry, next: nap }
      - { id: nap, type: wait, duration: 2h, next: out }
      - { id: out, type: exit }
  - name: asks
    inputSchema: { type: object }
    nodes:
      - { id: in, type: entry, next: sure }
      - id: sure
        type: ask
        message: Sure?
        schema: { type: object, properties: { note: { type: string } } }
        onDecline: out
        next: out
      - { id: out, type: exit }
"#;

/// How long an answer may take on a machine that has a lot to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// A graph file that nobody changes.
struct Fixed;

impl Documents for Fixed {
    fn source(&self) -> Result<Arc<Source>, String> {
        Ok(Source::new("graph.yaml", GRAPH))
    }

    fn read(&self) -> Loaded {
        self.with_text(GRAPH)
    }

    fn with_text(&self, text: &str) -> Loaded {
        let source = Source::new("graph.yaml", text);
        let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
        let graph = file.as_ref().and_then(|file| {
            let (graph, found) = mcpgraph_graph::compile(file);
            diagnostics.extend(found);
            graph
        });
        Loaded { file, graph: graph.map(Arc::new), diagnostics }
    }

    fn save(
        &self,
        _: &Source,
        _: &mut dyn FnMut(&Arc<Source>) -> Option<String>,
    ) -> Result<(), NotSaved> {
        Err(NotSaved::Declined)
    }
}

/// A client of a toolkit that records its runs.
struct Agent {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: u64,
    /// Answers that came before those that were waited for.
    early: HashMap<u64, Value>,
    _folder: TempDir,
}

impl Agent {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), JournalOptions::default()).unwrap();
        let instruments =
            Instruments { journal: Some(Arc::new(journal)), ..Instruments::default() };
        let info = ClientInfo { name: "test".to_owned(), title: None, version: "1".to_owned() };
        let toolkit = Toolkit::new(Arc::new(Fixed), UpstreamOptions::new(info), instruments);
        let server =
            Server::new(toolkit, Broadcaster::new(), Limits::default(), CancellationToken::new());
        let (client, far) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(async move { serve_stdio(&server, reader, writer).await });
        let (output, input) = tokio::io::split(client);
        let output = BufReader::new(output).lines();
        Self { input, output, asked: 0, early: HashMap::new(), _folder: folder }
    }

    /// Calls a tool, and does not wait for the answer.
    async fn send(&mut self, tool: &str, arguments: Value) -> u64 {
        self.asked += 1;
        let request = json!({
            "jsonrpc": "2.0", "id": self.asked, "method": "tools/call",
            "params": {
                "name": tool, "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                }
            }
        });
        self.input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        self.asked
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await;
            let line = line.expect("an answer in time").unwrap().expect("a line");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if let Some(id) = message["id"].as_u64() {
                self.early.insert(id, message["result"]["structuredContent"].take());
            }
        }
    }

    async fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send(tool, arguments).await;
        self.answer(id).await
    }

    async fn control(&mut self, run: &Value, action: &str, mut more: Value) -> Value {
        more["runId"] = run.clone();
        more["action"] = action.into();
        self.ask("controlRun", more).await
    }
}

#[tokio::test]
async fn breakpoints_are_taken_away_only_where_that_is_said() {
    let mut agent = Agent::new();
    let points = json!([{ "node": "one" }, { "node": "two" }]);
    let begun = json!({ "toolName": "adds", "breakpoints": points });
    let run = agent.ask("debugGraphTool", begun).await["run"].clone();
    let refused = agent.control(&run, "setBreakpoints", json!({})).await;
    assert_eq!(refused["error"]["code"], "MG0440", "{refused}");
    let stands = agent.control(&run, "resume", json!({})).await;
    assert_eq!((&stands["state"], &stands["node"]), (&json!("paused"), &json!("two")), "{stands}");
    let none = json!({ "breakpoints": [] });
    assert_eq!(agent.control(&run, "setBreakpoints", none).await["state"], "paused");
    assert_eq!(agent.control(&run, "resume", json!({})).await["result"], 2);
}

#[tokio::test]
async fn an_action_that_is_not_known_is_answered_with_all_there_are() {
    let mut agent = Agent::new();
    let refused = agent.control(&json!("x"), "jump", json!({})).await;
    let message = refused["error"]["message"].as_str().unwrap();
    for action in [
        "pause",
        "resume",
        "step",
        "stepOver",
        "stop",
        "state",
        "setBreakpoints",
        "setOutput",
        "leave",
        "join",
    ] {
        assert!(message.contains(action), "{action}: {message}");
    }
}

#[tokio::test]
async fn an_output_that_was_changed_is_told_with_its_step() {
    let mut agent = Agent::new();
    let begun = json!({ "toolName": "adds", "breakpoints": [{ "node": "two" }] });
    let run = agent.ask("debugGraphTool", begun).await["run"].clone();
    agent.control(&run, "setOutput", json!({ "node": "one", "output": 41 })).await;
    assert_eq!(agent.control(&run, "resume", json!({})).await["result"], 42);
    let recorded = agent.ask("getRun", json!({ "runId": run })).await;
    let told =
        |step: usize| (&recorded["steps"][step]["output"], &recorded["steps"][step]["changedTo"]);
    assert_eq!(told(1), (&json!(1), &json!(41)), "{recorded:#}");
    assert_eq!(told(2), (&json!(42), &Value::Null), "{recorded:#}");
    let step = agent.ask("getRun", json!({ "runId": run, "step": 1 })).await;
    assert_eq!(step["steps"][0]["changedTo"], 41, "{step:#}");
}

#[tokio::test]
async fn an_answer_to_a_run_that_stands_still_is_there_when_it_is_told_how_it_stands() {
    let mut agent = Agent::new();
    let begun = json!({ "toolName": "asks", "paused": false });
    let asked = agent.ask("debugGraphTool", begun).await;
    let run = asked["run"].clone();
    let paused = agent.control(&run, "pause", json!({})).await;
    assert_eq!((&paused["state"], &paused["next"]), (&json!("paused"), &Value::Null), "{paused}");
    let answer = json!({ "questionId": asked["question"]["id"], "answer": { "note": "yes" } });
    let stands = agent.ask("answerQuestion", answer).await;
    assert_eq!(stands["state"], "paused", "{stands:#}");
    assert_eq!(stands["next"]["node"], "out", "{stands:#}");
    assert_eq!(stands["context"]["sure"], json!({ "note": "yes" }), "{stands:#}");
    assert_eq!(agent.control(&run, "resume", json!({})).await["state"], "ended");
}

/// As one client does that sends all at once, and as several would.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commands_are_answered_while_debuggers_join() {
    let mut agent = Agent::new();
    let begun = json!({ "toolName": "sleeps", "paused": false, "waitMs": 0 });
    let run = agent.ask("debugGraphTool", begun).await["run"].clone();
    for _ in 0..10 {
        let mut sent = Vec::new();
        for action in ["join", "pause", "join", "setBreakpoints", "join", "state"].repeat(4) {
            let call = json!({ "runId": run, "action": action, "breakpoints": [], "waitMs": 0 });
            sent.push(agent.send("controlRun", call).await);
        }
        for id in sent {
            let stands = agent.answer(id).await;
            assert!(!stands.to_string().contains("ended"), "{stands}");
        }
    }
    assert_eq!(agent.control(&run, "pause", json!({})).await["state"], "paused");
    assert_eq!(agent.control(&run, "stop", json!({})).await["state"], "ended");
}
