//! Many servers behind one endpoint: what clients see of them, and what reaches them.

mod bad_servers;
mod limits;

use std::ffi::OsStr;
use std::fs;

use serde_json::{Value, json};

use crate::product::{BINARY, Era, Served, command, eventually};

fn demo(expose: &Value) -> Value {
    json!({ "command": BINARY, "args": ["demo-server"], "expose": expose })
}

fn graph(servers: &Value, more: &Value) -> String {
    let mut graph = json!({
        "server": { "name": "router", "version": "1" }, "mcpServers": servers, "tools": [],
    });
    for (key, value) in more.as_object().unwrap() {
        graph[key] = value.clone();
    }
    graph.to_string()
}

fn listed(served: &mut Served, name: &str) -> Value {
    let answer = served.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn an_mcp_json_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let servers = json!({ "mcpServers": {
        "one": { "command": BINARY, "args": ["demo-server"] },
        "two": demo(&json!({ "prefix": "none" })),
        "off": demo(&json!(false)),
    } });
    fs::write(&file, servers.to_string()).unwrap();
    let mut command = command();
    command.args(["serve", "-m"]).arg(&file).current_dir(folder.path());
    let mut client = mcpgraph_testkit::StdioClient::start(command);
    assert_eq!(client.initialize()["serverInfo"]["name"], "mcpgraph");
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"one__echo") && names.contains(&"echo"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("off")), "{names:?}");
    let answer = client.call_tool("one__echo", &json!({ "value": 7 }));
    assert_eq!(answer["content"][0]["text"], "7", "{answer}");
    client.close();
}

#[test]
fn tools_are_offered_as_the_file_wants_them() {
    let expose = json!({ "tools": {
        "echo": { "rename": "say", "description": "Says it", "arguments": {
            "value": { "default": "nothing" }
        } },
        "fail": { "hide": true },
        "set_order_status": { "arguments": { "status": { "default": "paid", "hide": true } } },
    } });
    for era in Era::BOTH {
        let mut served = Served::text(&graph(&json!({ "demo": demo(&expose) }), &json!({})), era);
        let names = served.tool_names();
        for (name, is_there) in
            [("say", true), ("demo__slow", true), ("demo__echo", false), ("demo__fail", false)]
        {
            assert_eq!(names.iter().any(|known| known == name), is_there, "{name}: {names:?}");
        }
        let say = listed(&mut served, "say");
        assert_eq!(say["description"], "Says it");
        assert_eq!(say["inputSchema"]["properties"]["value"]["default"], "nothing");
        assert_eq!(say["inputSchema"]["required"], json!([]));
        let status = listed(&mut served, "demo__set_order_status");
        assert_eq!(status["inputSchema"]["required"], json!(["id"]));
        let properties = status["inputSchema"]["properties"].as_object().unwrap();
        assert!(!properties.contains_key("status"), "{properties:?}");

        let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();
        assert_eq!(text(&served.call("say", json!({}))), "nothing");
        assert_eq!(text(&served.call("say", json!({ "value": "something" }))), "something");
        // A hidden argument is not the client's to set.
        let call = json!({ "id": "A-100", "status": "cancelled" });
        let order = served.call("demo__set_order_status", call);
        assert!(text(&order).as_str().unwrap().contains("paid"), "{order}");
        for gone in ["demo__echo", "demo__fail", "fail"] {
            let answer = served.call(gone, json!({}));
            assert_eq!(answer["error"]["code"], -32602, "{gone}: {answer}");
        }
    }
}

#[test]
fn names_that_collide_are_told_of() {
    let same = demo(&json!({ "prefix": "none" }));
    let mut served =
        Served::text(&graph(&json!({ "one": same, "two": same }), &json!({})), Era::Legacy);
    let names = served.tool_names();
    assert_eq!(names.iter().filter(|name| *name == "echo").count(), 1, "{names:?}");
    eventually("the collision is told", || {
        let said = served.stderr();
        said.contains("MG0600") && said.contains("echo") && said.contains("two")
    });
    let told = served.stderr().matches("name=\"echo\"").count();
    served.tool_names();
    assert_eq!(served.stderr().matches("name=\"echo\"").count(), told, "told once");

    // What the file itself says is an error before anything starts.
    let folder = tempfile::tempdir().unwrap();
    let renamed = |tool: &str| demo(&json!({ "tools": { tool: { "rename": "same" } } }));
    let text = graph(&json!({ "one": renamed("echo"), "two": renamed("slow") }), &json!({}));
    fs::write(folder.path().join("graph.yaml"), text).unwrap();
    let output = command().args(["check", "graph.yaml"]).current_dir(folder.path()).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && said.contains("MG0600"), "{said}");
}

