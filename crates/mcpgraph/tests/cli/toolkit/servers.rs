//! Discovery with servers that do not do what they should.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcpgraph_testkit::environment::misbehaving_server;
use serde_json::{Value, json};

use super::{Agent, GRAPH, count_files, demo_server, files, toolkit};

/// Longer than one server may take, and less than two of them one after the other.
const BOUND: Duration = Duration::from_secs(16);

fn item<'v>(list: &'v Value, name: &str) -> &'v Value {
    let items = list["items"].as_array().unwrap();
    items.iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("{name}: {list}"))
}

#[test]
fn one_that_hangs_and_one_that_cannot_start_do_not_hold_up_the_others() {
    let hanging = json!({ "command": "sh", "args": ["-c", "exec sleep 600"] });
    let mut agent = Agent::with_servers(&json!({
        "hanging": hanging.clone(),
        "alsoHanging": hanging,
        "broken": { "command": "/nonexistent/server" },
        "off": { "command": "/nonexistent/server", "disabled": true },
    }));
    let began = Instant::now();
    let servers = agent.get("listMcpServers", &json!({}));
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    assert_eq!(item(&servers, "filesystem")["status"], "available");
    assert_eq!(item(&servers, "off"), &json!({ "name": "off", "status": "disabled" }));
    for name in ["hanging", "alsoHanging", "broken"] {
        let server = item(&servers, name);
        assert_eq!(server["status"], "unavailable", "{server}");
        assert!(server["error"].is_string(), "{server}");
    }
    let began = Instant::now();
    let everywhere = agent.get("listMcpServerTools", &json!({}));
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    let errors: Vec<&Value> =
        everywhere["errors"].as_array().unwrap().iter().map(|error| &error["serverName"]).collect();
    assert_eq!(errors, ["hanging", "alsoHanging", "broken"]);
    assert_eq!(item(&everywhere, "list_directory")["serverName"], "filesystem");

    // What is left unchecked is said, and saved.
    let mut tool = count_files();
    tool["nodes"][1]["server"] = "broken".into();
    let added = agent.get("addGraphTool", &json!({ "tool": tool }));
    assert_eq!(added["diagnostics"][0]["code"], "MG0163", "{added}");
    let asked = json!({ "serverName": "broken", "toolName": "x" });
    assert_eq!(agent.refuse("getMcpServerTool", &asked)["code"], "MG0448");
    assert_eq!(
        agent.refuse("getMcpServerTool", &json!({ "serverName": "off", "toolName": "x" }))["code"],
        "MG0448"
    );
}

#[test]
fn one_that_lies_is_told_of() {
    let Some(server) = misbehaving_server() else { return };
    let dies = server.clone().arg("--broken").arg("3").to_json();
    let hangs = server.arg("--on-initialize").arg("hang").to_json();
    let mut agent = Agent::with_servers(&json!({ "dies": dies, "hangs": hangs }));
    let began = Instant::now();
    let servers = agent.get("listMcpServers", &json!({}));
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    assert_eq!(item(&servers, "filesystem")["status"], "available");
    for name in ["dies", "hangs"] {
        assert_eq!(item(&servers, name)["status"], "unavailable", "{servers}");
    }
}

/// A file that the agent cannot mend stops the start, as it does that of a server.
#[test]
fn a_broken_mcp_json_is_told_of() {
    let folder = files(GRAPH, &json!({}));
    fs::write(folder.path().join("bad.json"), "{").unwrap();
    for (name, exit) in [("missing.json", 3), ("bad.json", 1)] {
        let mut program = toolkit();
        program.args(["-g", "graph.yaml", "-m", name, "--no-history"]).current_dir(folder.path());
        let ended = program.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(exit), "{said}");
        assert!(said.contains(name), "{said}");
    }
    // One that breaks later is named, and what does not need it works.
    let mut agent = Agent::at(folder, toolkit());
    fs::write(agent.folder.path().join("mcp.json"), "{ \"mcpServers\": 1 }").unwrap();
    let call = json!({ "toolName": "double", "arguments": { "n": 1 } });
    let tool = json!({ "tool": count_files() });
    let added = agent.refuse("addGraphTool", &tool);
    assert!(added["message"].as_str().unwrap().contains("`mcp.json` has errors"), "{added:#}");
    for (tool, arguments) in [("listMcpServers", json!({})), ("runGraphTool", call)] {
        let error = agent.refuse(tool, &arguments);
        assert_eq!(error["code"], "MG0442", "{error:#}");
        assert!(error["message"].as_str().unwrap().contains("mcp.json"), "{error:#}");
        let told = &error["diagnostics"][0];
        assert_eq!((&told["file"], &told["line"]), (&"mcp.json".into(), &1.into()), "{error:#}");
    }
    assert_eq!(agent.get("listGraphTools", &json!({}))["items"][0]["name"], "double");
}

#[test]
fn servers_of_both_files_are_seen() {
    let folder = files(GRAPH, &json!({}));
    let own = json!({ "own": demo_server(&folder.path().join("files")) });
    let graph = format!("{GRAPH}mcpServers: {own}\n");
    fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    let mut agent = Agent::at(folder, toolkit());
    let servers = agent.get("listMcpServers", &json!({}));
    for name in ["own", "filesystem"] {
        let server = item(&servers, name);
        assert_eq!(server["status"], "available", "{servers}");
        assert!(server["version"].is_string(), "{servers}");
    }
    let error = agent.refuse("listMcpServerTools", &json!({ "serverName": "filesytem" }));
    assert_eq!(error["nearest"], "filesystem");
    assert_eq!(error["known"], json!(["own", "filesystem"]));
    let unknown = json!({ "serverName": "own", "toolName": "ecko" });
    assert_eq!(agent.refuse("getMcpServerTool", &unknown)["nearest"], "echo");
}
