//! `mcpgraph doctor`: what it finds, and what it says to do.

use std::fs;

use serde_json::Value;

use crate::product::{beside, command};

/// What the doctor says of a graph file: the exit code and the checks.
fn examined(arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = command().arg("doctor").args(arguments).arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["ok"], output.status.success(), "{report}");
    (output.status.code(), report["checks"].as_array().unwrap().clone())
}

fn check<'c>(checks: &'c [Value], name: &str) -> &'c Value {
    let found = checks.iter().find(|check| check["check"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {checks:?}"))
}

#[test]
fn what_works_is_said_to() {
    let data = tempfile::tempdir().unwrap();
    let (graph, folder) = (beside("graphs/calls.yaml"), data.path().to_str().unwrap());
    let (exit, checks) = examined(&["-g", graph.to_str().unwrap(), "--data", folder]);
    assert_eq!(exit, Some(0), "{checks:?}");
    assert!(checks.iter().all(|check| check["status"] == "ok"), "{checks:?}");
    for (name, said) in [
        ("versions", "2026-07-28"),
        ("store", "SQLite 3."),
        ("disk", "MiB free"),
        ("file", "calls.yaml: "),
        ("server demo", "speaks MCP 2026-07-28"),
    ] {
        let found = check(&checks, name)["found"].as_str().unwrap();
        assert!(found.contains(said), "{name}: {found}");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let file = folder.path().join("graph.yaml");
    let text = fs::read_to_string(beside("graphs/calls.yaml")).unwrap();
    fs::write(&file, text.replace("${MCPGRAPH_BIN}", "/nowhere/at/all")).unwrap();
    let graph = file.to_str().unwrap();
    let (exit, checks) = examined(&["-g", graph, "--data", data]);
    assert_eq!(exit, Some(1));
    let server = check(&checks, "server demo");
    assert_eq!(server["status"], "wrong", "{server}");
    assert!(server["todo"].as_str().unwrap().contains("mcpServers.demo"), "{server}");
    assert_eq!(check(&checks, "store")["status"], "ok");

    fs::write(&file, "tools: [").unwrap();
    // Nobody listens there.
    let store = "postgres://nobody@127.0.0.1:9/none";
    let (exit, checks) = examined(&["-g", graph, "--store", store]);
    assert_eq!(exit, Some(1));
    for name in ["file", "store"] {
        let check = check(&checks, name);
        assert_eq!(check["status"], "wrong", "{check}");
        assert!(check["todo"].is_string(), "{check}");
    }
    assert!(check(&checks, "file")["found"].as_str().unwrap().contains("MG0101"), "{checks:?}");

    let output = command().args(["doctor", "-g", graph, "--data", data]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("wrong     file"), "{said}");
    assert!(said.contains("→ mend what is said"), "{said}");
}

/// Names that only the server knows, and files that only the disk does.
#[test]
fn names_that_servers_do_not_have_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    let text = r#"
server: { name: slips, version: "1" }
mcpServers:
  demo:
    command: "${MCPGRAPH_BIN}"
    args: [demo-server]
    expose: { tools: { list_directry: { hide: true } } }
backends:
  shop: { sqlite: { path: "${GRAPH_DIR}/shop.db" } }
tools:
  - name: list
    description: Lists
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: look }
      - { id: look, type: mcp, server: demo, tool: list_directory, args: { pth: "." }, next: other }
      - { id: other, type: mcp, server: demo, tool: lst_directory, args: {}, next: exit }
      - { id: exit, type: exit }
"#;
    fs::write(&file, text).unwrap();
    let data = folder.path().join("data");
    let (exit, checks) =
        examined(&["-g", file.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{checks:?}");
    let server = check(&checks, "server demo");
    assert_eq!(server["status"], "wrong", "{server}");
    let found = server["found"].as_str().unwrap();
    for said in [
        "`expose.tools` of server `demo` names `list_directry`",
        "did you mean `list_directory`?",
        "has no tool `lst_directory`",
        "has no argument `pth`",
        "needs the argument `path`",
        "graph.yaml:17",
    ] {
        assert!(found.contains(said), "{said}: {found}");
    }
    let backend = check(&checks, "backend shop");
    assert_eq!(backend["status"], "wrong", "{backend}");
    assert!(backend["todo"].as_str().unwrap().contains("GRAPH_DIR"), "{backend}");
}
