//! Procedures that bind: tools, guards, receipts, and the record of a walk.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::{Agent, Server, Way, sop};
use crate::product::{BINARY, Era, command, eventually, repository};

const DESK: &str = "examples/order-desk.md";

fn own() -> Vec<String> {
    ["load_graph", "todo", "goto_node"].map(str::to_owned).to_vec()
}

fn with_own(others: &[&str]) -> Vec<String> {
    own().into_iter().chain(others.iter().map(|tool| (*tool).to_owned())).collect()
}

fn to_check(server: &mut Server, agent: &mut Agent) {
    for node in ["START", "ROUTE", "CHECK"] {
        assert_eq!(server.go(agent, node)["valid"], true);
    }
}

#[test]
fn only_the_tools_of_the_node_can_be_called() {
    for way in Way::ALL {
        let mut server = Server::start(sop(&[DESK, "--no-history"]), way);
        let mut agent = server.agent();
        let is_modern = way == Way::Http(Era::Modern);
        if is_modern {
            // Who asks is not known yet: all tools that some node names, in the server's order.
            let named = ["list_orders", "get_order", "set_order_status", "echo"];
            assert_eq!(server.tools(&agent), with_own(&named));
        } else {
            assert_eq!(server.tools(&agent), own(), "{way:?}");
        }
        server.refuse(&mut agent, "get_order", json!({ "id": "A-100" }));
        assert_eq!(server.load(&mut agent, DESK)["enforced"], true);
        assert_eq!(server.tools(&agent), with_own(&["echo"]), "{way:?}");
        to_check(&mut server, &mut agent);
        assert_eq!(server.tools(&agent), with_own(&["get_order", "echo"]), "{way:?}");

        let cancel = json!({ "id": "A-100", "status": "cancelled" });
        let refused = server.refuse(&mut agent, "set_order_status", cancel.clone());
        assert_eq!(
            refused,
            json!({
                "error": "set_order_status may not be called at node CHECK. Tools here: get_order, echo. Next nodes: IS_PENDING.",
                "code": "MG0523",
                "current_node": "CHECK",
                "tools": ["get_order", "echo"],
                "valid_next": ["IS_PENDING"]
            })
        );
        let order = server.call(&mut agent, "get_order", json!({ "id": "A-100" }));
        assert_eq!(order["structuredContent"]["status"], "pending", "{way:?} {order}");
        server.go(&mut agent, "IS_PENDING");
        let denied = server.go(&mut agent, "DENY");
        assert_eq!(denied["valid"], false);
        let said = denied["error"].as_str().unwrap();
        assert!(
            said.starts_with(
                "Cannot move to DENY from IS_PENDING: the guard of `no` does not hold: {\"!=\""
            ),
            "{said}"
        );
        assert_eq!(denied["valid_next"], json!(["CANCEL"]));
        assert_eq!(server.go(&mut agent, "CANCEL")["valid"], true);
        assert_eq!(server.go(&mut agent, "DONE")["valid"], false);
        server.call(&mut agent, "set_order_status", cancel);
        let end = server.go(&mut agent, "DONE");
        check_receipt(&end);
        // Back to the hub, which was come to along an edge before.
        assert_eq!(server.go(&mut agent, "ROUTE")["valid"], true);
        server.end();
    }
}

