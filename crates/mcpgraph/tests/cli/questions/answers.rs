//! Which answers count, who gives them, and that they find the run wherever it is.

use std::io::Read as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Caller, World, accept, answer_in, asks, question, takes_tasks, text, to_ada};
use crate::http::Listening;
use crate::product::{beside, command};

/// Each refused answer has its own code; the question waits on where it may be tried again.
#[test]
fn answers_that_do_not_count_are_refused() {
    let world = World::new();
    let (mine, other) = (world.token("mine"), world.token("other"));
    let server = world.serve();
    let me = Caller::new(&server, &mine, asks());
    let you = Caller::new(&server, &other, asks());
    let yes = accept(&json!({ "copies": 1 }));
    let asked = me.call("send", to_ada())["result"].clone();
    let state = asked["requestState"].as_str().unwrap();
    let touched = |text: &str| {
        let last = if text.ends_with('A') { 'B' } else { 'A' };
        format!("{}{last}", &text[..text.len() - 1])
    };
    let forged = |state: &str| {
        let mut forged = asked.clone();
        forged["requestState"] = json!(state);
        forged
    };
    let code = |answer: &Value| {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        answer["error"]["data"]["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let unfit = accept(&json!({ "copies": 0 }));
    for (what, answer, expected) in [
        ("another caller", you.answer("send", to_ada(), &asked, &yes), "MG0435"),
        ("other arguments", me.answer("send", json!({ "to": "Eve" }), &asked, &yes), "MG0435"),
        ("another tool", me.answer("hurry", to_ada(), &asked, &yes), "MG0435"),
        ("touched", me.answer("send", to_ada(), &forged(&touched(state)), &yes), "MG0432"),
        ("made up", me.answer("send", to_ada(), &forged("mcpgraph-sealed-AAAA"), &yes), "MG0432"),
        ("unfit", me.answer("send", to_ada(), &asked, &unfit), "MG0436"),
        ("nothing", me.answer("send", to_ada(), &asked, &json!({})), "MG0436"),
    ] {
        assert_eq!(code(&answer), expected, "{what}: {answer}");
    }
    let sure = me.answer("send", to_ada(), &asked, &yes);
    assert_eq!(question(&sure["result"]).1, "Are you sure?");
    assert_eq!(code(&me.answer("send", to_ada(), &asked, &yes)), "MG0433");
    let late = me.call("hurry", json!({}))["result"].clone();
    sleep(Duration::from_millis(500));
    assert_eq!(code(&me.answer("hurry", json!({}), &late, &accept(&json!({})))), "MG0434");

    // The same with handles.
    let me = Caller::new(&server, &mine, json!({}));
    let you = Caller::new(&server, &other, json!({}));
    let asked = me.call("send", to_ada());
    let handle = asked["result"]["structuredContent"]["handle"].clone();
    let code = |answer: &Value| {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["_meta"]["mcpgraph/error"]["code"].as_str().unwrap().to_owned()
    };
    let copies = json!({ "copies": 1 });
    for (what, answer, expected) in [
        ("another caller", you.go_on(&handle, copies.clone()), "MG0435"),
        ("another caller looks", you.go_on(&handle, Value::Null), "MG0435"),
        ("touched", me.go_on(&json!(touched(handle.as_str().unwrap())), copies.clone()), "MG0432"),
        ("a state", me.go_on(&json!(state), copies.clone()), "MG0435"),
        ("made up", me.go_on(&json!(""), copies.clone()), "MG0432"),
        ("unfit", me.go_on(&handle, json!({ "copies": 0 })), "MG0436"),
        ("no answer", me.go_on(&handle, json!("yes")), "MG0436"),
    ] {
        assert_eq!(code(&answer), expected, "{what}: {answer}");
    }
    let sure = me.go_on(&handle, copies.clone());
    assert_eq!(sure["result"]["structuredContent"]["message"], "Are you sure?", "{sure}");
    assert_eq!(code(&me.go_on(&handle, copies)), "MG0433");
    let late = me.call("hurry", json!({}))["result"]["structuredContent"]["handle"].clone();
    sleep(Duration::from_millis(500));
    assert_eq!(code(&me.go_on(&late, json!({}))), "MG0434");
    let over = me.go_on(&late, Value::Null);
    assert_eq!(over["result"]["_meta"]["mcpgraph/error"]["code"], "MG0431", "{over}");
}

/// Others may answer as well: on the command line, and over HTTP where the studio is.
#[test]
fn others_answer_too() {
    let world = World::new();
    let server = world.serve();
    let client = Caller::new(&server, "none", json!({}));
    let run = |arguments: &[&str]| {
        let output = command().args(arguments).args(world.options()).output().unwrap();
        (output.status.code(), output)
    };
    let listed = || -> Vec<Value> {
        let (code, output) = run(&["questions", "ls", "--json"]);
        assert_eq!(code, Some(0), "{output:?}");
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        listed["questions"].as_array().unwrap().clone()
    };
    let asked = client.call("send", to_ada());
    let handle = asked["result"]["structuredContent"]["handle"].clone();
    let waiting = listed();
    let [first] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!(first["message"], "Send to Ada?", "{first}");
    let shown = run(&["runs", "show", first["run"].as_str().unwrap()]).1;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("Send to Ada? (node `approve`"), "{shown}");

    let id = first["id"].as_str().unwrap();
    for unfit in [&["copies=0"][..], &["copies=4", "bogus=1"]] {
        let (code, output) = run(&[&["questions", "answer", id], unfit].concat());
        assert_eq!(code, Some(1), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("[MG0436]"), "{output:?}");
    }
    let (code, output) = run(&["questions", "answer", id, "copies=4"]);
    assert_eq!(code, Some(0), "{output:?}");
    let (code, output) = run(&["questions", "answer", id, "copies=4"]);
    assert_eq!(code, Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("[MG0433]"), "{output:?}");
    let sure = client.go_on(&handle, Value::Null);
    assert_eq!(sure["result"]["structuredContent"]["message"], "Are you sure?", "{sure}");

    let http = |method: &str, path: &str, body: &Value| {
        let mut answer = String::new();
        let head = format!("{method} {path} HTTP/1.1\r\n{}", server.host());
        server.send(&head, body).read_to_string(&mut answer).unwrap();
        let status: u16 = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer_in(&answer))
    };
    let (status, waiting) = http("GET", "/api/questions", &json!({}));
    assert_eq!(status, 200, "{waiting}");
    let id = waiting["questions"][0]["id"].as_str().unwrap();
    assert_eq!(waiting["questions"][0]["node"], "sure", "{waiting}");
    let path = format!("/api/questions/{id}");
    for (body, expected, code) in [
        (json!({}), 400, "invalid"),
        (json!({ "answer": 1 }), 400, "invalid"),
        (json!({ "answer": {}, "decline": true }), 400, "invalid"),
    ] {
        let (status, problem) = http("POST", &path, &body);
        assert_eq!((status, &problem["error"]["code"]), (expected, &json!(code)), "{problem}");
    }
    let (status, _) = http("POST", &path, &json!({ "decline": true }));
    assert_eq!(status, 200);
    let (status, problem) = http("POST", &path, &json!({ "answer": {} }));
    assert_eq!((status, &problem["error"]["code"]), (409, &json!("MG0433")), "{problem}");
    let (status, problem) = http("POST", "/api/questions/nobody", &json!({ "decline": true }));
    assert_eq!((status, &problem["error"]["code"]), (404, &json!("MG0432")), "{problem}");
    assert_eq!(text(&client.go_on(&handle, Value::Null)), "kept");
    assert!(listed().is_empty());
}

