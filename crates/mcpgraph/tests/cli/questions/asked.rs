//! How each kind of client is asked.

use std::thread::sleep;
use std::time::Duration;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use super::{Caller, World, accept, asks, question, takes_tasks, text, to_ada};
use crate::product::{Era, beside, command};

#[test]
fn a_modern_client_is_asked_in_rounds() {
    let world = World::new();
    let token = world.token("mine");
    let server = world.serve();
    let client = Caller::new(&server, &token, asks());
    let first = client.call("send", to_ada());
    let first = &first["result"];
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(question(first).1, "Send to Ada?");
    let second = client.answer("send", to_ada(), first, &accept(&json!({ "copies": 2 })));
    assert_eq!(question(&second["result"]).1, "Are you sure?");
    let done = client.answer("send", to_ada(), &second["result"], &accept(&json!({})));
    assert_eq!(text(&done), "sent 2 to Ada");
    // And a no.
    let first = client.call("send", to_ada());
    let kept = client.answer("send", to_ada(), &first["result"], &json!({ "action": "decline" }));
    assert_eq!(text(&kept), "kept");
    assert_eq!(text(&client.call("plain", json!({ "a": 1 }))), r#"{"a":1}"#);
}

#[test]
fn a_legacy_client_is_asked_in_the_middle_of_its_call() {
    let world = World::new();
    let mut client = world.stdio();
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": asks(),
        "clientInfo": { "name": "test", "version": "1" },
    });
    client.request("initialize", &params);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |answers: &[Value]| {
        let params = json!({ "name": "send", "arguments": to_ada() });
        let id = client.begin("tools/call", &params);
        let mut answers = answers.iter();
        let mut asked = Vec::new();
        loop {
            let message = client.receive();
            if message["method"] == "elicitation/create" {
                asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                let result = answers.next().unwrap_or_else(|| panic!("{message}"));
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                client.send(&reply);
            } else if message["id"] == id {
                return (asked, text(&message));
            }
        }
    };
    let copies = accept(&json!({ "copies": 3 }));
    let (asked, done) = call(&[copies.clone(), accept(&json!({}))]);
    assert_eq!(asked, ["Send to Ada?", "Are you sure?"]);
    assert_eq!(done, "sent 3 to Ada");
    let (_, kept) = call(&[copies.clone(), json!({ "action": "cancel" })]);
    assert_eq!(kept, "kept");
    // An answer that does not fit is told, and the question asked again.
    let (asked, done) = call(&[accept(&json!({ "copies": 0 })), copies, accept(&json!({}))]);
    assert!(asked[1].starts_with("Send to Ada?") && asked[1].contains("minimum"), "{asked:?}");
    assert_eq!(done, "sent 3 to Ada");
    client.close();
}

#[test]
fn any_other_client_goes_on_with_a_handle() {
    for era in Era::BOTH {
        let world = World::new();
        let mut client = world.stdio();
        if era == Era::Legacy {
            client.initialize();
        }
        let mut request = |method: &str, mut params: Value| {
            if era == Era::Modern {
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
            }
            client.request(method, &params)
        };
        let listed = request("tools/list", json!({}));
        assert!(listed.to_string().contains("continue_run"), "{era:?} {listed}");
        let mut call = |tool: &str, arguments: Value| {
            request("tools/call", json!({ "name": tool, "arguments": arguments }))
        };
        let asked = call("send", to_ada());
        let details = &asked["result"]["structuredContent"];
        assert_eq!(details["message"], "Send to Ada?", "{era:?} {asked}");
        assert_eq!(details["schema"]["required"], json!(["copies"]), "{era:?} {asked}");
        assert_eq!(asked["result"]["_meta"]["mcpgraph/question"], *details);
        assert!(text(&asked).contains(details["handle"].as_str().unwrap()));
        let handle = |asked: &Value| asked["result"]["structuredContent"]["handle"].clone();
        let first = handle(&asked);
        let again = call("continue_run", json!({ "handle": first }));
        assert_eq!(again["result"]["structuredContent"]["message"], "Send to Ada?", "{again}");
        let unfit = call("continue_run", json!({ "handle": first, "answer": { "copies": "x" } }));
        assert_eq!(unfit["result"]["_meta"]["mcpgraph/error"]["code"], "MG0436", "{unfit}");
        let sure = call("continue_run", json!({ "handle": first, "answer": { "copies": 1 } }));
        let done = call("continue_run", json!({ "handle": handle(&sure), "answer": {} }));
        assert_eq!(text(&done), "sent 1 to Ada", "{era:?} {done}");
        // What it came to can be had again.
        let same = call("continue_run", json!({ "handle": first }));
        assert_eq!(text(&same), "sent 1 to Ada", "{era:?} {same}");
        let declined = call("send", to_ada());
        let kept =
            call("continue_run", json!({ "handle": handle(&declined), "answer": "decline" }));
        assert_eq!(text(&kept), "kept", "{era:?} {kept}");
        client.close();
    }
}