fn check_receipt(end: &Value) {
    let receipt = &end["receipt"];
    let path = json!(["START", "ROUTE", "CHECK", "IS_PENDING", "CANCEL", "DONE"]);
    assert_eq!((&receipt["path"], &end["path"]), (&path, &path));
    assert_eq!((&receipt["agent"], &receipt["version"]), (&json!("order_desk"), &json!("1.0")));
    let text = fs::read_to_string(repository().join(DESK)).unwrap();
    assert_eq!(receipt["file_sha256"], mcpgraph_sop::digest(text));
    let nodes = receipt["nodes"].as_array().unwrap();
    let ids: Vec<&Value> = nodes.iter().map(|node| &node["node"]).collect();
    assert_eq!(json!(ids), path);
    let whole = receipt["ended_ms"].as_u64().unwrap() - receipt["started_ms"].as_u64().unwrap();
    let parts: u64 = nodes.iter().map(|node| node["ms"].as_u64().unwrap()).sum();
    assert_eq!(parts, whole);
    let used = &nodes[2]["tools"][0];
    assert_eq!((&used["tool"], &used["failed"]), (&json!("get_order"), &json!(false)));
    assert_eq!(used["result_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(nodes[4]["tools"][0]["tool"], "set_order_status");
    assert_eq!(nodes[1]["tools"], json!([]));
}

#[test]
fn nobody_jumps_ahead_and_nobody_chooses_another_procedure() {
    let mut server = Server::start(sop(&[DESK, "--no-history"]), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    let other = "crates/sop/tests/procedures/retail_a.md";
    let refused = server.refuse(&mut agent, "load_graph", json!({ "sop_file": other }));
    assert_eq!(refused["code"], "MG0520");
    server.load(&mut agent, "order_desk");
    assert_eq!(server.go(&mut agent, "ROUTE")["valid"], false);
    assert_eq!(server.go(&mut agent, "START")["valid"], true);
    assert_eq!(server.go(&mut agent, "ROUTE")["valid"], true);
}

#[test]
fn a_failed_tool_proves_nothing() {
    let mut server = Server::start(sop(&[DESK, "--no-history"]), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    server.load(&mut agent, DESK);
    to_check(&mut server, &mut agent);
    assert_eq!(server.call(&mut agent, "get_order", json!({ "id": "nope" }))["isError"], true);
    server.go(&mut agent, "IS_PENDING");
    assert_eq!(server.go(&mut agent, "CANCEL")["valid"], false);
}

#[test]
fn clients_are_told_when_their_tools_change() {
    let mut server = Server::start(sop(&[DESK, "--no-history"]), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    server.load(&mut agent, DESK);
    for node in ["START", "ROUTE"] {
        server.go(&mut agent, node);
    }
    let Server::Stdio(client, _) = &mut server else { panic!("stdio") };
    // What was told before does not count.
    while client.receive_within(Duration::from_millis(300)).is_some() {}
    let arguments = json!({ "name": "goto_node", "arguments": { "node_id": "CHECK" } });
    let id = client.begin("tools/call", &arguments);
    let messages = [client.receive(), client.receive()];
    assert!(messages.iter().any(|message| message["id"] == id));
    let told = |message: &Value| message["method"] == "notifications/tools/list_changed";
    assert!(messages.iter().any(told), "{messages:?}");
}

#[test]
fn every_procedure_binds_when_the_operator_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(repository().join(DESK)).unwrap();
    let free = text.replace("enforce: true\n", "").replace(
        "mcp_servers:\n  - name: shop\n    description: Orders, kept in memory by the demo server\n    command: ${MCPGRAPH_BIN}\n    args: [demo-server]\n",
        "",
    );
    assert!(!free.contains("demo-server") && !free.contains("enforce"));
    fs::write(folder.path().join("desk.md"), free).unwrap();
    let servers =
        json!({ "mcpServers": { "shop": { "command": BINARY, "args": ["demo-server"] } } });
    fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let serve = |options: &[&str]| {
        let mut command = command();
        command.args(["sop", "desk.md", "-m", "mcp.json", "--no-history"]).args(options);
        command.current_dir(folder.path());
        Server::start(command, Way::Stdio(Era::Legacy))
    };
    let mut free = serve(&[]);
    let mut agent = free.agent();
    assert!(free.tools(&agent).contains(&"slow".to_owned()));
    assert_eq!(free.load(&mut agent, "desk.md")["enforced"], Value::Null);
    assert!(free.tools(&agent).contains(&"slow".to_owned()));
    free.call(&mut agent, "get_order", json!({ "id": "A-100" }));
    let mut bound = serve(&["--enforce"]);
    let mut agent = bound.agent();
    assert_eq!(bound.load(&mut agent, "desk.md")["enforced"], true);
    assert_eq!(bound.tools(&agent), with_own(&["echo"]));
}

#[test]
fn a_graph_file_can_have_procedures() {
    let folder = tempfile::tempdir().unwrap();
    let graph = r#"
server: { name: both, version: "1" }
sops: [desk/free.md]
tools:
  - name: double
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: compute }
      - { id: compute, type: transform, transform: { expr: "$.entry.n * 2" }, next: exit }
      - { id: exit, type: exit }
"#;
    let procedure = "---\nagent: free\n---\n```mermaid\nflowchart TD\nSTART --> COUNT --> END\n```\n\
                     ## Node Prompts\n\n### COUNT\n\n```yaml\ntools: [double]\n```\n";
    fs::create_dir(folder.path().join("desk")).unwrap();
    fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    let serve = |text: &str| {
        fs::write(folder.path().join("desk/free.md"), text).unwrap();
        let mut command = command();
        command.args(["-g", "graph.yaml", "--no-history"]).current_dir(folder.path());
        command
    };
    let mut server = Server::start(serve(procedure), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    assert_eq!(server.tools(&agent), with_own(&["double"]));
    server.load(&mut agent, "desk/free.md");
    server.go(&mut agent, "START");
    assert_eq!(
        server.call(&mut agent, "double", json!({ "n": 4 }))["structuredContent"],
        Value::Null
    );
    server.end();

    let binding = procedure.replace("agent: free\n", "agent: free\nenforce: true\n");
    let mut server = Server::start(serve(&binding), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    assert_eq!(server.tools(&agent), own());
    server.load(&mut agent, "free");
    server.go(&mut agent, "START");
    server.refuse(&mut agent, "double", json!({ "n": 4 }));
    server.go(&mut agent, "COUNT");
    let result = server.call(&mut agent, "double", json!({ "n": 4 }));
    assert_eq!(result["content"][0]["text"], "8");
    server.end();

    let broken = serve("---\nagent: free\n---\n").output().unwrap();
    assert_eq!(broken.status.code(), Some(1));
    assert!(
        String::from_utf8(broken.stderr).unwrap().contains("desk/free.md"),
        "the file is named"
    );
}

#[test]
fn a_change_of_the_list_is_served_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let graph = |rest: &str| {
        let text = format!("server: {{ name: both, version: '1' }}\n{rest}tools: []\n");
        fs::write(folder.path().join("graph.yaml"), text).unwrap();
    };
    fs::copy(repository().join(DESK), folder.path().join("desk.md")).unwrap();
    let free = "---\nagent: free\n---\n```mermaid\nflowchart TD\nSTART --> END\n```\n";
    fs::write(folder.path().join("free.md"), free).unwrap();
    graph("");
    let mut command = command();
    command.args(["-g", "graph.yaml", "--no-history"]).current_dir(folder.path());
    let mut server = Server::start(command, Way::Stdio(Era::Modern));
    let mut agent = server.agent();
    assert_eq!(server.tools(&agent), Vec::<String>::new());

    graph("sops: [free.md]\n");
    eventually("the three tools are there", || server.tools(&agent) == own());
    server.load(&mut agent, "free");
    server.go(&mut agent, "START");

    // One that binds brings its servers; who has walked before goes on.
    graph("sops: [desk.md, free.md]\n");
    eventually("the second procedure is there", || {
        let loaded = server.call(&mut agent, "load_graph", json!({ "sop_file": "order_desk" }));
        loaded["isError"] != true
    });
    to_check(&mut server, &mut agent);
    let order = server.call(&mut agent, "get_order", json!({ "id": "A-100" }));
    assert_eq!(order["structuredContent"]["status"], "pending", "{order}");

    graph("");
    eventually("the tools are gone", || server.tools(&agent).is_empty());
    server.end();
}

#[test]
fn a_walk_is_a_run() {
    for way in [Way::Stdio(Era::Legacy), Way::Http(Era::Legacy)] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().display().to_string();
        let mut server = Server::start(sop(&[DESK, "--data", &data]), way);
        let mut agent = server.agent();
        server.load(&mut agent, DESK);
        to_check(&mut server, &mut agent);
        server.call(&mut agent, "get_order", json!({ "id": "A-100" }));
        server.refuse(&mut agent, "set_order_status", json!({ "id": "A-100" }));
        server.go(&mut agent, "CANCEL");
        server.go(&mut agent, "IS_PENDING");
        server.end();
        let asked = ["requests", "--tool", "set_order_status", "--json", "--data", &data];
        let asked = command().args(asked).output().unwrap();
        let asked = String::from_utf8(asked.stdout).unwrap();
        assert!(asked.contains("\"tool-error\""), "a refused call has a name: {asked}");
        let runs = |arguments: &[&str]| {
            let output = command().arg("runs").args(arguments).args(["--data", &data]).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let listed: Value = serde_json::from_str(&runs(&["ls", "--json"])).unwrap();
        let run = listed["runs"][0].clone();
        assert_eq!(run["tool"], "order_desk", "{listed}");
        assert_eq!(run["status"], "succeeded", "{listed}");
        let shown = runs(&["show", run["id"].as_str().unwrap()]);
        for part in ["START", "ROUTE", "CHECK", "get_order", "IS_PENDING", "said 2 lines"] {
            assert!(shown.contains(part), "{part} is missing:\n{shown}");
        }
        let id = run["id"].as_str().unwrap();
        for again in
            [&["runs", "replay", id][..], &["runs", "rerun", id], &["test", "--record", id]]
        {
            let output = command().args(again).args(["--data", &data]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{again:?}: {said}");
            assert!(said.contains("a walk of a procedure") && said.contains("runs show"), "{said}");
        }
    }
}
