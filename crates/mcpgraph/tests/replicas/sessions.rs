//! Legacy sessions: one that began in one process goes on in another.

use std::io::{BufRead, BufReader, Read as _};

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use crate::cluster::{Client, Cluster, database, graph, soon};

#[test]
fn any_replica_answers_clients_of_either_era() {
    let Some(store) = database() else { return };
    let cluster = Cluster::of_graph(store, &graph());
    for client in [cluster.client(), cluster.client().initialized()] {
        for n in 1..=6 {
            let answer = client.call("count", json!({ "n": n }));
            assert_eq!(answer["result"]["content"][0]["text"], n.to_string(), "{answer}");
        }
        assert!(client.tools().contains(&"count".to_owned()));
    }
    // Both were asked: each wrote what it answered.
    let runs = crate::cluster::done(&cluster.store, &["runs", "ls", "--json", "--limit", "50"]);
    let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 12, "{runs}");
}

#[test]
fn a_session_ends_everywhere() {
    let Some(store) = database() else { return };
    let cluster = Cluster::of_graph(store, &graph());
    let client = cluster.client().initialized();
    let each: Vec<Client> =
        cluster.replicas.iter().map(|replica| client.at(replica.address)).collect();
    for client in &each {
        assert_eq!(client.ask("ping", json!({})).status, 200);
    }
    let unknown = Client { session: Some("0".repeat(32)), ..client.clone() };
    assert_eq!(unknown.ask("ping", json!({})).status, 404);
    let mut stream = BufReader::new(each[1].begin("GET", "", None));
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    assert_eq!(each[0].send("DELETE", "", None).status, 204);
    assert_eq!(each[0].ask("ping", json!({})).status, 404);
    soon("the session is gone", || each[1].ask("ping", json!({})).status == 404);
    // What it streamed has ended.
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// A replica that is gone takes no session along.
#[test]
fn a_session_outlives_the_replica_it_began_on() {
    let Some(store) = database() else { return };
    let mut cluster = Cluster::of_graph(store, &graph());
    let first = cluster.replicas[0].address;
    let client = cluster.client().at(first).initialized();
    cluster.replicas[0].kill();
    let other = client.at(cluster.replicas[1].address);
    let answer = other.call("count", json!({ "n": 4 }));
    assert_eq!(answer["result"]["content"][0]["text"], "4", "{answer}");
    // And the load balancer passes over the one that is gone.
    let client = Client { address: cluster.proxy.address(), ..client };
    for _ in 0..2 {
        assert_eq!(client.ask("ping", json!({})).status, 200);
    }
}

/// What a session was told in one process holds in another.
#[test]
fn the_level_of_logs_is_that_of_the_session() {
    let Some(store) = database() else { return };
    let Some(server) = environment::fixture_server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, json!({ "mcpServers": { "s": server.to_json() } }).to_string()).unwrap();
    let cluster = Cluster::start(store, |command| {
        command.args(["serve", "-m"]).arg(&file);
    });
    let client = cluster.client().initialized();
    let [one, two] = [0, 1].map(|at: usize| client.at(cluster.replicas[at].address));
    let logs = |client: &Client| {
        let params = json!({ "name": "s__test_tool_with_logging", "arguments": {} });
        let answer = client.ask("tools/call", params);
        assert!(answer.last()["result"].is_object(), "{answer:?}");
        answer.messages.iter().filter(|told| told["method"] == "notifications/message").count()
    };
    assert!(logs(&one) > 0 && logs(&two) > 0);
    assert_eq!(one.ask("logging/setLevel", json!({ "level": "emergency" })).status, 200);
    assert_eq!(logs(&one), 0);
    soon("the other heard of it", || logs(&two) == 0);
}

/// A stream that broke is come back to wherever that leads.
#[test]
fn a_stream_of_another_replica_is_no_error() {
    let Some(store) = database() else { return };
    let cluster = Cluster::of_graph(store, &graph());
    let client = cluster.client().initialized();
    let [one, two] = [0, 1].map(|at: usize| client.at(cluster.replicas[at].address));
    let first_id = |client: &Client, method: &str, headers: &str, body: Option<&Value>| {
        let mut stream = BufReader::new(client.begin(method, headers, body));
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap() > 0 {
            if let Some(id) = line.trim_end().strip_prefix("id: ") {
                return (id.to_owned(), stream);
            }
            line.clear();
        }
        panic!("a stream without an id");
    };
    // The stream of changes goes on, and its client is told to look again.
    let (id, _stream) = first_id(&one, "GET", "", None);
    let (_, mut stream) = first_id(&two, "GET", &format!("Last-Event-ID: {id}\r\n"), None);
    let mut line = String::new();
    while !line.contains("notifications/tools/list_changed") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "nothing was told");
    }
    // The rest of a call is where it is made; the client is told to come back.
    let call = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call",
        "params": { "name": "wait", "arguments": { "ms": 4000 } } });
    let (id, call) = first_id(&one, "POST", "", Some(&call));
    drop(call);
    let headers = format!("Last-Event-ID: {id}\r\n");
    let elsewhere = two.send("GET", &headers, None);
    assert_eq!((elsewhere.status, elsewhere.messages.len()), (200, 0), "{elsewhere:?}");
    let back = one.send("GET", &headers, None);
    assert_eq!(back.last()["id"], 900, "{back:?}");
}
