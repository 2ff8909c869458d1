//! The toolkit as an agent uses it: every answer fits the schema its tool declares.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::product::{BINARY, command};

const GRAPH: &str = r#"# Kept as it is.
version: "1.0"
server: { name: built, version: "1", title: Built }
tools:
  # Doubles.
  - name: double
    description: Doubles a number
    inputSchema: { type: object, properties: { n: { type: number } }, required: [n] }
    nodes:
      - { id: entry, type: entry, next: compute }
      - { id: compute, type: transform, transform: { expr: "$.entry.n * 2" }, next: exit }
      - { id: exit, type: exit }
"#;

/// A toolkit on files of its own.
struct Agent {
    client: StdioClient,
    schemas: BTreeMap<String, Value>,
    folder: TempDir,
}

impl Agent {
    fn new(mut program: Command, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("graph.yaml"), GRAPH).unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        for name in ["a.txt", "b.txt", "c.txt"] {
            fs::write(folder.path().join("files").join(name), name).unwrap();
        }
        let root = folder.path().join("files");
        let servers = json!({ "mcpServers": {
            "filesystem": { "command": BINARY, "args": ["demo-server", "--root", root] },
            "broken": { "command": "/nonexistent/server" },
        } });
        fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
        program.args(arguments).args(["-g", "graph.yaml", "-m", "mcp.json", "--data", "runs"]);
        program.current_dir(folder.path());
        let mut client = StdioClient::start(program);
        client.initialize();
        let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
        let schemas = tools.as_array().unwrap().iter().map(|tool| {
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone())
        });
        Self { client, schemas: schemas.collect(), folder }
    }

    /// The structured answer of a tool, which fits its schema.
    fn ask(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.client.call_tool(tool, arguments);
        let answer = result["structuredContent"].clone();
        let schema = jsonschema::validator_for(&self.schemas[tool]).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&answer).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{tool}: {wrong:?}: {answer}");
        assert_eq!(result["isError"] == true, answer["error"].is_object(), "{tool}: {answer}");
        answer
    }

    /// The answer of a tool that does what is asked.
    fn get(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(tool, arguments);
        assert!(answer["error"].is_null(), "{tool}: {answer:#}");
        answer
    }

    /// Why a tool does not do what is asked.
    fn refuse(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(tool, arguments);
        assert!(answer["error"].is_object(), "{tool}: {answer:#}");
        answer["error"].clone()
    }

    fn file(&self) -> String {
        fs::read_to_string(self.folder.path().join("graph.yaml")).unwrap()
    }
}

fn count_files() -> Value {
    json!({
        "name": "count_files",
        "description": "Counts the number of files in a directory",
        "inputSchema": {
            "type": "object",
            "properties": { "directory": { "type": "string", "description": "The directory" } },
            "required": ["directory"]
        },
        "outputSchema": {
            "type": "object",
            "properties": { "count": { "type": "number", "description": "The number of files" } }
        },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "list_directory_node" },
            {
                "id": "list_directory_node", "type": "mcp", "server": "filesystem",
                "tool": "list_directory", "args": { "path": "$.entry.directory" },
                "next": "count_files_node"
            },
            {
                "id": "count_files_node", "type": "transform",
                "transform": {
                    "expr": "{ \"count\": $count($split($.list_directory_node.content, \"\\n\")) }"
                },
                "next": "exit"
            },
            { "id": "exit", "type": "exit" }
        ]
    })
}

