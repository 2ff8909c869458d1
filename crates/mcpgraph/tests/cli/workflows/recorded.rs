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

    // What it was put around is not there to be called again.
    let file = file.to_str().unwrap();
    for refused in [&["runs", "rerun", id, "--yes", "-g", file][..], &["test", "--record", id]] {
        let refused = command().args(refused).arg("--data").arg(&data).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("it is a run of a workflow") && said.contains("runs show"), "{said}");
    }
    let listed = runs(&["runs", "ls", "--tool", "workflow:audit"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed}");
}

/// A workflow that runs out of time ends what is inside it in good order: the run in there has an
/// end, and is no interrupted one.
#[test]
fn a_run_inside_a_workflow_that_runs_out_of_time_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("graph.yaml"), folder.path().join("data"));
    let mut workflow = around("short", "", "");
    workflow["executionLimits"] = json!({ "maxExecutionTimeMs": 300 });
    let mut graph: Value = serde_json::from_str(&graph(&json!([workflow]))).unwrap();
    graph["tools"].as_array_mut().unwrap().push(json!({
        "name": "slow",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "sleep" },
            { "id": "sleep", "type": "mcp", "server": "demo", "tool": "slow",
              "args": { "ms": 30_000 }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    }));
    fs::write(&file, graph.to_string()).unwrap();
    let mut serve = command();
    serve.arg("-g").arg(&file).arg("--data").arg(&data);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let answer = client.request("tools/call", &json!({"name": "slow", "arguments": {}}));
    assert!(super::text(&answer).contains("MG0406"), "{answer}");
    let mut list = command();
    list.args(["runs", "ls", "--tool", "slow", "--json", "--data"]).arg(&data);
    let list: Value = serde_json::from_slice(&list.output().unwrap().stdout).unwrap();
    assert_eq!(list["runs"][0]["status"], "cancelled", "{list}");
    client.close();
}

/// A run inside that of a workflow, which is inside that of another; each knows its neighbours.
#[test]
fn runs_inside_runs_name_each_other_and_what_flowed_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("graph.yaml"), folder.path().join("data"));
    let change = "const { request } = context; \
                  return { request: { ...request, params: { ...request.params, arguments: { n: 5 } } }, \
                           context: { changed: true } }";
    let mut inner = around("inner", change, "await sleep(30)");
    // One that nothing waits for ends while others still look.
    inner["nodes"].as_array_mut().unwrap().push(json!(
        { "id": "note", "type": "hook", "hook": { "script": "return", "blocking": false } }
    ));
    inner["nodes"][1]["next"] = json!(["note", "call"]);
    let mut outer = around("outer", "", "");
    outer["priority"] = json!(10);
    fs::write(&file, graph(&json!([inner, outer]))).unwrap();
    let mut serve = command();
    serve.arg("-g").arg(&file).arg("--data").arg(&data);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let answer = client.request("tools/call", &json!({"name": "double", "arguments": {"n": 1}}));
    assert_eq!(answer["result"]["structuredContent"]["n"], 10, "{answer}");
    client.close();

    let runs = |arguments: &[&str]| -> Value {
        let output = command().args(arguments).arg("--json").arg("--data").arg(&data).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap_or_default()
    };
    let id = |tool: &str| {
        let list = runs(&["runs", "ls", "--tool", tool]);
        list["runs"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned()
    };
    let ids = [id("workflow:outer"), id("workflow:inner"), id("double")];
    let shown = ids.each_ref().map(|id| runs(&["runs", "show", id])["run"].clone());
    for (outside, inside) in [(0, 1), (1, 2)] {
        assert_eq!(shown[inside]["origin"]["around"], ids[outside], "{}", shown[inside]);
        assert_eq!(shown[outside]["inside"], json!([ids[inside]]), "{}", shown[outside]);
    }
    assert_eq!(shown[0]["origin"].get("around"), None);
    let request = &runs(&["requests"])["requests"][0];
    assert_eq!((&request["run"], &request["name"]), (&json!(ids[0]), &json!("double")));

    let seen = &runs(&["runs", "show", &ids[1], "--context"])["context"];
    assert_eq!(seen["request"]["params"]["arguments"], json!({ "n": 5 }), "{seen}");
    assert_eq!(seen["response"]["structuredContent"], json!({ "n": 10 }), "{seen}");
    assert_eq!(seen["variables"], json!({ "changed": true }), "{seen}");
    assert_eq!(seen["call"], seen["response"], "outputs of nodes are there, too");
    assert_eq!(seen["metadata"]["workflowId"], "inner");
    let before = &runs(&["runs", "show", &ids[1], "--step", "1", "--context"])["context"];
    assert_eq!(before["request"]["params"]["arguments"], json!({ "n": 1 }), "{before}");
    assert_eq!(before.get("response"), None, "{before}");
}
