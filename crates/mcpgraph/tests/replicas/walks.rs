//! Conversations of procedures: each move is made by another process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Client, Cluster, database, done, within};

const PROCEDURE: &str = "---
agent: desk
---

```mermaid
flowchart TD
    START --> LOOK --> DECIDE{Which?}
    DECIDE -->|one| ONE --> DONE
    DECIDE -->|two| TWO --> DONE
```
";

/// Replicas that serve a procedure.
struct Desk {
    cluster: Cluster,
    /// What loads it.
    load: Value,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn open(store: String, name: &str, text: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let cluster = Cluster::start(store, |command| {
            command.arg("sop").arg(&file).args(options);
        });
        Self { cluster, load: json!({ "sop_file": file }), _folder: folder }
    }
}

/// Asks one of the three tools, in the conversation if there is one.
fn ask(client: &Client, conversation: &Value, tool: &str, mut arguments: Value) -> Value {
    if !conversation.is_null() {
        arguments["conversation"] = conversation.clone();
    }
    let answer = client.call(tool, arguments);
    assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
    answer["result"]["structuredContent"].clone()
}

#[test]
fn a_walk_goes_on_wherever_it_is_asked_for() {
    let Some(store) = database() else { return };
    let Desk { cluster, load, .. } = &Desk::open(store, "desk.md", PROCEDURE, &[]);
    for client in [cluster.client(), cluster.client().initialized()] {
        let loaded = ask(&client, &Value::Null, "load_graph", load.clone());
        let conversation = &loaded["conversation"];
        assert_eq!(conversation.is_string(), client.session.is_none(), "{loaded}");
        let todos = json!([{ "content": "one", "status": "pending", "completion_node": "DONE" }]);
        let planned = ask(&client, conversation, "todo", json!({ "todos": todos }));
        assert_eq!(planned["summary"]["pending"], 1, "{planned}");
        let mut path = Vec::new();
        for node in ["START", "LOOK", "DECIDE", "TWO", "DONE"] {
            path.push(node);
            let moved = ask(&client, conversation, "goto_node", json!({ "node_id": node }));
            assert_eq!((&moved["valid"], &moved["path"]), (&json!(true), &json!(path)), "{moved}");
        }
        let refused = ask(&client, conversation, "goto_node", json!({ "node_id": "LOOK" }));
        assert_eq!(refused["valid"], false, "{refused}");
    }

    // Each walk is one run whose events are all there.
    let listed = done(&cluster.store, &["runs", "ls", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{listed}");
    for run in runs {
        assert_eq!((&run["status"], &run["steps"]), (&json!("running"), &json!(6)), "{run}");
        let exported = done(&cluster.store, &["runs", "export", run["id"].as_str().unwrap()]);
        let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
        // Started, the plan, five nodes of which four were left, a refusal.
        assert_eq!(exported["events"].as_array().unwrap().len(), 1 + 2 + 5 + 4 + 1, "{exported}");
    }
}

/// The numbers of all replicas about one thing.
fn counted(cluster: &Cluster, what: &str) -> u64 {
    let of_one = |replica: &crate::cluster::Replica| {
        let mut stream = std::net::TcpStream::connect(replica.address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let mut numbers = lines.filter_map(|line| line.strip_prefix(what)?.trim().parse().ok());
        numbers.next().unwrap_or(0)
    };
    cluster.replicas.iter().map(of_one).sum()
}

/// A walk that several processes served is counted once, when it has ended.
#[test]
fn a_walk_is_counted_by_whoever_ends_it() {
    let Some(store) = database() else { return };
    let Desk { cluster, load, .. } = &Desk::open(store, "desk.md", PROCEDURE, &[]);
    let client = cluster.client().initialized();
    ask(&client, &Value::Null, "load_graph", load.clone());
    for node in ["START", "LOOK", "DECIDE"] {
        ask(&client, &Value::Null, "goto_node", json!({ "node_id": node }));
    }
    let step = |node: &str, kind: &str| {
        let count = "mcpgraph_node_duration_seconds_count";
        counted(cluster, &format!(r#"{count}{{tool="desk",node="{node}",kind="{kind}"}}"#))
    };
    assert_eq!(step("LOOK", "rectangle"), 0);
    // Whoever begins another walk has ended this one.
    ask(&client, &Value::Null, "load_graph", load.clone());
    within(Duration::from_secs(10), "it is counted", || step("LOOK", "rectangle") == 1);
    assert_eq!((step("START", "rectangle"), step("DECIDE", "rhombus")), (1, 1));
}

/// Two moves of one conversation at once: both are made, one after the other.
#[test]
fn moves_at_once_are_made_one_after_the_other() {
    let Some(store) = database() else { return };
    let text = "---\nagent: ring\n---\n```mermaid\nflowchart TD\n    START --> START\n```\n";
    let Desk { cluster, load, .. } = &Desk::open(store, "ring.md", text, &["--lenient"]);
    let client = cluster.client().initialized();
    let loaded = ask(&client, &Value::Null, "load_graph", load.clone());
    let entry = loaded["entry_node"].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (client, entry) = (client.clone(), entry.clone());
            scope.spawn(move || {
                for _ in 0..3 {
                    let moved =
                        ask(&client, &Value::Null, "goto_node", json!({ "node_id": entry }));
                    assert_eq!(moved["valid"], true, "{moved}");
                }
            });
        }
    });
    let listed = done(&cluster.store, &["runs", "ls", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["runs"][0]["steps"], 24, "{listed}");
}

/// Who walks with one process and listens at another hears that other tools may be called.
#[test]
fn a_client_hears_of_its_tools_wherever_it_listens() {
    let Some(store) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.md");
    std::fs::write(&file, PROCEDURE).unwrap();
    let cluster = Cluster::start(store, |command| {
        command.arg("sop").arg(&file).arg("--enforce");
    });
    let client = cluster.client().initialized();
    let [one, two] = [0, 1].map(|at: usize| client.at(cluster.replicas[at].address));
    let mut lines = BufReader::new(two.begin("GET", "", None)).lines().map_while(Result::ok);
    let mut hears = || lines.any(|line| line.contains("notifications/tools/list_changed"));
    // It may have missed something while it was not there.
    assert!(hears());
    ask(&one, &Value::Null, "load_graph", json!({ "sop_file": file }));
    assert!(hears());
}

/// A call is allowed by one process and seen by the next, with what came of it.
#[test]
fn a_receipt_has_the_calls_of_every_process() {
    let Some(store) = database() else { return };
    let text = std::fs::read_to_string("../../examples/order-desk.md").unwrap();
    let Desk { cluster, load, .. } = &Desk::open(store, "desk.md", &text, &[]);
    let client = cluster.client();
    let loaded = ask(&client, &Value::Null, "load_graph", load.clone());
    let conversation = &loaded["conversation"];
    let go = |node: &str| ask(&client, conversation, "goto_node", json!({ "node_id": node }));
    for node in ["START", "ROUTE", "CHECK"] {
        assert_eq!(go(node)["valid"], true);
    }
    ask(&client, conversation, "get_order", json!({ "id": "A-100" }));
    for node in ["IS_PENDING", "CANCEL"] {
        assert_eq!(go(node)["valid"], true);
    }
    let cancelled = json!({ "id": "A-100", "status": "cancelled" });
    ask(&client, conversation, "set_order_status", cancelled);
    let nodes = go("DONE")["receipt"]["nodes"].clone();
    for (node, tool) in [(2, "get_order"), (4, "set_order_status")] {
        let used = &nodes[node]["tools"][0];
        assert_eq!((&used["tool"], &used["unanswered"]), (&json!(tool), &json!(false)), "{nodes}");
        assert_eq!(used["result_sha256"].as_str().unwrap().len(), 64);
    }
}