#[test]
fn an_agent_builds_a_file_counter() {
    let mut agent = Agent::new(command(), &["toolkit"]);
    let servers = agent.get("listMcpServers", &json!({}));
    assert_eq!(servers["items"][0]["status"], "available", "{servers}");
    assert_eq!(servers["items"][1]["status"], "unavailable", "{servers}");
    assert!(servers["items"][1]["error"].is_string(), "{servers}");
    let tools = agent.get("listMcpServerTools", &json!({ "serverName": "filesystem" }));
    assert!(tools["items"].as_array().unwrap().iter().any(|tool| tool["name"] == "list_directory"));
    let everywhere = agent.get("listMcpServerTools", &json!({}));
    assert_eq!(everywhere["errors"][0]["serverName"], "broken");
    let asked = json!({ "serverName": "filesystem", "toolName": "list_directory" });
    let tool = agent.get("getMcpServerTool", &asked);
    assert_eq!(tool["inputSchema"]["required"][0], "path");
    let tried = agent.get(
        "testMcpTool",
        &json!({
            "serverName": "filesystem", "toolName": "list_directory",
            "args": { "path": "$.entry.directory" }, "context": { "entry": { "directory": "." } }
        }),
    );
    assert_eq!(tried["args"], json!({ "path": "." }));
    assert!(tried["output"]["content"].as_str().unwrap().contains("a.txt"));

    let arguments = json!({ "directory": "." });
    let inline =
        json!({ "toolDefinition": count_files(), "arguments": arguments, "logging": true });
    let ran = agent.get("runGraphTool", &inline);
    assert_eq!(ran["result"], json!({ "count": 3 }));
    assert_eq!(ran["steps"].as_array().unwrap().len(), 4, "{ran}");
    assert_eq!(ran["steps"][1]["input"], json!({ "path": "." }));
    assert!(ran["steps"][2]["expression"].as_str().unwrap().contains("$count"));
    assert!(ran["steps"][2]["durationMs"].is_number());
    assert_eq!(agent.file(), GRAPH);

    let added = agent.get("addGraphTool", &json!({ "tool": count_files() }));
    assert_eq!(added["changed"], true);
    assert!(agent.file().starts_with(GRAPH.trim_end()), "{}", agent.file());
    let taken = agent.refuse("addGraphTool", &json!({ "tool": count_files() }));
    assert_eq!(taken["diagnostics"][0]["code"], "MG0201", "{taken}");
    let listed = agent.get("listGraphTools", &json!({}));
    assert_eq!(listed["items"][1]["name"], "count_files");
    assert_eq!(
        agent.get("getGraphTool", &json!({ "toolName": "count_files" }))["tool"],
        count_files()
    );
    let saved = json!({ "toolName": "count_files", "arguments": arguments });
    let ran = agent.get("runGraphTool", &saved);
    assert_eq!(ran["result"], json!({ "count": 3 }));

    let mut other = count_files();
    other["description"] = "Counts".into();
    let update = json!({ "toolName": "count_files", "tool": other });
    let before = agent.file();
    let diff = agent.get("diffGraphTool", &update);
    assert!(diff["diff"].as_str().unwrap().contains("+    description: Counts"), "{diff}");
    assert_eq!(agent.file(), before);
    assert_eq!(agent.get("updateGraphTool", &update)["diff"], diff["diff"]);
    agent.get("deleteGraphTool", &json!({ "toolName": "count_files" }));
    assert_eq!(agent.file(), GRAPH);
}

#[test]
fn nothing_invalid_is_saved() {
    let mut agent = Agent::new(command(), &["toolkit"]);
    let broken = |change: fn(&mut Value)| {
        let mut tool = count_files();
        change(&mut tool);
        tool
    };
    let cases = [
        (broken(|tool| tool["nodes"][0]["next"] = "nowhere".into()), "/nodes/0/next"),
        (broken(|tool| tool["nodes"][1]["server"] = "filesystm".into()), "/nodes/1/server"),
        (broken(|tool| tool["nodes"][1]["tool"] = "list_directry".into()), "/nodes/1/tool"),
        (broken(|tool| tool["nodes"][1]["args"] = json!({ "pth": "." })), "/nodes/1/args/pth"),
        (
            broken(|tool| tool["nodes"][2]["transform"]["expr"] = "{ 1 +".into()),
            "/nodes/2/transform/expr",
        ),
    ];
    for (tool, pointer) in cases {
        for (name, problems) in [
            ("validateGraphTool", agent.get("validateGraphTool", &json!({ "tool": tool }))),
            ("addGraphTool", agent.refuse("addGraphTool", &json!({ "tool": tool }))),
        ] {
            let found = problems["diagnostics"].as_array().unwrap();
            let is_told = found
                .iter()
                .any(|problem| problem["pointer"] == pointer && problem["severity"] == "error");
            assert!(is_told, "{name} {pointer}: {problems:#}");
        }
        assert_eq!(agent.file(), GRAPH);
    }
    let valid = agent.get("validateGraphTool", &json!({ "tool": count_files() }));
    assert_eq!(valid, json!({ "valid": true, "diagnostics": [] }));
}

