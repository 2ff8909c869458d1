//! The toolkit as an agent uses it: every answer fits the schema its tool declares.

mod asking;
mod building;
mod debugging;
mod examples;
mod expressions;
mod refusals;
mod running;
mod saving;
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

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

/// A toolkit on files of its own, or on those of another agent.
struct Agent {
    client: StdioClient,
    schemas: BTreeMap<String, Value>,
    folder: Arc<TempDir>,
}

impl Agent {
    /// A toolkit with the demo server, which serves three files as `filesystem`.
    fn new() -> Self {
        Self::with_servers(&json!({}))
    }

    /// The same with more servers, or others.
    fn with_servers(more: &Value) -> Self {
        let folder = files(GRAPH, more);
        Self::at(folder, toolkit())
    }

    /// A toolkit on files that are there.
    fn at(folder: Arc<TempDir>, mut program: Command) -> Self {
        program.args(["-g", "graph.yaml", "-m", "mcp.json", "--data", "runs"]);
        program.current_dir(folder.path());
        let mut client = StdioClient::start(program);
        client.initialize();
        let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
        let schemas = tools.as_array().unwrap().iter().map(|tool| {
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
            }
            (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone())
        });
        Self { schemas: schemas.collect(), client, folder }
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

    /// Why a tool does not do what is asked; there is always a code.
    fn refuse(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(tool, arguments);
        assert!(answer["error"]["code"].is_string(), "{tool}: {answer:#}");
        answer["error"].clone()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("graph.yaml")
    }

    fn file(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }
}

/// The program.
fn toolkit() -> Command {
    let mut program = command();
    program.arg("toolkit");
    program
}

/// A graph file, three other files, and an `mcp.json` with the demo server for them.
fn files(graph: &str, more: &Value) -> Arc<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    let root = folder.path().join("files");
    fs::create_dir(&root).unwrap();
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(root.join(name), name).unwrap();
    }
    let mut servers = json!({ "filesystem": demo_server(&root) });
    for (name, server) in more.as_object().unwrap() {
        servers[name] = server.clone();
    }
    let servers = json!({ "mcpServers": servers }).to_string();
    fs::write(folder.path().join("mcp.json"), servers).unwrap();
    Arc::new(folder)
}

fn demo_server(root: &Path) -> Value {
    json!({ "command": BINARY, "args": ["demo-server", "--root", root] })
}

/// The tool that the specification builds.
fn count_files() -> Value {
    json!({
        "name": "count_files",
        "description": "Counts the number of files in a directory",
        "inputSchema": {
            "type": "object",
            "properties": {
                "directory": {
                    "type": "string", "description": "The directory path to count files in"
                }
            },
            "required": ["directory"]
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "count": { "type": "number", "description": "The number of files in the directory" }
            }
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

/// A tool of transforms only.
fn computing(name: &str, expression: &str) -> Value {
    json!({
        "name": name,
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "compute" },
            { "id": "compute", "type": "transform", "transform": { "expr": expression }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    })
}

/// Whether everything that is wanted is there: objects may have more members.
fn has(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(key, value)| found.get(key).is_some_and(|found| has(found, value)))
        }
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| has(found, wanted))
        }
        _ => found == wanted,
    }
}