/// Where nothing asks, there is nothing to go on with.
#[test]
fn the_tool_to_go_on_is_only_there_where_something_asks() {
    let mut client = StdioClient::start({
        let mut serve = command();
        serve.arg("-g").arg(beside("graphs/calls.yaml"));
        serve
    });
    client.initialize();
    let listed = client.request("tools/list", &json!({}));
    assert!(!listed.to_string().contains("continue_run"), "{listed}");
}

#[test]
fn a_client_that_takes_tasks_is_given_one() {
    let world = World::new();
    let (mine, other) = (world.token("mine"), world.token("other"));
    let server = world.serve();
    let me = Caller::new(&server, &mine, takes_tasks());
    let you = Caller::new(&server, &other, takes_tasks());
    let begin = || {
        let task = me.call("send", to_ada())["result"].clone();
        assert_eq!(task["resultType"], "task", "{task}");
        assert_eq!(task["status"], "working", "{task}");
        task["taskId"].clone()
    };
    let get = |id: &Value| me.request("tasks/get", json!({ "taskId": id }))["result"].clone();
    let until = |id: &Value, status: &str| {
        for _ in 0..200 {
            let task = get(id);
            if task["status"] == status {
                return task;
            }
            sleep(Duration::from_millis(25));
        }
        panic!("{} is not {status}", get(id));
    };
    let update = |id: &Value, task: &Value, answer: &Value| {
        let (key, _) = question(task);
        me.request("tasks/update", json!({ "taskId": id, "inputResponses": { key: answer } }))
    };
    let id = begin();
    let asked = until(&id, "input_required");
    assert_eq!(question(&asked).1, "Send to Ada?");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let unknown = you.request(method, json!({ "taskId": id, "inputResponses": {} }));
        assert!(
            unknown["error"]["message"].as_str().unwrap().contains("Unknown task"),
            "{unknown}"
        );
    }
    let unfit = update(&id, &asked, &accept(&json!({ "copies": 0 })));
    assert_eq!(unfit["error"]["data"]["code"], "MG0436", "{unfit}");
    let taken = update(&id, &asked, &accept(&json!({ "copies": 5 })));
    assert_eq!(taken["result"]["resultType"], "complete", "{taken}");
    let mut sure = until(&id, "input_required");
    while question(&sure).1 != "Are you sure?" {
        sure = get(&id);
    }
    update(&id, &sure, &accept(&json!({})));
    let done = until(&id, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "sent 5 to Ada", "{done}");

    let id = begin();
    until(&id, "input_required");
    me.request("tasks/cancel", json!({ "taskId": id }));
    until(&id, "cancelled");
    // A tool that does not ask answers at once.
    assert_eq!(text(&me.call("plain", json!({}))), "{}");
}

/// Nobody is sent to questions that are not kept.
#[test]
fn without_a_record_nobody_is_asked() {
    let graph = beside("graphs/asking.yaml");
    let output = command()
        .args(["run", "hurry", "--no-history", "-g"])
        .arg(graph)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("nobody can be asked") && !said.contains("mcpgraph questions"), "{said}");
}