/// Answers that are given together are kept together, and what somebody has answered meanwhile is
/// no reason to refuse the rest.
#[test]
fn answers_of_one_round_are_kept_together() {
    let world = World::new();
    let server = world.serve();
    let client = Caller::new(&server, "none", asks());
    let answer = |state: &Value, responses: Value| {
        let params = json!({
            "name": "both", "arguments": {}, "requestState": state, "inputResponses": responses,
        });
        client.request("tools/call", params)
    };
    let [good, unfit] = [2, 10].map(|n| accept(&json!({ "n": n })));
    let both = || {
        let mut asked = client.call("both", json!({}));
        // The other question may not have been asked in that moment.
        while asked["result"]["inputRequests"].as_object().unwrap().len() < 2 {
            asked = answer(&asked["result"]["requestState"], json!({}));
        }
        asked["result"]["requestState"].clone()
    };
    let state = both();
    let refused = answer(&state, json!({ "first": good, "second": unfit }));
    assert_eq!(refused["error"]["data"]["code"], "MG0436", "{refused}");
    let done = answer(&state, json!({ "first": good, "second": good }));
    assert_eq!(text(&done), "4");
    let again = answer(&state, json!({ "first": good, "second": good }));
    assert_eq!(again["error"]["data"]["code"], "MG0433", "{again}");

    let state = both();
    let left = answer(&state, json!({ "first": good }));
    assert_eq!(question(&left["result"]).1, "Second?");
    let done = answer(&state, json!({ "first": unfit, "second": good }));
    assert_eq!(text(&done), "4");
}

