//! Two tokens with random grants on one server: each sees and calls what it is granted, whatever
//! the other does, and what it is not granted is not there.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpgraph_access::{Grant, NewToken, Tokens};
use mcpgraph_testkit::environment;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::access::{World, ask, call, names};
use crate::http::Listening;

/// Tools to be called: some of each server, the graph's own, and what a workflow adds.
const TOOLS: [(&str, &str); 5] = [
    ("graph", "own"),
    ("one", "one__echo"),
    ("one", "one__get_order"),
    ("two", "two__echo"),
    ("graph", "added"),
];

/// Workflows around everything: one answers `added`, one shows it and shows an `echo` renamed.
fn workflows() -> Value {
    let nodes = |before: &str, after: &str| {
        json!([
            { "id": "start", "type": "start", "next": "before" },
            { "id": "before", "type": "hook", "hook": { "script": before }, "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "after" },
            { "id": "after", "type": "hook", "hook": { "script": after }, "next": "end" },
            { "id": "end", "type": "end" },
        ])
    };
    let answer = "if (context.request.params.name === 'added') \
                  return { response: { content: [{ type: 'text', text: 'added' }] } }";
    let show = "const tools = [...context.response.tools, \
                    { name: 'added', inputSchema: { type: 'object' } }]; \
                return { response: { ...context.response, tools: tools.map((tool) => \
                    tool.name === 'two__fail' ? { ...tool, name: 'shown' } : tool) } }";
    json!([
        { "name": "calls", "workflowType": "tools/call", "nodes": nodes(answer, "") },
        { "name": "lists", "workflowType": "tools/list", "nodes": nodes("", show) },
    ])
}

fn grants() -> impl Strategy<Value = Grant> {
    let servers = prop::sample::subsequence(vec!["one", "two", "graph", "nobody"], 0..=4);
    let patterns = vec!["one__*", "*__echo", "own", "t?o__*", "added", "*__get_*", "nothing"];
    let tools = prop::sample::subsequence(patterns, 0..=4);
    let texts = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
    (servers, tools)
        .prop_map(move |(servers, tools)| Grant { servers: texts(servers), tools: texts(tools) })
}

/// What a grant says about a tool, written down once more.
fn is_granted(grant: &Grant, server: &str, tool: &str) -> bool {
    let fits = |pattern: &String| match pattern.as_str() {
        "one__*" => tool.starts_with("one__"),
        "*__echo" => tool.ends_with("__echo"),
        "t?o__*" => tool.starts_with("two__"),
        "*__get_*" => tool.contains("__get_"),
        plain => plain == tool,
    };
    (grant.servers.is_empty() || grant.servers.iter().any(|known| known == server))
        && (grant.tools.is_empty() || grant.tools.iter().any(fits))
}

fn server_of(tool: &str) -> &str {
    match tool.split_once("__") {
        Some((server, _)) => server,
        None if tool == "shown" => "two",
        None => "graph",
    }
}

/// One server for all cases of a test; tokens come and go while it runs.
struct Shared {
    tokens: Tokens,
    server: Listening,
    all: BTreeSet<String>,
    count: AtomicUsize,
    /// Where the files are, for as long as this lives.
    _world: World,
}

impl Shared {
    fn new() -> Self {
        let world = World::with(&workflows());
        let everything = world.add("all", &[]);
        let server = world.serve();
        let all = names(&server, &everything).into_iter().collect();
        let tokens = Tokens::in_folder(&world.data());
        Self { tokens, server, all, count: 0.into(), _world: world }
    }

    fn add(&self, grant: &Grant) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let new = NewToken {
            name: format!("token {number}"),
            grant: grant.clone(),
            lifetime: None,
            rate: None,
            tool_rates: Vec::new(),
        };
        self.tokens.add(new).unwrap().1
    }
}

/// Whether what a token gets for a tool is what its grant says.
fn check_call(shared: &Shared, token: &str, grant: &Grant, (owner, tool): (&str, &str)) {
    let answer = call(&shared.server, token, tool);
    if is_granted(grant, owner, tool) {
        assert!(answer["result"].is_object(), "{grant:?} {tool}: {answer}");
        return;
    }
    // The answer tells nothing but what one for a tool that nobody has tells.
    let unknown = call(&shared.server, token, "no__such");
    let told = answer.to_string().replace(&format!(": {tool}"), ": no__such");
    assert_eq!(told, unknown.to_string(), "{grant:?}");
}

/// Whether a token is shown what its grant says.
fn check_list(shared: &Shared, token: &str, grant: &Grant) {
    let seen: BTreeSet<String> = names(&shared.server, token).into_iter().collect();
    let own_name = |name: &str| if name == "shown" { "two__fail" } else { name }.to_owned();
    let wanted = shared.all.iter();
    let wanted: BTreeSet<String> = wanted
        .filter(|name| is_granted(grant, server_of(name), &own_name(name)))
        .cloned()
        .collect();
    assert_eq!(seen, wanted, "{grant:?}");
}

#[test]
fn two_tokens_see_and_call_what_each_is_granted() {
    let shared = &Shared::new();
    assert!(shared.all.contains("added") && shared.all.contains("shown"), "{:?}", shared.all);
    let mut runner =
        TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec((any::<bool>(), 0..=TOOLS.len()), 12);
    runner
        .run(&(grants(), grants(), steps), |(first, second, steps)| {
            let sides = [&first, &second].map(|grant| (shared.add(grant), grant));
            for (side, step) in steps {
                let (token, grant) = &sides[usize::from(side)];
                match TOOLS.get(step) {
                    Some(tool) => check_call(shared, token, grant, *tool),
                    None => check_list(shared, token, grant),
                }
            }
            for (token, grant) in &sides {
                check_list(shared, token, grant);
            }
            Ok(())
        })
        .unwrap();
}

