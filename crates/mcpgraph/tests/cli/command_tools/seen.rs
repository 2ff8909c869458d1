//! Command tools as the rest of the product sees them: workflows, records, the HTTP interface.

use std::fs;
use std::io::Read as _;

use mcpgraph_testkit::EdgeLakeNode;
use serde_json::{Value, json};

use super::{called, failed, serve};
use crate::http::{Listening, modern_call};
use crate::product::command;

/// A node's tables, with workflows around calls.
fn tools(node: &EdgeLakeNode, workflows: &Value) -> String {
    let tool = |name: &str, template: &str| {
        json!({
            "name": name,
            "edgelake_command": { "type": "get", "template": template },
            "input_schema": { "type": "object", "properties": { "how": { "type": "string" } } },
        })
    };
    json!({
        "backend": { "edgelake": { "url": node.url() } },
        "tools": [tool("status", "get status"), tool("policies", "blockchain get {how}")],
        "workflows": workflows,
    })
    .to_string()
}

#[test]
fn a_workflow_blocks_and_rewrites_the_calls_of_command_tools() {
    let node = EdgeLakeNode::start();
    let script = "const { name, arguments: given } = context.request.params; \
                  if (name === 'status') return { continue: false, error: { message: 'closed' } }; \
                  if (given.how === 'hostile') given.how = 'x and y = z'; \
                  else given.how = 'operator'; \
                  return { request: context.request }";
    let workflow = json!([{
        "name": "guard",
        "workflowType": "tools/call",
        "nodes": [
            { "id": "start", "type": "start", "next": "hook" },
            { "id": "hook", "type": "hook", "hook": { "script": script }, "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "end" },
            { "id": "end", "type": "end" }
        ]
    }]);
    let mut served = serve(&tools(&node, &workflow));
    let (said, code) = failed(&mut served, "status", json!({}));
    assert_eq!((&*said, &*code), ("closed", "MG0561"));
    assert_eq!(node.asked(), [], "what is blocked is not sent");
    let answer = called(&mut served, "policies", json!({"how": "table"}));
    assert_eq!(answer, "did: blockchain get operator");
    // What a hook puts in is an argument like any other.
    let (said, code) = failed(&mut served, "policies", json!({"how": "hostile"}));
    assert!(said.contains("`how`"), "{said}");
    assert_eq!((&*code, node.asked().len()), ("MG0420", 1));
}

#[test]
fn runs_of_commands_are_shown_like_all_others() {
    let node = EdgeLakeNode::start();
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("tools.yaml"), folder.path().join("data"));
    fs::write(&file, tools(&node, &json!([]))).unwrap();
    let data = data.to_str().unwrap();
    let mut served = Listening::on(&file, &["--studio", "--data", data]);
    for (id, how) in [(1, "operator"), (2, "x and y")] {
        let (headers, call) = modern_call(id, "policies", json!({"how": how}));
        let (status, _) = served.post(&format!("{}\r\n{headers}", served.host()), &call);
        assert!(status.contains("200"), "{status}");
    }

    let get = |path: &str| -> Value {
        let head = format!("GET {path} HTTP/1.1\r\n{}", served.host());
        let mut answer = String::new();
        served.send(&head, &json!(null)).read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{path}: {answer}"))
    };
    let listed = get("/api/runs");
    let runs = listed["runs"].as_array().unwrap();
    let statuses: Vec<&str> = runs.iter().map(|run| run["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["failed", "succeeded"], "{listed}");
    let ids: Vec<&str> = runs.iter().map(|run| run["id"].as_str().unwrap()).collect();
    // The first step is the entry, the second the command.
    let refused = get(&format!("/api/runs/{}/steps/1", ids[0]));
    assert_eq!(refused["error"]["code"], "MG0420", "{refused}");
    let done = get(&format!("/api/runs/{}/steps/1", ids[1]));
    assert_eq!(done["kind"], "command", "{done}");
    assert_eq!(done["input"], json!({"how": "operator"}), "{done}");
    assert_eq!(done["output"], "did: blockchain get operator", "{done}");
    served.end();

    for (id, words) in [(ids[0], "is not one word"), (ids[1], "succeeded")] {
        let shown = command().args(["runs", "show", id, "--data", data]).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(text.contains("command") && text.contains(words), "{text}");
    }
}