/// A tool that is removed while it asks goes on to its end, and whoever answers hears of it.
#[test]
fn an_answer_to_a_tool_that_is_gone_is_told_what_comes_of_it() {
    let world = World::new();
    let graph = world.data.path().join("graph.yaml");
    let text_of = std::fs::read_to_string(beside("graphs/asking.yaml")).unwrap();
    std::fs::write(&graph, &text_of).unwrap();
    let server = Listening::on(&graph, &world.options());
    let client = Caller::new(&server, "none", json!({}));
    let handle = client.call("send", to_ada())["result"]["structuredContent"]["handle"].clone();
    let worker = Caller::new(&server, "none", takes_tasks());
    let task = worker.call("send", to_ada())["result"]["taskId"].clone();
    std::fs::write(&graph, text_of.replace("name: send", "name: post")).unwrap();
    while client.request("tools/list", json!({})).to_string().contains("\"send\"") {
        sleep(Duration::from_millis(50));
    }
    let sure = client.go_on(&handle, json!({ "copies": 3 }));
    let sure = &sure["result"]["structuredContent"];
    assert_eq!(sure["message"], "Are you sure?", "{sure}");
    assert_eq!(text(&client.go_on(&sure["handle"], json!({}))), "sent 3 to Ada");

    let get = || worker.request("tasks/get", json!({ "taskId": task }))["result"].clone();
    let no = json!({ "taskId": task, "inputResponses": { "approve": { "action": "decline" } } });
    worker.request("tasks/update", no);
    while get()["status"] != "completed" {
        assert_ne!(get()["status"], Value::Null, "{}", get());
        sleep(Duration::from_millis(25));
    }
    assert_eq!(get()["result"]["content"][0]["text"], "kept");
}

/// The process dies after every question; the next one takes the answers, from clients that are
/// asked in rounds, by a handle and by a task.
#[test]
fn a_question_outlives_its_process() {
    let world = World::new();
    let token = world.token("mine");
    let server = world.serve();
    let rounds = Caller::new(&server, &token, asks()).call("send", to_ada())["result"].clone();
    let handle = Caller::new(&server, &token, json!({})).call("send", json!({ "to": "Bob" }));
    let handle = handle["result"]["structuredContent"]["handle"].clone();
    let task =
        Caller::new(&server, &token, takes_tasks()).call("send", json!({ "to": "Eve" }))["result"]
            .clone();
    assert_eq!(task["resultType"], "task", "{task}");
    // Killed, not ended.
    drop(server);
    let server = world.serve();
    let copies = json!({ "copies": 2 });
    let rounds =
        Caller::new(&server, &token, asks()).answer("send", to_ada(), &rounds, &accept(&copies));
    assert_eq!(question(&rounds["result"]).1, "Are you sure?");
    let sure = Caller::new(&server, &token, json!({})).go_on(&handle, copies.clone());
    let second = &sure["result"]["structuredContent"];
    assert_eq!(second["message"], "Are you sure?", "{sure}");
    let get = |caller: &Caller<'_>| {
        caller.request("tasks/get", json!({ "taskId": task["taskId"] }))["result"].clone()
    };
    let asked = get(&Caller::new(&server, &token, takes_tasks()));
    let update = json!({
        "taskId": task["taskId"],
        "inputResponses": { question(&asked).0: accept(&copies) },
    });
    Caller::new(&server, &token, takes_tasks()).request("tasks/update", update);
    // Killed, not ended.
    drop(server);
    let server = world.serve();
    let done = Caller::new(&server, &token, asks()).answer(
        "send",
        to_ada(),
        &rounds["result"],
        &accept(&json!({})),
    );
    assert_eq!(text(&done), "sent 2 to Ada");
    let done = Caller::new(&server, &token, json!({})).go_on(&second["handle"], json!({}));
    assert_eq!(text(&done), "sent 2 to Bob");
    let asked = get(&Caller::new(&server, &token, takes_tasks()));
    assert_eq!(question(&asked).1, "Are you sure?", "{asked}");
    let no = json!({ "taskId": task["taskId"], "inputResponses": {
        question(&asked).0: { "action": "decline" },
    } });
    Caller::new(&server, &token, takes_tasks()).request("tasks/update", no);
    for _ in 0..200 {
        if get(&Caller::new(&server, &token, takes_tasks()))["status"] == "completed" {
            break;
        }
        sleep(Duration::from_millis(25));
    }
    let done = get(&Caller::new(&server, &token, takes_tasks()));
    assert_eq!(done["result"]["content"][0]["text"], "kept", "{done}");
}