#[test]
fn tools_are_found_and_called() {
    let more = json!({
        "discovery": "on",
        "tools": [{
            "name": "own", "inputSchema": { "type": "object" },
            "nodes": [{ "id": "in", "type": "entry", "next": "out" }, { "id": "out", "type": "exit" }]
        }]
    });
    for era in Era::BOTH {
        let servers = json!({ "demo": demo(&json!(true)), "broken": { "command": "/nonexistent", "expose": true } });
        let mut served = Served::text(&graph(&servers, &more), era);
        assert_eq!(served.tool_names(), ["own", "find_tools", "call_tool"]);
        let found = served.call("find_tools", json!({ "query": "list the files of a folder" }));
        let answer = &found["result"]["structuredContent"];
        assert_eq!(answer["tools"][0]["name"], "demo__list_directory", "{found}");
        assert!(answer["tools"][0]["inputSchema"].is_object());
        assert_eq!(answer["total"], 8);
        let found = served.call("find_tools", json!({ "query": "order status", "limit": 1 }));
        let best = &found["result"]["structuredContent"]["tools"];
        assert_eq!(
            (best.as_array().unwrap().len(), &best[0]["name"]),
            (1, &"demo__set_order_status".into())
        );

        let call = json!({ "name": "demo__echo", "arguments": { "value": "found" } });
        let answer = served.call("call_tool", call);
        assert_eq!(answer["result"]["content"][0]["text"], "found", "{answer}");
        let own = served.call("call_tool", json!({ "name": "own", "arguments": { "a": 1 } }));
        assert_eq!(own["result"]["structuredContent"], json!({ "a": 1 }), "{own}");
        for (tool, arguments) in [
            ("find_tools", json!({})),
            ("find_tools", json!({ "query": "x", "limit": 0 })),
            ("call_tool", json!({})),
            ("call_tool", json!({ "name": "call_tool" })),
            ("call_tool", json!({ "name": "nothing" })),
        ] {
            let answer = served.call(tool, arguments);
            assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
        }
    }
}

#[test]
fn a_secret_in_a_file_reaches_the_server_and_nobody_else() {
    let secret = "s3cret-of-a-file-8f2a";
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("secrets")).unwrap();
    fs::write(folder.path().join("secrets/token"), format!("{secret}\n")).unwrap();
    let script = format!("test \"$TOKEN\" = {secret} && exec '{BINARY}' demo-server");
    let server = json!({
        "command": "sh", "args": ["-c", script], "env": { "TOKEN": "${file:secrets/token}" }
    });
    let node = json!({ "id": "call", "type": "mcp", "server": "demo", "tool": "echo", "args": { "value": "$.in.v" }, "next": "out" });
    let tool = json!({
        "name": "say", "inputSchema": { "type": "object" },
        "nodes": [{ "id": "in", "type": "entry", "next": "call" }, node, { "id": "out", "type": "exit" }]
    });
    let file = folder.path().join("graph.yaml");
    fs::write(&file, graph(&json!({ "demo": server }), &json!({ "tools": [tool] }))).unwrap();
    let data = folder.path().join("data");
    let arguments = [OsStr::new("--data"), data.as_os_str()];
    let mut served = Served::file_of(&file, &arguments, Era::Legacy);
    let answer = served.call("say", json!({ "v": secret }));
    assert_eq!(answer["result"]["content"][0]["text"], secret, "{answer}");
    assert!(!served.stderr().contains(secret), "{}", served.stderr());
    served.client.close();
    for kept in fs::read_dir(&data).unwrap() {
        let bytes = fs::read(kept.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }

    fs::remove_file(folder.path().join("secrets/token")).unwrap();
    let output = command().arg("check").arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("MG0601") && said.contains("secrets/token"), "{said}");
}