#[test]
fn a_failure_comes_with_what_led_to_it_and_runs_are_gone_on_from() {
    let mut agent = Agent::new(command(), &["toolkit"]);
    let arguments = json!({ "directory": "missing" });
    let inline = json!({ "toolDefinition": count_files(), "arguments": arguments });
    let error = agent.refuse("runGraphTool", &inline);
    assert_eq!(error["node"], "list_directory_node", "{error:#}");
    assert_eq!(error["failedAt"]["context"], json!({ "entry": arguments }));
    assert_eq!(error["steps"].as_array().unwrap().len(), 2);

    let ran = agent.get("runGraphTool", &json!({ "toolName": "double", "arguments": { "n": 2 } }));
    assert_eq!(ran["result"], 4);
    let runs = agent.get("listRuns", &json!({ "toolName": "double" }));
    assert_eq!(runs["items"][0]["id"], ran["run"]);
    let step = agent.get("getRun", &json!({ "runId": ran["run"], "step": 1 }));
    assert_eq!(step["context"], json!({ "entry": { "n": 2 } }));
    let changed = json!({ "runId": ran["run"], "from": 1, "changes": { "entry": { "n": 21 } } });
    assert_eq!(agent.get("rerunGraphTool", &changed)["result"], 42);
    let anew = json!({ "runId": ran["run"], "arguments": { "n": 5 } });
    assert_eq!(agent.get("rerunGraphTool", &anew)["result"], 10);
    agent.refuse("getRun", &json!({ "runId": "00000000" }));
}

#[test]
fn expressions_are_tried() {
    let mut agent = Agent::new(Command::new(env!("CARGO_BIN_EXE_mcpgraphtoolkit")), &[]);
    let cases = [
        (
            "testJSONata",
            json!({ "expression": "$count($.a)", "context": { "a": [1, 2] } }),
            json!({ "undefined": false, "result": 2 }),
        ),
        ("testJSONata", json!({ "expression": "$.nothing" }), json!({ "undefined": true })),
        (
            "testJSONata",
            json!({ "expression": "null" }),
            json!({ "undefined": false, "result": null }),
        ),
        (
            "testJSONata",
            json!({
                "expression": "[$executionCount('a'), $nodeExecution('a', -1), $previousNode(), $.a]",
                "history": [{ "node": "a", "output": 1 }, { "node": "a", "output": 2 }, { "node": "b", "output": 3 }]
            }),
            json!({ "undefined": false, "result": [2, 2, 3, 2] }),
        ),
        (
            "testJSONLogic",
            json!({ "expression": { ">": [{ "var": "entry.value" }, 10] }, "context": { "entry": { "value": 15 } } }),
            json!({ "result": true, "holds": true }),
        ),
    ];
    for (tool, arguments, wanted) in cases {
        assert_eq!(agent.get(tool, &arguments), wanted, "{arguments}");
    }
    let error = agent.refuse("testJSONata", &json!({ "expression": "1 + " }));
    assert!(error["code"].is_string() && error["position"].is_number(), "{error}");
    let error = agent.refuse("testJSONLogic", &json!({ "expression": { "grater": [1, 2] } }));
    assert_eq!((&error["code"], &error["token"]), (&"L0101".into(), &"grater".into()), "{error}");
    let schema = agent.get("getGraphSchema", &json!({}));
    assert!(jsonschema::validator_for(&schema["schema"]).unwrap().is_valid(&count_files()));
    assert_eq!(agent.get("getGraphServer", &json!({}))["title"], "Built");
    let error = agent.refuse("listMcpServerTools", &json!({ "serverName": "filesytem" }));
    assert_eq!(error["nearest"], "filesystem");
    assert_eq!(error["known"], json!(["filesystem", "broken"]));
    let error = agent.refuse("getGraphTool", &json!({ "toolName": "dubble" }));
    assert_eq!(error["known"], json!(["double"]));
    agent.refuse("getGraphTool", &json!({}));
}
