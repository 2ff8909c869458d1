//! The walk-through of the specification: from nothing to a tool that a running server offers.

use std::ffi::OsStr;

use mcpgraph_testkit::Environment;
use serde_json::{Value, json};

use super::{Agent, GRAPH, count_files};
use crate::product::{Era, Served};

/// A server of the same files, whose client wants to hear of changes.
fn serve(agent: &Agent, era: Era) -> Served {
    let servers = agent.folder.path().join("mcp.json");
    let arguments = [OsStr::new("-m"), servers.as_os_str()];
    let mut served = Served::file_of(&agent.path(), &arguments, era);
    if era == Era::Modern {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let params = served.params(wanted);
        served.client.begin("subscriptions/listen", &params);
        served.until(|message| message["method"] == "notifications/subscriptions/acknowledged");
    }
    assert_eq!(served.tool_names(), ["double"]);
    served
}

fn is_told(served: &mut Served) {
    served.until(|message| message["method"] == "notifications/tools/list_changed");
}

/// Plays the steps; `directory` holds three files that the server `filesystem` may list.
fn walk_through(agent: &mut Agent, directory: &Value, era: Era) {
    let mut served = serve(agent, era);

    // 1 to 3: what is there.
    let servers = agent.get("listMcpServers", &json!({}));
    let own = &servers["items"][0];
    assert_eq!((&own["name"], &own["status"]), (&"filesystem".into(), &"available".into()));
    let tools = agent.get("listMcpServerTools", &json!({ "serverName": "filesystem" }));
    let listed = tools["items"].as_array().unwrap();
    assert!(listed.iter().any(|tool| tool["name"] == "list_directory"), "{tools}");
    assert!(listed.iter().all(|tool| tool["description"].is_string()), "{tools}");
    let asked = json!({ "serverName": "filesystem", "toolName": "list_directory" });
    let tool = agent.get("getMcpServerTool", &asked);
    assert_eq!(tool["inputSchema"]["required"], json!(["path"]));

    // 4: an expression, and the call it works on.
    let tried = agent.get(
        "testJSONata",
        &json!({
            "expression": "{ \"count\": $count($split($.list_directory_node.content, \"\\n\")) }",
            "context": { "list_directory_node": { "content": "file1.txt\nfile2.txt\nfile3.txt" } }
        }),
    );
    assert_eq!(tried, json!({ "undefined": false, "result": { "count": 3 } }));
    let tried = agent.get(
        "testMcpTool",
        &json!({
            "serverName": "filesystem", "toolName": "list_directory",
            "args": { "path": "$.entry.directory" },
            "context": { "entry": { "directory": directory } }
        }),
    );
    assert_eq!(tried["args"], json!({ "path": directory }));
    assert!(tried["output"]["content"].as_str().unwrap().contains("[FILE] a.txt"), "{tried}");

    // 5: the tool, before it is saved.
    let arguments = json!({ "directory": directory });
    let inline =
        json!({ "toolDefinition": count_files(), "arguments": arguments, "logging": true });
    let ran = agent.get("runGraphTool", &inline);
    assert_eq!(ran["result"], json!({ "count": 3 }));
    let nodes: Vec<&Value> = ran["steps"].as_array().unwrap().iter().map(|s| &s["node"]).collect();
    assert_eq!(nodes, ["entry", "list_directory_node", "count_files_node", "exit"]);
    assert_eq!(ran["steps"][1]["input"], json!({ "path": directory }));
    assert!(ran["steps"][2]["expression"].as_str().unwrap().contains("$count"));
    assert!(ran["steps"][2]["durationMs"].is_number());
    assert_eq!(agent.file(), GRAPH);

    // 6: saved, and offered by the server that was running all the time.
    assert_eq!(agent.get("addGraphTool", &json!({ "tool": count_files() }))["changed"], true);
    assert!(agent.file().starts_with(GRAPH.trim_end()), "{}", agent.file());
    is_told(&mut served);
    assert_eq!(served.tool_names(), ["double", "count_files"]);
    let answer = served.call("count_files", arguments.clone());
    assert_eq!(answer["result"]["structuredContent"], json!({ "count": 3 }), "{answer}");
    assert_eq!(agent.get("listGraphTools", &json!({}))["items"][1]["name"], "count_files");
    let saved = agent.get("getGraphTool", &json!({ "toolName": "count_files" }));
    assert_eq!(saved["tool"], count_files());
    let again = json!({ "toolName": "count_files", "arguments": arguments });
    assert_eq!(agent.get("runGraphTool", &again)["result"], json!({ "count": 3 }));

    // And changed, renamed and removed.
    let mut other = count_files();
    other["name"] = "count_entries".into();
    other["description"] = "Counts".into();
    let update = json!({ "toolName": "count_files", "tool": other });
    let before = agent.file();
    let diff = agent.get("diffGraphTool", &update);
    assert!(diff["diff"].as_str().unwrap().contains("+    description: Counts"), "{diff}");
    assert_eq!(agent.file(), before);
    assert_eq!(agent.get("updateGraphTool", &update)["diff"], diff["diff"]);
    is_told(&mut served);
    assert_eq!(served.tool_names(), ["double", "count_entries"]);
    agent.get("deleteGraphTool", &json!({ "toolName": "count_entries" }));
    assert_eq!(agent.file(), GRAPH);
    is_told(&mut served);
    assert_eq!(served.tool_names(), ["double"]);
}

#[test]
fn with_the_demo_server() {
    for era in Era::BOTH {
        walk_through(&mut Agent::new(), &json!("."), era);
    }
}

#[test]
fn with_the_real_file_server() {
    let Some(environment) = Environment::find() else { return };
    let files = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(files.path().join(name), name).unwrap();
    }
    // The server compares paths without symbolic links.
    let directory = files.path().canonicalize().unwrap();
    let server = environment.package("@modelcontextprotocol/server-filesystem/dist/index.js");
    let server = server.arg(&directory).to_json();
    let mut agent = Agent::with_servers(&json!({ "filesystem": server }));
    walk_through(&mut agent, &json!(directory), Era::Legacy);
}

#[test]
fn calls_under_way_end_on_the_graph_they_began_with() {
    let mut agent = Agent::new();
    let slow = |word: &str| {
        json!({
            "name": "say",
            "inputSchema": { "type": "object" },
            "nodes": [
                { "id": "entry", "type": "entry", "next": "wait" },
                { "id": "wait", "type": "mcp", "server": "filesystem", "tool": "slow", "args": { "ms": 1500 }, "next": "word" },
                { "id": "word", "type": "transform", "transform": { "expr": format!("\"{word}\"") }, "next": "exit" },
                { "id": "exit", "type": "exit" }
            ]
        })
    };
    agent.get("addGraphTool", &json!({ "tool": slow("old") }));
    let servers = agent.folder.path().join("mcp.json");
    let arguments = [OsStr::new("-m"), servers.as_os_str()];
    let mut served = Served::file_of(&agent.path(), &arguments, Era::Legacy);
    assert_eq!(served.tool_names(), ["double", "say"]);
    let waiting = served.begin("say", json!({}));
    agent.get("updateGraphTool", &json!({ "toolName": "say", "tool": slow("new") }));
    let said = |answer: &Value| answer["result"]["content"][0]["text"].clone();
    assert_eq!(said(&served.answer(waiting)), "old");
    assert_eq!(said(&served.call("say", json!({}))), "new");
}
