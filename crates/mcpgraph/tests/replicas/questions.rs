//! What clients are asked in one process, and answer in another.

use std::io::{BufRead, BufReader};

use mcpgraph_testkit::{Program, environment};
use serde_json::{Value, json};

use crate::cluster::{Client, Cluster, database};

fn serving(server: &Program) -> Option<(Cluster, tempfile::TempDir)> {
    let store = database()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, json!({ "mcpServers": { "s": server.to_json() } }).to_string()).unwrap();
    let cluster = Cluster::start(store, |command| {
        command.args(["serve", "-m"]).arg(&file);
    });
    Some((cluster, folder))
}

fn asked(cluster: &Cluster) -> Client {
    Client { capabilities: json!({ "elicitation": {} }), ..cluster.client() }
}

/// The answer of a legacy client comes to another process than the one that asked.
#[test]
fn an_answer_finds_the_process_that_asked() {
    let Some(server) = environment::fixture_server() else { return };
    let Some((cluster, _folder)) = serving(&server) else { return };
    let client = asked(&cluster).initialized();
    let [one, two] = [0, 1].map(|at: usize| client.at(cluster.replicas[at].address));
    for (asking, answering) in [(&one, &two), (&two, &one), (&one, &one)] {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "s__test_elicitation", "arguments": { "message": "who?" },
        }});
        let stream = BufReader::new(asking.begin("POST", "", Some(&call)));
        let mut messages = stream
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let question = messages.find(|message| message["method"] == "elicitation/create").unwrap();
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": { "username": "ada", "email": "ada@example.com" },
        }});
        assert_eq!(answering.send("POST", "", Some(&answer)).status, 202);
        let result = messages.find(|message| message["id"] == 7).unwrap();
        assert!(result.to_string().contains("ada@example.com"), "{result}");
    }
}

/// What a modern server gives its client to come back with is sealed by one process and opened by
/// another.
#[test]
fn each_round_is_another_replica() {
    let Some(server) = environment::fixture_server() else { return };
    let Some((cluster, _folder)) = serving(&server) else { return };
    let client = asked(&cluster);
    let call = |more: Value| {
        let name = "s__test_input_required_result_multi_round";
        let mut params = json!({ "name": name, "arguments": {} });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        client.ask("tools/call", params).last().clone()
    };
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    for _ in 0..2 {
        let first = call(json!({}));
        let state = &first["result"]["requestState"];
        assert!(state.as_str().unwrap().starts_with("mcpgraph-sealed-"), "{first}");
        let named = json!({ "step1": accept(json!({ "name": "Ada" })) });
        let second = call(json!({ "requestState": state, "inputResponses": named }));
        let state = &second["result"]["requestState"];
        assert!(state.is_string(), "{second}");
        let coloured = json!({ "step2": accept(json!({ "color": "blue" })) });
        let third = call(json!({ "requestState": state, "inputResponses": coloured }));
        assert_eq!(third["result"]["content"][0]["text"], "Ada likes blue", "{third}");
    }
}

/// A legacy server asks in the middle of a call, which waits in one process; the answer of a modern
/// client comes to another.
#[test]
fn an_answer_finds_the_call_that_waits_elsewhere() {
    let Some(server) = environment::misbehaving_server() else { return };
    let Some((mut cluster, _folder)) = serving(&server) else { return };
    let client = asked(&cluster);
    let at = |at: usize| client.at(cluster.replicas[at].address);
    let answer = json!({ "question": {
        "action": "accept", "content": { "username": "ada", "email": "ada@example.com" },
    }});
    let call = |client: &Client, more: &Value| {
        let mut params = json!({ "name": "s__ask", "arguments": {} });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        client.ask("tools/call", params).last().clone()
    };
    for (asking, answering) in [(0, 1), (1, 2), (2, 0), (1, 1)] {
        let asked = call(&at(asking), &json!({}));
        let state = &asked["result"]["requestState"];
        assert!(state.as_str().unwrap().starts_with("mcpgraph-parked-"), "{asked}");
        // One that does not answer is told what is missing, and may answer then.
        let empty = call(&at(answering), &json!({ "requestState": state, "inputResponses": {} }));
        assert!(empty["error"]["message"].as_str().unwrap().contains("no answer to"), "{empty}");
        let answered = json!({ "requestState": state, "inputResponses": answer });
        let result = call(&at(answering), &answered);
        assert!(result.to_string().contains("ada@example.com"), "{result}");
        // Once.
        let again = call(&at(answering), &answered);
        assert!(again["error"]["message"].as_str().unwrap().contains("of no question"), "{again}");
    }
    // Another request cannot use it, at any process.
    let asked = call(&at(0), &json!({}));
    let state = &asked["result"]["requestState"];
    for replica in 0..3 {
        let other =
            json!({ "requestState": state, "inputResponses": answer, "arguments": {"a": 1} });
        let refused = call(&at(replica), &other);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("of no question"), "{refused}");
    }
    // The process that holds the call dies: whoever answers is told soon.
    let second = at(1);
    let answered = json!({ "requestState": state, "inputResponses": answer });
    cluster.replicas[0].kill();
    let refused = call(&second, &answered);
    assert!(refused["error"]["message"].as_str().unwrap().contains("is gone"), "{refused}");
}
