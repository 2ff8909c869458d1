//! Graphs that ask people: how each kind of client is asked, which answers count, and tasks.

use std::io::Read as _;
use std::thread::sleep;
use std::time::Duration;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Listening;
use crate::product::{Era, beside, command};

/// The asking graph, its data and who may come.
struct World {
    data: TempDir,
}

/// A client over HTTP, and what it can.
struct Caller<'s> {
    server: &'s Listening,
    token: String,
    capabilities: Value,
}

impl World {
    fn new() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    fn options(&self) -> [&str; 2] {
        ["--data", self.data.path().to_str().unwrap()]
    }

    fn token(&self, name: &str) -> String {
        let output =
            command().args(["tokens", "add", "--name", name]).args(self.options()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn serve(&self) -> Listening {
        Listening::on(&beside("graphs/asking.yaml"), &self.options())
    }

    fn stdio(&self) -> StdioClient {
        let mut serve = command();
        serve.arg("-g").arg(beside("graphs/asking.yaml")).args(self.options());
        StdioClient::start(serve)
    }
}

impl<'s> Caller<'s> {
    fn new(server: &'s Listening, token: &str, capabilities: Value) -> Self {
        Self { server, token: token.to_owned(), capabilities }
    }

    fn request(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let mut headers = format!(
            "{}\r\nAuthorization: Bearer {}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}",
            self.server.host(),
            self.token
        );
        if let Some(name) = params["name"].as_str().or(params["taskId"].as_str()) {
            headers = format!("{headers}\r\nMcp-Name: {name}");
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (_, rest) = self.server.post(&headers, &body);
        answer_in(&rest)
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls again with an answer to the only question of a result.
    fn answer(&self, tool: &str, arguments: Value, asked: &Value, answer: &Value) -> Value {
        let params = json!({
            "name": tool, "arguments": arguments,
            "requestState": asked["requestState"],
            "inputResponses": { question(asked).0: answer },
        });
        self.request("tools/call", params)
    }

    fn go_on(&self, handle: &Value, answer: Value) -> Value {
        self.call("continue_run", json!({ "handle": handle, "answer": answer }))
    }
}

/// The answer in a body, or in the last event of a stream.
fn answer_in(rest: &str) -> Value {
    let body = rest.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let mut data = body.lines().rev().filter_map(|line| line.strip_prefix("data: "));
    let event = data.find_map(|data| serde_json::from_str::<Value>(data).ok());
    event.or_else(|| serde_json::from_str(body).ok()).unwrap_or_else(|| panic!("{rest}"))
}

/// The key and the message of the only question of a result.
fn question(asked: &Value) -> (String, Value) {
    let requests = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(requests.len(), 1, "{asked}");
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asked}");
    (key.clone(), request["params"]["message"].clone())
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn asks() -> Value {
    json!({ "elicitation": {} })
}

fn takes_tasks() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn to_ada() -> Value {
    json!({ "to": "Ada" })
}

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
    let (code, output) = run(&["questions", "answer", id, "copies=0"]);
    assert_eq!(code, Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("[MG0436]"), "{output:?}");
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
