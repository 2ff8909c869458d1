//! Tokens: who may come over HTTP, what each sees, and how often.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Listening, initialize};
use crate::product::{BINARY, command};

/// A graph with a tool of its own and two exposed servers, and the folder of its tokens.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(&json!([]))
    }

    /// The same with workflows.
    pub(crate) fn with(workflows: &Value) -> Self {
        Self::of(workflows, &json!({}))
    }

    /// The same with another server.
    pub(crate) fn with_server(name: &str, server: &Value) -> Self {
        Self::of(&json!([]), &json!({ name: server }))
    }

    /// The same with workflows and other servers.
    pub(crate) fn of(workflows: &Value, more: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let demo = json!({ "command": BINARY, "args": ["demo-server"], "expose": true });
        let nodes = json!([
            { "id": "in", "type": "entry", "next": "out" }, { "id": "out", "type": "exit" }
        ]);
        let tenant = json!({ "type": "string", "x-mcp-header": "Tenant" });
        let mirrored = json!({ "type": "object", "properties": { "tenant": tenant } });
        let mut servers = json!({ "one": demo, "two": demo });
        for (name, server) in more.as_object().unwrap() {
            servers[name] = server.clone();
        }
        let graph = json!({
            "version": "2",
            "server": { "name": "guarded", "version": "1" },
            "mcpServers": servers,
            "tools": [
                { "name": "own", "inputSchema": { "type": "object" }, "nodes": nodes },
                { "name": "mirrored", "inputSchema": mirrored, "nodes": nodes }
            ],
            "workflows": workflows
        });
        std::fs::write(folder.path().join("graph.yaml"), graph.to_string()).unwrap();
        Self { folder }
    }

    fn tokens(&self, arguments: &[&str]) -> Output {
        self.run(&[&["tokens"], arguments].concat())
    }

    /// The folder of its data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs a command of the product on the same data.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let data = self.folder.path().join("data");
        command().args(arguments).arg("--data").arg(data).output().unwrap()
    }

    /// Makes a token.
    pub(crate) fn add(&self, name: &str, options: &[&str]) -> String {
        let output = self.tokens(&[&["add", "--name", name], options].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Changes the graph file in one step, as editors do.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        let file = self.folder.path().join("graph.yaml");
        let mut graph = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        change(&mut graph);
        let draft = self.folder.path().join(".draft");
        std::fs::write(&draft, graph.to_string()).unwrap();
        std::fs::rename(draft, file).unwrap();
    }

    pub(crate) fn serve(&self) -> Listening {
        self.serve_with(&[])
    }

    /// The same with options.
    fn serve_with(&self, options: &[&str]) -> Listening {
        let data = self.folder.path().join("data");
        let data = ["--data", data.to_str().unwrap()];
        Listening::on(&self.folder.path().join("graph.yaml"), &[&data, options].concat())
    }
}

