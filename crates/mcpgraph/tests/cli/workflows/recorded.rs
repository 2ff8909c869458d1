//! Every execution of a workflow is a recorded run.

use std::fs;

use serde_json::{Value, json};

use super::{around, graph};
use crate::product::{command, eventually};
use mcpgraph_testkit::StdioClient;

#[test]
fn runs_have_steps_logs_and_the_errors_of_hooks_nobody_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("graph.yaml"), folder.path().join("data"));
    let mut workflow = around("audit", "console.warn('seen', context.request.params.name)", "");
    workflow["nodes"].as_array_mut().unwrap().push(json!(
        { "id": "note", "type": "hook", "hook":
            { "script": "await sleep(50); throw new Error('not noted')", "blocking": false } }
    ));
    workflow["nodes"][2]["next"] = json!(["note", "after"]);
    fs::write(&file, graph(&json!([workflow]))).unwrap();
    let mut serve = command();
    serve.arg("-g").arg(&file).arg("--data").arg(&data);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let answer =
        client.request("tools/call", &json!({"name": "demo__echo", "arguments": {"value": 1}}));
    assert_eq!(super::text(&answer), "1");

    let runs = |arguments: &[&str]| -> Value {
        let output = command().args(arguments).arg("--json").arg("--data").arg(&data).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap_or_default()
    };
    let mut list = Value::Null;
    eventually("the run has ended", || {
        list = runs(&["runs", "ls", "--tool", "workflow:audit"]);
        list.to_string().contains("\"succeeded\"") || list.to_string().contains("\"ok\"")
    });
    let text = list.to_string();
    let id = text.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let shown = runs(&["runs", "show", id]).to_string();
    for expected in ["\"mcp-call\"", "\"hook\"", "not noted", "MG0560"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let step = runs(&["runs", "show", id, "--step", "1"]).to_string();
    assert!(step.contains("seen demo__echo") && step.contains("warn"), "{step}");
    client.close();

    // What happened can be replayed: the scripts are not run again.
    let replayed =
        command().args(["runs", "replay", id]).arg("--data").arg(&data).output().unwrap();
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
}
