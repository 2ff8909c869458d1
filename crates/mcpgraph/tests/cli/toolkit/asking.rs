//! Runs that ask a person on the way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use super::{Agent, GRAPH, files, toolkit};
use crate::product::command;

/// A tool that asks twice, and gives both answers.
fn approving() -> Value {
    let ask = |id: &str, next: &str| {
        json!({
            "id": id, "type": "ask", "message": format!("{id}?"), "next": next, "onDecline": "exit",
            "schema": { "type": "object", "properties": { "note": { "type": "string" } }, "required": ["note"] }
        })
    };
    json!({
        "name": "approving",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "first" },
            ask("first", "second"),
            ask("second", "both"),
            { "id": "both", "type": "transform", "transform": { "expr": "$.first.note & $.second.note" }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    })
}

fn answer(question: &Value, answer: &Value) -> Value {
    json!({ "questionId": question["id"], "answer": answer })
}

#[test]
fn a_question_is_the_answer_where_the_client_cannot_be_asked() {
    let mut agent = Agent::new();
    let call = json!({ "toolDefinition": approving(), "logging": true });
    let asked = agent.get("runGraphTool", &call);
    let question = &asked["question"];
    assert_eq!((&question["node"], &question["message"]), (&json!("first"), &json!("first?")));
    assert_eq!(question["schema"]["required"], json!(["note"]), "{asked:#}");
    let seen = agent.get("getRun", &json!({ "runId": asked["run"] }));
    assert_eq!(seen["run"]["status"], "running", "{seen:#}");
    assert_eq!(seen["questions"][0]["id"], question["id"], "{seen:#}");

    // What does not fit changes nothing, and neither does looking.
    let unfit = answer(question, &json!({ "note": 1 }));
    assert_eq!(agent.refuse("answerQuestion", &unfit)["code"], "MG0436");
    let look = json!({ "questionId": question["id"] });
    assert_eq!(agent.get("answerQuestion", &look)["question"]["id"], question["id"]);

    let next = agent.get("answerQuestion", &answer(question, &json!({ "note": "a" })));
    assert_eq!((&next["run"], &next["question"]["node"]), (&asked["run"], &json!("second")));
    let again = answer(question, &json!({ "note": "b" }));
    assert_eq!(agent.refuse("answerQuestion", &again)["code"], "MG0433");
    let mut last = answer(&next["question"], &json!({ "note": "b" }));
    last["logging"] = true.into();
    let done = agent.get("answerQuestion", &last);
    assert_eq!((&done["result"], &done["run"]), (&json!("ab"), &asked["run"]));
    assert_eq!(done["steps"].as_array().unwrap().len(), 5, "{done:#}");

    // Gone on from a step in the middle, it asks what is ahead.
    let from = json!({ "runId": asked["run"], "from": 2, "recorded": true });
    let forked = agent.get("rerunGraphTool", &from);
    assert_eq!(forked["question"]["node"], "second", "{forked:#}");
    let declined = agent.get("answerQuestion", &answer(&forked["question"], &json!("decline")));
    assert_eq!(declined["result"], json!({ "note": "a" }), "{declined:#}");

    let unknown = json!({ "questionId": "01a1e1d6-14c7-72c2-85f7-3b10d653f581", "answer": {} });
    assert_eq!(agent.refuse("answerQuestion", &unknown)["code"], "MG0432");
}

/// In the middle of the call, as a server of the same tool asks it.
#[test]
fn a_client_that_can_be_asked_is() {
    let folder = files(GRAPH, &json!({}));
    let mut program = toolkit();
    program.args(["-g", "graph.yaml", "--data", "runs"]).current_dir(folder.path());
    let mut client = StdioClient::start(program);
    let introduction = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "asked", "version": "1" }
    });
    client.request("initialize", &introduction);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let params = json!({ "name": "runGraphTool", "arguments": { "toolDefinition": approving() } });
    let id = client.begin("tools/call", &params);
    for note in ["a", "b"] {
        let asked = client.receive();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let result = json!({ "action": "accept", "content": { "note": note } });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
    }
    let answer = client.receive();
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["result"], "ab", "{answer}");
}

#[test]
fn a_debugged_run_tells_what_it_asks() {
    let mut agent = Agent::new();
    let call = json!({ "toolDefinition": approving(), "breakpoints": [{ "node": "both" }] });
    let asked = agent.get("debugGraphTool", &call);
    assert_eq!(asked["state"], "running", "{asked:#}");
    assert_eq!(asked["question"]["node"], "first", "{asked:#}");
    let look = json!({ "runId": asked["run"], "action": "state" });
    assert_eq!(agent.get("controlRun", &look)["question"], asked["question"]);
    let next = agent.get("answerQuestion", &answer(&asked["question"], &json!({ "note": "a" })));
    assert_eq!(next["question"]["node"], "second", "{next:#}");
    let last = agent.get("answerQuestion", &answer(&next["question"], &json!({ "note": "b" })));
    assert_eq!((&last["state"], &last["next"]["node"]), (&json!("paused"), &json!("both")));
    assert_eq!(last["question"], Value::Null);
    let resume = json!({ "runId": asked["run"], "action": "resume" });
    assert_eq!(agent.get("controlRun", &resume)["result"], "ab");
}

/// A person may answer elsewhere; what another process asks is not this agent's to answer.
#[test]
fn whoever_answers_first_counts() {
    let mut agent = Agent::new();
    let asked = agent.get("runGraphTool", &json!({ "toolDefinition": approving() }));
    let mut elsewhere = command();
    elsewhere.args(["questions", "answer", asked["question"]["id"].as_str().unwrap(), "note=a"]);
    elsewhere.args(["--data", "runs"]).current_dir(agent.folder.path());
    assert!(elsewhere.status().unwrap().success());
    let look = json!({ "questionId": asked["question"]["id"] });
    let next = agent.get("answerQuestion", &look);
    assert_eq!(next["question"]["node"], "second", "{next:#}");

    let mut other = Agent::at(Arc::clone(&agent.folder), toolkit());
    let foreign = answer(&next["question"], &json!({ "note": "b" }));
    assert_eq!(other.refuse("answerQuestion", &foreign)["code"], "MG0435");
}

/// With the client goes whoever could answer, and its end does not wait for people.
#[test]
fn a_run_that_waits_ends_with_the_toolkit() {
    let mut agent = Agent::new();
    let run = agent.get("runGraphTool", &json!({ "toolDefinition": approving() }))["run"].clone();
    let Agent { client, folder, .. } = agent;
    let began = Instant::now();
    client.close();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let mut later = Agent::at(folder, toolkit());
    let seen = later.get("getRun", &json!({ "runId": run }));
    assert_eq!(seen["run"]["status"], "cancelled", "{seen:#}");
}

#[test]
fn without_a_record_nobody_can_be_asked() {
    let mut program = toolkit();
    program.arg("--no-history");
    let mut agent = Agent::at(files(GRAPH, &json!({})), program);
    let error = agent.refuse("runGraphTool", &json!({ "toolDefinition": approving() }));
    assert_eq!(error["node"], "first", "{error:#}");
    let any = json!({ "questionId": "01a1e1d6-14c7-72c2-85f7-3b10d653f581" });
    assert_eq!(agent.refuse("answerQuestion", &any)["code"], "MG0445");
}