/// The status and the answer of a modern request.
pub(crate) fn ask(
    server: &Listening,
    token: &str,
    method: &str,
    mut params: Value,
) -> (u16, Value) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} },
        },
    });
    let mut headers = format!(
        "{}\r\nAuthorization: Bearer {token}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}",
        server.host()
    );
    if let Some(name) = ["name", "taskId", "uri"].into_iter().find_map(|key| params[key].as_str()) {
        headers = format!("{headers}\r\nMcp-Name: {name}");
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let (status, rest) = server.post(&headers, &body);
    let body = rest.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let answer = serde_json::from_str(body).unwrap_or(Value::Null);
    (status.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

pub(crate) fn names(server: &Listening, token: &str) -> Vec<String> {
    let (_, answer) = ask(server, token, "tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn call(server: &Listening, token: &str, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "value": 1 } });
    ask(server, token, "tools/call", params).1
}

#[test]
fn nobody_comes_without_a_token_once_there_is_one() {
    let world = World::new();
    let token = world.add("all", &[]);
    let part = world.add("part", &["--servers", "one"]);
    let server = world.serve();
    assert_eq!(ask(&server, &token, "tools/list", json!({})).0, 200);
    for wrong in ["", "mcpg_00", &token[..token.len() - 1], &token.to_uppercase()] {
        let (status, answer) = ask(&server, wrong, "tools/list", json!({}));
        assert_eq!((status, &answer["error"]["code"]), (401, &"MG0610".into()), "{wrong}");
    }
    let (status, rest) = server.post(&server.host(), &initialize());
    assert!(status.contains("401") && rest.to_lowercase().contains("www-authenticate: bearer"));
    // What is beside the endpoint shows every run.
    for (token, status) in [(&token, "200"), (&part, "403")] {
        let head =
            format!("GET /api/runs HTTP/1.1\r\n{}\r\nAuthorization: Bearer {token}", server.host());
        let mut answer = String::new();
        server.send(&head, &json!({})).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    // Revoked while the server runs.
    assert!(world.tokens(&["rm", "all"]).status.success());
    assert_eq!(ask(&server, &token, "tools/list", json!({})).0, 401);
    assert_eq!(ask(&server, &part, "tools/list", json!({})).0, 200);
}

#[test]
fn a_token_sees_and_calls_what_it_is_granted_and_nothing_else() {
    let world = World::new();
    let all = world.add("all", &[]);
    let server = world.serve();
    let every = names(&server, &all);
    assert!(every.len() > 10 && every.contains(&"own".to_owned()), "{every:?}");
    type Sees = fn(&str) -> bool;
    let grants: [(&[&str], Sees); 7] = [
        (&["--servers", "one"], |name| name.starts_with("one__")),
        (&["--servers", "graph"], |name| !name.contains("__")),
        (&["--servers", "two,graph"], |name| !name.starts_with("one__")),
        (&["--tools", "*__echo"], |name| name.ends_with("__echo")),
        (&["--tools", "own,two__get_*"], |name| name == "own" || name.starts_with("two__get_")),
        (&["--servers", "one", "--tools", "*__echo"], |name| name == "one__echo"),
        (&["--servers", "nobody"], |_| false),
    ];
    for (index, (options, sees)) in grants.into_iter().enumerate() {
        // They are made while the server runs.
        let token = world.add(&format!("token{index}"), options);
        let seen = names(&server, &token);
        let wanted: Vec<String> = every.iter().filter(|name| sees(name)).cloned().collect();
        assert_eq!(seen, wanted, "{options:?}");
        for name in ["own", "one__echo", "two__echo"] {
            let answer = call(&server, &token, name);
            if sees(name) {
                assert!(answer["result"].is_object(), "{options:?} {name}: {answer}");
            } else {
                // What is not granted is not there: the answer tells nothing else.
                let unknown = call(&server, &token, "nothing");
                let told = answer.to_string().replace(&format!(": {name}"), ": nothing");
                assert_eq!(told, unknown.to_string(), "{options:?}");
            }
        }
    }
}

#[test]
fn a_session_belongs_to_the_token_that_opened_it() {
    let world = World::new();
    let (mine, other) = (world.add("mine", &[]), world.add("other", &[]));
    let server = world.serve();
    let with = |token: &str, more: &str| {
        format!("{}\r\nAuthorization: Bearer {token}{more}", server.host())
    };
    let (status, rest) = server.post(&with(&mine, ""), &initialize());
    assert!(status.contains("200"), "{rest}");
    let session = rest.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
    let session = format!("\r\n{}", session.unwrap().trim());
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert!(server.post(&with(&mine, &session), &list).0.contains("200"));
    assert!(server.post(&with(&other, &session), &list).0.contains("404"));
}

#[test]
fn rates_are_kept_per_token_and_per_tool() {
    let world = World::new();
    let few = world.add("few", &["--rate", "2/h"]);
    let echo = world.add("echo", &["--tool-rate", "*__echo=1/h"]);
    let server = world.serve();
    for _ in 0..2 {
        assert!(call(&server, &few, "own")["result"].is_object());
    }
    let refused = call(&server, &few, "own");
    assert_eq!(refused["error"]["code"], -32029, "{refused}");
    assert_eq!(refused["error"]["data"]["code"], "MG0611");
    assert!(refused["error"]["data"]["retryAfterMs"].as_u64().unwrap() > 1000);
    assert!(call(&server, &echo, "one__echo")["result"].is_object());
    assert_eq!(call(&server, &echo, "two__echo")["error"]["code"], -32029);
    assert!(call(&server, &echo, "own")["result"].is_object());
}

#[test]
fn tokens_are_shown_once_and_listed_without_themselves() {
    let world = World::new();
    let options = "--servers a,b --tools x__* --expires 30d --rate 10/s --tool-rate y__*=5/m";
    let token = world.add("ci", &options.split(' ').collect::<Vec<_>>());
    for arguments in [&["ls"][..], &["ls", "--json"]] {
        let listed = String::from_utf8(world.tokens(arguments).stdout).unwrap();
        assert!(listed.contains("ci") && listed.contains("x__*"), "{listed}");
        assert!(listed.contains("y__*") && listed.contains("5/m"), "{listed}");
        assert!(!listed.contains(&token[5..]), "{listed}");
    }
    let listed: Value = serde_json::from_slice(&world.tokens(&["ls", "--json"]).stdout).unwrap();
    assert_eq!(listed["tokens"][0]["servers"], json!(["a", "b"]));
    assert_eq!(world.tokens(&["add", "--name", "ci"]).status.code(), Some(1));
    assert_eq!(world.tokens(&["rm", "nobody"]).status.code(), Some(1));
    for wrong in [
        &["--name", "x", "--rate", "fast"][..],
        &["--name", ""],
        &["--name", "x", "--servers", ""],
        &["--name", "x", "--tools", "a,,b"],
        &["--name", "x", "--expires", "0s"],
        &["--name", "x", "--expires", "500ms"],
        &["--name", "x", "--tool-rate", "=5/m"],
    ] {
        let output = world.tokens(&[&["add"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(world.tokens(&["rm", "ci"]).status.code(), Some(0));
}

#[test]
fn other_machines_need_tokens() {
    let world = World::new();
    let serve = |more: &[&str]| {
        let mut command = command();
        command.args(["serve", "--http", "0.0.0.0:0", "-g", "graph.yaml", "--data", "data"]);
        command.args(more).current_dir(world.folder.path());
        command
    };
    let output = serve(&[]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("mcpgraph tokens add") && said.contains("--insecure"), "{said}");
    let token = world.add("all", &[]);
    let data = world.folder.path().join("data");
    let options = ["--data", data.to_str().unwrap()];
    let graph = world.folder.path().join("graph.yaml");
    let server = Listening::at("0.0.0.0:0", Path::new(&graph), &options);
    assert_eq!(ask(&server, &token, "tools/list", json!({})).0, 200);
    assert_eq!(ask(&server, "wrong", "tools/list", json!({})).0, 401);
}

/// Names and origins that were added.
const ADDED: [&str; 4] =
    ["--allow-host", "mcp.example.com", "--allow-origin", "https://app.example"];

/// The whole answer to a request without a token.
fn answer_to(server: &Listening, head: &str) -> String {
    let mut answer = String::new();
    server.send(head, &json!({})).read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn names_that_were_added_lead_to_the_tools_and_not_to_the_studio() {
    let world = World::new();
    let token = world.add("ci", &[]);
    let server = world.serve_with(&[&["--studio"], &ADDED[..]].concat());
    let text = std::fs::read(world.folder.path().join("graph.yaml")).unwrap();
    let own = server.host();
    let elsewhere = "Host: mcp.example.com";
    let page = format!("{own}\r\nOrigin: https://app.example");
    let beside = [
        "GET /",
        "GET /api/graphs",
        "GET /api/graphs/version",
        "PUT /api/graphs",
        "GET /api/runs",
        "POST /api/runs",
        "GET /api/nothing",
        "GET /metrics",
    ];
    for request in beside {
        for from in [elsewhere, &page] {
            let answer = answer_to(&server, &format!("{request} HTTP/1.1\r\n{from}"));
            assert!(answer.starts_with("HTTP/1.1 403"), "{request} {from}: {answer}");
            assert!(!answer.to_lowercase().contains("access-control"), "{answer}");
        }
    }
    let answer = answer_to(&server, &format!("GET /api/graphs/version HTTP/1.1\r\n{own}"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for from in [elsewhere, &page] {
        assert!(server.post(from, &initialize()).0.contains("401"), "{from}");
        let shown = format!("{from}\r\nAuthorization: Bearer {token}");
        assert!(server.post(&shown, &initialize()).0.contains("200"), "{from}");
    }
    assert_eq!(std::fs::read(world.folder.path().join("graph.yaml")).unwrap(), text);
}

#[test]
fn without_a_studio_what_is_beside_the_tools_asks_for_a_token_by_any_name() {
    let world = World::new();
    let token = world.add("ci", &[]);
    let server = world.serve_with(&ADDED);
    for request in ["GET /api/runs", "POST /api/runs", "GET /api/requests", "GET /metrics"] {
        for (from, status) in [
            ("Host: mcp.example.com".to_owned(), "401"),
            ("Host: evil.example".to_owned(), "401"),
            (format!("Host: evil.example\r\nAuthorization: Bearer {token}"), "403"),
        ] {
            let answer = answer_to(&server, &format!("{request} HTTP/1.1\r\n{from}"));
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{request} {from}: {answer}"
            );
        }
    }
    assert!(server.get("/healthz").0.contains("200"));
}

#[test]
fn a_page_may_ask_before_it_shows_a_token_and_reads_that_it_was_refused() {
    let world = World::new();
    world.add("ci", &[]);
    let server = world.serve_with(&ADDED);
    let own = server.host();
    let asks = format!(
        "{own}\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n\
         Access-Control-Request-Headers: authorization"
    );
    let answer = answer_to(&server, &format!("OPTIONS /mcp HTTP/1.1\r\n{asks}")).to_lowercase();
    assert!(answer.starts_with("http/1.1 204"), "{answer}");
    assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
    // Beside the endpoint pages of other origins are nobody's guests.
    let answer = answer_to(&server, &format!("OPTIONS /api/runs HTTP/1.1\r\n{asks}"));
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let refused = server.post(&format!("{own}\r\nOrigin: https://app.example"), &initialize());
    let (status, rest) = (refused.0, refused.1.to_lowercase());
    assert!(status.contains("401"), "{status}");
    for header in [
        "access-control-allow-origin: https://app.example",
        "access-control-expose-headers: mcp-session-id, www-authenticate",
        "www-authenticate: bearer",
        "vary: origin",
    ] {
        assert!(rest.contains(header), "{header}: {rest}");
    }
}

#[test]
fn tokens_are_listed_as_a_table() {
    let world = World::new();
    let none = world.tokens(&["ls"]);
    assert!(none.stdout.is_empty());
    assert!(String::from_utf8(none.stderr).unwrap().contains("no tokens"));
    world.add("all", &[]);
    world.add("ci", &["--servers", "one,two", "--rate", "5/s"]);
    let listed = String::from_utf8(world.tokens(&["ls"]).stdout).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    let [heading, all, ci] = *lines else { panic!("{listed}") };
    assert!(heading.starts_with("TOKEN") && heading.ends_with("TOOL RATES  ENDS"), "{listed}");
    let cells = |line: &str| -> Vec<String> {
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(cells(all), ["all", "all", "all", "any", "-", "never"]);
    assert_eq!(cells(ci)[..3], ["ci", "one,two", "all"]);
}
