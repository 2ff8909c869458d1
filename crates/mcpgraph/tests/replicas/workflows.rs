//! Workflows in the store: a change is in force on all replicas, and their clients hear of it.

use std::io::{BufRead, BufReader};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::cluster::{Cluster, database, done, graph, soon};

#[test]
fn a_workflow_is_in_force_everywhere_within_a_second() {
    let Some(store) = database() else { return };
    let cluster = Cluster::of_graph(store, &graph());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hide.json");
    let script = "const tools = context.response.tools.filter((tool) => tool.name !== 'count');
        return { response: { ...context.response, tools } };";
    let workflow = json!({
        "id": "hide", "name": "hide", "enabled": false, "workflowType": "tools/list",
        "nodes": [
            { "id": "start", "type": "start", "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "after" },
            { "id": "after", "type": "hook", "hook": { "script": script }, "next": "end" },
            { "id": "end", "type": "end" }
        ]
    });
    std::fs::write(&file, workflow.to_string()).unwrap();
    done(&cluster.store, &["workflows", "import", file.to_str().unwrap()]);
    let clients: Vec<_> =
        cluster.replicas.iter().map(|replica| cluster.client().at(replica.address)).collect();
    let has_count = |client: &crate::cluster::Client| client.tools().contains(&"count".to_owned());
    assert!(clients.iter().all(has_count));

    // A client of each era listens at each replica.
    let (tell, told) = mpsc::sync_channel(4);
    for client in &clients {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
            "params": { "notifications": { "toolsListChanged": true }, "_meta": meta } });
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
        let legacy = client.clone().initialized();
        for stream in [client.begin("POST", headers, Some(&listen)), legacy.begin("GET", "", None)]
        {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
                if lines.any(|line| line.contains("notifications/tools/list_changed")) {
                    tell.send(()).unwrap();
                }
            });
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    done(&cluster.store, &["workflows", "enable", "hide"]);
    soon("it is hidden", || !clients.iter().any(has_count));
    for _ in 0..4 {
        told.recv_timeout(Duration::from_secs(2)).expect("every client hears of it");
    }
    done(&cluster.store, &["workflows", "disable", "hide"]);
    soon("it is shown", || clients.iter().all(has_count));
}