/// A name that one token is shown is nobody else's, though both call themselves the same.
#[test]
fn what_one_is_shown_another_does_not_know() {
    let shared = &Shared::new();
    let none = Vec::new;
    let two = shared.add(&Grant { servers: vec!["two".to_owned()], tools: none() });
    let one = shared.add(&Grant { servers: vec!["one".to_owned()], tools: none() });
    assert!(names(&shared.server, &two).contains(&"shown".to_owned()));
    let answer = call(&shared.server, &two, "shown");
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let answer = call(&shared.server, &one, "shown").to_string();
    assert_eq!(answer.replace("shown", "x"), call(&shared.server, &one, "x").to_string());
    assert!(!answer.contains("two__fail"), "{answer}");
}

/// A workflow that calls another tool calls it for the client, and grants hold for that tool too.
#[test]
fn a_workflow_leads_nowhere_that_is_not_granted() {
    let redirect = "const request = context.request; \
                    request.params.name = request.params.name.replace('one__', 'two__'); \
                    return { request }";
    let nodes = json!([
        { "id": "start", "type": "start", "next": "before" },
        { "id": "before", "type": "hook", "hook": { "script": redirect }, "next": "call" },
        { "id": "call", "type": "mcp-call", "next": "end" },
        { "id": "end", "type": "end" },
    ]);
    let workflow = json!({ "name": "redirect", "workflowType": "tools/call", "nodes": nodes });
    let world = World::with(&json!([workflow]));
    let (all, one) = (world.add("all", &[]), world.add("one", &["--servers", "one"]));
    let few = world.add("few", &["--tools", "one__*,two__get_order"]);
    let server = world.serve();
    assert!(call(&server, &all, "one__echo")["result"].is_object());
    for token in [one, few] {
        let refused = call(&server, &token, "one__echo");
        assert_eq!(refused["error"]["message"], "Unknown tool: two__echo", "{refused}");
    }
}

/// What a client sends in headers is compared only for tools that are there for it.
#[test]
fn headers_tell_nothing_about_tools() {
    let shared = &Shared::new();
    let token = shared.add(&Grant { servers: vec!["one".to_owned()], tools: Vec::new() });
    let all = shared.add(&Grant::default());
    let send = |token: &str, tool: &str| {
        ask(
            &shared.server,
            token,
            "tools/call",
            json!({ "name": tool, "arguments": { "tenant": "a" } }),
        )
    };
    // The tool wants its argument repeated in a header, which is missing.
    let (status, answer) = send(&all, "mirrored");
    assert_eq!(status, 400, "{answer}");
    let (status, answer) = send(&token, "mirrored");
    let (unknown_status, unknown) = send(&token, "nothing");
    assert_eq!(status, unknown_status);
    assert_eq!(answer.to_string().replace("mirrored", "nothing"), unknown.to_string());
}

/// A task is known to the token that began it, whatever others may see of its server.
#[test]
fn a_task_is_its_callers() {
    let Some(server) = environment::fixture_server() else { return };
    let mut exposed = server.to_json();
    exposed["expose"] = json!(true);
    let world = World::with_server("s", &exposed);
    let (mine, other) = (world.add("mine", &[]), world.add("other", &[]));
    let server = world.serve();
    let begun = json!({ "name": "s__slow_compute", "arguments": { "seconds": 30 } });
    let (_, task) = ask(&server, &mine, "tools/call", begun);
    let id = task["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{task}")).to_owned();
    let get = |token: &str, id: &str| ask(&server, token, "tasks/get", json!({ "taskId": id })).1;
    assert_eq!(get(&mine, &id)["result"]["taskId"], json!(id));
    let told = get(&other, &id).to_string().replace(&id, "none");
    assert_eq!(told, get(&other, "none").to_string());
}

/// The tools of procedures belong to the graph: they are granted like its own.
#[test]
fn procedures_are_for_those_who_may_see_them() {
    let world = World::new();
    let all = world.add("all", &[]);
    let tools = world.add("tools", &["--servers", "graph", "--tools", "load_graph"]);
    let none = world.add("none", &["--servers", "elsewhere"]);
    let few = world.add("few", &["--tool-rate", "todo=1/h"]);
    let mut sop = crate::product::command();
    sop.arg("sop")
        .arg(crate::product::repository().join("crates/sop/tests/procedures/retail_a.md"));
    sop.args(["--http", "127.0.0.1:0", "--data"]).arg(world.data());
    let server = Listening::of(sop);
    assert_eq!(names(&server, &all), ["load_graph", "todo", "goto_node"]);
    assert_eq!(names(&server, &tools), ["load_graph"]);
    assert!(names(&server, &none).is_empty());
    for (token, tool) in [(&none, "load_graph"), (&none, "todo"), (&tools, "goto_node")] {
        let told = call(&server, token, tool).to_string().replace(tool, "nothing");
        assert_eq!(told, call(&server, token, "nothing").to_string());
    }
    assert!(call(&server, &few, "todo")["result"].is_object());
    assert_eq!(call(&server, &few, "todo")["error"]["code"], -32029);
    assert!(call(&server, &few, "goto_node")["result"].is_object());
}
