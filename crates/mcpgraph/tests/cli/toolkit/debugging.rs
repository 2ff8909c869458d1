//! Runs under a debugger, as an agent leads them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Agent, has};

/// Sums the numbers from 1 to n: the loop of the specification.
fn sum() -> Value {
    json!({
        "name": "sum",
        "inputSchema": { "type": "object", "properties": { "n": { "type": "number" } } },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "add" },
            {
                "id": "add", "type": "transform", "next": "check",
                "transform": { "expr": "{ 'n': $executionCount('add') + 1, 'sum': ($executionCount('add') = 0 ? 0 : $.add.sum) + $executionCount('add') + 1 }" }
            },
            { "id": "check", "type": "switch", "conditions": [
                { "rule": { "<": [{ "var": "$.add.n" }, { "var": "entry.n" }] }, "target": "add" },
                { "target": "exit" }
            ] },
            { "id": "exit", "type": "exit" }
        ]
    })
}

fn start(agent: &mut Agent, mut how: Value) -> Value {
    how["toolDefinition"] = sum();
    how["arguments"] = json!({ "n": 4 });
    agent.get("debugGraphTool", &how)
}

fn control(agent: &mut Agent, run: &Value, action: &str, mut how: Value) -> Value {
    how["runId"] = run.clone();
    how["action"] = action.into();
    agent.get("controlRun", &how)
}

#[track_caller]
fn assert_has(found: &Value, wanted: &Value) {
    assert!(has(found, wanted), "{found:#}\nhas not all of\n{wanted:#}");
}

#[test]
fn a_run_is_stepped_through_and_changed() {
    let mut agent = Agent::new();
    let stands = start(&mut agent, json!({}));
    let run = stands["run"].clone();
    assert_has(&stands, &json!({ "state": "paused", "why": "asked", "next": { "node": "entry" } }));
    let stands = control(&mut agent, &run, "step", json!({}));
    let entry = json!({ "n": 4 });
    assert_has(&stands, &json!({ "state": "paused", "why": "stepped", "next": { "node": "add" } }));
    assert_eq!(stands["context"], json!({ "entry": entry }));
    let stands = control(&mut agent, &run, "stepOver", json!({ "logging": true }));
    assert_eq!(stands["context"], json!({ "entry": entry, "add": { "n": 1, "sum": 1 } }));
    assert_eq!(stands["steps"].as_array().unwrap().len(), 2, "{stands}");

    let changed = json!({ "node": "add", "output": { "n": 1, "sum": 101 } });
    let stands = control(&mut agent, &run, "setOutput", changed);
    assert_eq!(stands["context"]["add"]["sum"], 101);
    assert_eq!(control(&mut agent, &run, "state", json!({})), stands);

    let stands = control(&mut agent, &run, "resume", json!({}));
    assert_has(&stands, &json!({ "state": "ended", "result": { "n": 4, "sum": 110 } }));
    // Its end is told as often as it is asked for, and the record has the rest.
    assert_eq!(control(&mut agent, &run, "state", json!({})), stands);
    assert_eq!(
        agent.refuse("controlRun", &json!({ "runId": run, "action": "step" }))["code"],
        "MG0447"
    );
    let recorded = agent.get("getRun", &json!({ "runId": run }));
    assert_eq!(recorded["run"]["status"], "succeeded", "{recorded}");
}

#[test]
fn breakpoints_stop_before_and_after_where_a_condition_holds_from_a_time_on() {
    let mut agent = Agent::new();
    let after = json!([{
        "node": "add", "when": "after", "condition": { ">": [{ "var": "$.add.sum" }, 2] }
    }]);
    let stands = start(&mut agent, json!({ "breakpoints": after }));
    let run = stands["run"].clone();
    assert_has(
        &stands,
        &json!({ "state": "paused", "why": "after", "node": "add", "context": { "add": { "sum": 3 } } }),
    );
    let third = json!({ "breakpoints": [{ "node": "check", "hits": 2 }] });
    control(&mut agent, &run, "setBreakpoints", third);
    let stands = control(&mut agent, &run, "resume", json!({}));
    assert_has(
        &stands,
        &json!({ "why": "before", "node": "check", "context": { "add": { "n": 3 } } }),
    );
    let stands = control(&mut agent, &run, "stop", json!({}));
    assert_has(&stands, &json!({ "state": "ended", "failure": { "code": "MG0410" } }));

    let unknown = json!({ "toolDefinition": sum(), "breakpoints": [{ "node": "ad" }] });
    let error = agent.refuse("debugGraphTool", &unknown);
    assert_eq!((&error["code"], &error["nearest"]), (&"MG0441".into(), &"add".into()), "{error}");
}

#[test]
fn a_failure_is_told_as_of_any_run() {
    let mut agent = Agent::new();
    let mut tool = sum();
    tool["nodes"][1]["transform"]["expr"] = "$error('no')".into();
    let call = json!({ "toolDefinition": tool, "arguments": { "n": 1 }, "paused": false });
    let stands = agent.get("debugGraphTool", &call);
    assert_has(
        &stands,
        &json!({ "state": "ended", "failure": {
            "code": "MG0401", "failedAt": { "node": "add", "context": { "entry": { "n": 1 } } }
        } }),
    );
}

#[test]
fn a_run_under_way_is_joined_and_paused_and_left() {
    let mut agent = Agent::new();
    let slow = json!({
        "name": "slow",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "wait" },
            { "id": "wait", "type": "mcp", "server": "filesystem", "tool": "slow", "args": { "ms": 400 }, "next": "then" },
            { "id": "then", "type": "transform", "transform": { "expr": "'done'" }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    });
    let call = json!({ "name": "runGraphTool", "arguments": { "toolDefinition": slow } });
    let id = agent.client.begin("tools/call", &call);
    let running = |agent: &mut Agent| {
        let runs = agent.get("listRuns", &json!({ "toolName": "slow", "status": "running" }));
        runs["items"][0]["id"].clone()
    };
    let began = Instant::now();
    let mut run = running(&mut agent);
    while run.is_null() && began.elapsed() < Duration::from_secs(10) {
        run = running(&mut agent);
    }
    let joined = control(&mut agent, &run, "join", json!({ "paused": true }));
    assert_has(&joined, &json!({ "state": "paused", "why": "asked" }));
    // It stays where it is: what is under way ends, and nothing else begins.
    assert!(agent.client.receive_within(Duration::from_millis(700)).is_none());
    assert_eq!(control(&mut agent, &run, "leave", json!({}))["state"], "released");
    let answer = loop {
        let message = agent.client.receive();
        if message["id"] == id {
            break message;
        }
    };
    assert_eq!(answer["result"]["structuredContent"]["result"], "done", "{answer}");
    let gone = json!({ "runId": run, "action": "join" });
    assert_eq!(agent.refuse("controlRun", &gone)["code"], "MG0447");
}

/// An agent that goes away leaves no run standing still.
#[test]
fn a_debugger_that_goes_away_releases_its_run() {
    let mut agent = Agent::new();
    let run = start(&mut agent, json!({}))["run"].clone();
    let Agent { client, folder, .. } = agent;
    client.close();
    let mut agent = Agent::at(folder, super::toolkit());
    let recorded = agent.get("getRun", &json!({ "runId": run }));
    assert_eq!(recorded["run"]["status"], "succeeded", "{recorded}");
    let error = agent.refuse("controlRun", &json!({ "runId": run, "action": "state" }));
    assert_eq!(error["code"], "MG0447");
}
