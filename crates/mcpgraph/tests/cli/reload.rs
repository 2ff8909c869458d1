//! An edit of the file, while it is served.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::product::{BINARY, Era, Served, eventually};

/// A graph whose tool says a word, after a while if that is wanted.
fn graph(word: &str) -> String {
    format!(
        r#"
version: "1.0"
server: {{ name: edited, version: "1.0.0" }}
mcpServers:
  demo: {{ command: "${{MCPGRAPH_BIN}}", args: [demo-server] }}
tools:
  - name: say
    description: Says a word
    inputSchema: {{ type: object, properties: {{ ms: {{ type: integer, default: 0 }} }} }}
    nodes:
      - {{ id: entry, type: entry, next: wait }}
      - {{ id: wait, type: mcp, server: demo, tool: slow, args: {{ ms: $.entry.ms }}, next: word }}
      - {{ id: word, type: transform, transform: {{ expr: '"{word}"' }}, next: exit }}
      - {{ id: exit, type: exit }}
"#
    )
}

const MORE: &str = r"
  - name: another
    description: Came later
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: exit }
      - { id: exit, type: exit }
";

fn is_change(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn an_edit_is_served_without_a_restart() {
    let mut served = Served::text(&graph("old"), Era::Legacy);
    assert_eq!(served.tool_names(), ["say"]);
    // This call is under way while the file changes, and ends as it began.
    let waiting = served.begin("say", json!({"ms": 1500}));
    served.edit(&(graph("new") + MORE));

    let mut answer = None;
    loop {
        let message = served.client.receive();
        if is_change(&message) {
            break;
        }
        assert_eq!(message["id"], waiting, "{message}");
        answer = Some(message);
    }
    let answer = answer.unwrap_or_else(|| served.answer(waiting));
    assert_eq!(said(&answer), "old");
    assert_eq!(served.tool_names(), ["say", "another"]);
    assert_eq!(said(&served.call("say", json!({}))), "new");
    assert_eq!(served.stderr(), "");
}

#[test]
fn the_server_introduces_itself_by_its_new_name() {
    let mut served = Served::text(&graph("old"), Era::Modern);
    let name = |served: &mut Served| {
        let answer = served.request("tools/list", json!({}));
        answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].clone()
    };
    assert_eq!(name(&mut served), "edited");
    served.edit(&graph("old").replace("name: edited", "name: renamed"));
    eventually("the new name is told", || name(&mut served) == "renamed");
    assert_eq!(served.client.initialize()["serverInfo"]["name"], "renamed");
}

/// A run ends with the servers of the graph it began with, also those the edit took away.
#[test]
fn a_run_keeps_servers_that_the_edit_removes() {
    let slow = graph("unused").replace("next: word", "next: again").replace(
        "      - { id: word",
        "      - { id: again, type: mcp, server: demo, tool: echo, args: { value: kept }, next: exit }\n      - { id: word",
    );
    let mut served = Served::text(&slow, Era::Legacy);
    let waiting = served.begin("say", json!({"ms": 3000}));
    let without_server = slow.split("mcpServers:").next().unwrap().to_owned() + "tools:" + MORE;
    served.edit(&without_server);
    served.until(is_change);
    assert_eq!(served.tool_names(), ["another"]);
    assert_eq!(said(&served.answer(waiting)), "kept");
}

#[test]
fn an_edit_with_errors_is_reported_and_not_served() {
    let mut served = Served::text(&graph("old"), Era::Legacy);
    assert_eq!(said(&served.call("say", json!({}))), "old");
    served.edit(&graph("new").replace("next: word", "next: wrd"));
    eventually("the problem is reported", || served.stderr().contains("still served"));
    let report = served.stderr();
    for part in ["MG0207", "graph.yaml:12:", "did you mean `word`?"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert_eq!(said(&served.call("say", json!({}))), "old");

    // The file may even be gone for a while.
    fs::remove_file(served.file()).unwrap();
    eventually("that is reported too", || served.stderr().contains("MG0100"));
    assert_eq!(said(&served.call("say", json!({}))), "old");

    served.edit(&graph("newer"));
    served.until(is_change);
    assert_eq!(said(&served.call("say", json!({}))), "newer");
}

/// Servers whose definition did not change are kept, with what they remember.
#[test]
fn only_servers_that_changed_are_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let starts = |name: &str| {
        let log = folder.path().join(name);
        fs::read_to_string(log).unwrap_or_default().lines().count()
    };
    let graph = |variable: &str| {
        let server = |name: &str, variable: &str| {
            let log = folder.path().join(name);
            let script = format!("echo >> '{}'; exec '{BINARY}' demo-server", log.display());
            json!({"command": "sh", "args": ["-c", script], "env": {"VARIABLE": variable}})
        };
        let tool = |name: &str| {
            json!({
                "name": name,
                "description": "Asks a server",
                "inputSchema": {"type": "object"},
                "nodes": [
                    {"id": "entry", "type": "entry", "next": "ask"},
                    {"id": "ask", "type": "mcp", "server": name, "tool": "echo",
                     "args": {"value": variable}, "next": "exit"},
                    {"id": "exit", "type": "exit"},
                ],
            })
        };
        let graph = json!({
            "version": "1.0",
            "server": {"name": "servers", "version": "1"},
            "mcpServers": {"kept": server("kept", "same"), "changed": server("changed", variable)},
            "tools": [tool("kept"), tool("changed")],
        });
        graph.to_string()
    };
    let mut served = Served::text(&graph("first"), Era::Legacy);
    for word in ["first", "second"] {
        if word == "second" {
            served.edit(&graph(word));
            served.until(is_change);
        }
        assert_eq!(said(&served.call("kept", json!({}))), word);
        assert_eq!(said(&served.call("changed", json!({}))), word);
    }
    assert_eq!((starts("kept"), starts("changed")), (1, 2));
}

#[test]
fn nothing_happens_where_nothing_changes() {
    let mut served = Served::text(&graph("same"), Era::Legacy);
    assert_eq!(said(&served.call("say", json!({}))), "same");
    // The same text again, and another file in the same folder.
    served.edit(&graph("same"));
    fs::write(served.file().with_file_name("notes.txt"), "nothing of interest").unwrap();
    assert_eq!(served.client.receive_within(std::time::Duration::from_millis(600)), None);
}

/// The file is a link, as where configuration is deployed: the link stays, or is turned around.
#[test]
fn an_edit_behind_a_link_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["served", "one", "two"] {
        fs::create_dir(place(name)).unwrap();
    }
    fs::write(place("one/graph.yaml"), graph("first")).unwrap();
    symlink("one", place("current")).unwrap();
    symlink("../current/graph.yaml", place("served/graph.yaml")).unwrap();
    let mut served = Served::file_of(&place("served/graph.yaml"), &[], Era::Legacy);
    let mut says = |word: &str| {
        eventually(word, || said(&served.call("say", json!({}))) == word);
    };
    says("first");
    fs::write(place("one/graph.yaml"), graph("edited")).unwrap();
    says("edited");
    fs::write(place("two/graph.yaml"), graph("turned")).unwrap();
    symlink("two", place(".next")).unwrap();
    fs::rename(place(".next"), place("current")).unwrap();
    says("turned");
    fs::write(place("two/graph.yaml"), graph("edited again")).unwrap();
    says("edited again");
}