/// With one database, every process takes the answers of runs that another executes.
#[test]
fn another_process_takes_the_answer() {
    let Some(postgres) = mcpgraph_testkit::postgres::PostgresServer::start() else { return };
    let url = postgres.create_database("questions");
    let serve = || Listening::on(&beside("graphs/asking.yaml"), &["--store", &url]);
    let (one, two) = (serve(), serve());
    let [first, second] = [&one, &two].map(|server| Caller::new(server, "none", asks()));
    let asked = first.call("send", to_ada());
    let copies = accept(&json!({ "copies": 7 }));
    let sure = second.answer("send", to_ada(), &asked["result"], &copies);
    assert_eq!(question(&sure["result"]).1, "Are you sure?");
    let done = second.answer("send", to_ada(), &sure["result"], &accept(&json!({})));
    assert_eq!(text(&done), "sent 7 to Ada");
    // What comes of it is heard of without waiting for the next look at the store.
    let took = |_| {
        let quick = first.call("send", to_ada())["result"].clone();
        let began = Instant::now();
        let no = json!({ "action": "decline" });
        assert_eq!(text(&second.answer("send", to_ada(), &quick, &no)), "kept");
        began.elapsed()
    };
    let fastest = (0..5).map(took).min().unwrap();
    assert!(fastest < Duration::from_millis(900), "{fastest:?}");

    let [first, second] = [&one, &two].map(|server| Caller::new(server, "none", takes_tasks()));
    let task = first.call("send", to_ada())["result"].clone();
    let id = json!({ "taskId": task["taskId"] });
    let get = || second.request("tasks/get", id.clone())["result"].clone();
    let until = |status: &str| {
        for _ in 0..400 {
            if get()["status"] == status {
                return;
            }
            sleep(Duration::from_millis(25));
        }
        panic!("{} is not {status}", get());
    };
    until("input_required");
    let (key, _) = question(&get());
    let no = json!({ "taskId": task["taskId"], "inputResponses": {
        key: { "action": "decline" },
    } });
    second.request("tasks/update", no);
    until("completed");
    assert_eq!(get()["result"]["content"][0]["text"], "kept");
}

/// Ids are as long as those of runs, and may be shortened as they may.
#[test]
fn an_id_may_be_shortened() {
    let world = World::new();
    let server = world.serve();
    let client = Caller::new(&server, "none", json!({}));
    let answer = |id: &str| {
        let mut answer = command();
        answer.args(["questions", "answer", id, "copies=1", "--json"]).args(world.options());
        let output = answer.output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    for _ in 0..2 {
        client.call("send", to_ada());
    }
    let listed = command().args(["questions", "ls", "--json"]).args(world.options()).output();
    let listed: Value = serde_json::from_slice(&listed.unwrap().stdout).unwrap();
    let id = listed["questions"][0]["id"].as_str().unwrap();

    let (code, said) = answer(&id[..4]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("2 questions that wait") && said.contains(id), "{said}");
    for unknown in ["ffff", "", "-", "nobody"] {
        let (code, said) = answer(unknown);
        assert_eq!(code, Some(1), "{unknown}: {said}");
    }
    let (code, said) = answer(&id[..30].to_uppercase());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), json!({ "answered": id }));
}
