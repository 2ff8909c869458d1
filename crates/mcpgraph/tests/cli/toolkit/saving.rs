//! Two agents at once, and an agent that is killed while it saves.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Agent, GRAPH, computing, files, toolkit};

/// How many edits each of two agents makes.
const EDITS: usize = 500;

/// How many tools an agent has in the file at once.
const KEPT: usize = 4;

/// How often an agent is killed.
const KILLS: u64 = 200;

/// Adds, changes and deletes tools of its own; at the end the last few are there.
fn edit(folder: &Arc<TempDir>, name: &str) {
    let mut agent = Agent::at(Arc::clone(folder), toolkit());
    let tool = |index: usize| format!("{name}{index}");
    for edit in 0..EDITS {
        let (round, kind) = (edit / 3, edit % 3);
        let answer = match kind {
            0 => agent.get("addGraphTool", &json!({ "tool": computing(&tool(round), "0") })),
            1 => {
                let tool = computing(&tool(round), &format!("\"{name} {round}\""));
                agent.get("updateGraphTool", &json!({ "toolName": tool["name"], "tool": tool }))
            }
            _ if round >= KEPT => {
                let oldest = tool(round - KEPT);
                agent.get("deleteGraphTool", &json!({ "toolName": oldest }))
            }
            _ => json!({ "changed": true }),
        };
        assert_eq!(answer["changed"], true, "{answer}");
    }
}

#[test]
fn two_agents_that_save_at_once_lose_and_mix_nothing() {
    let folder = files(GRAPH, &json!({}));
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let folder = &folder;
            scope.spawn(move || edit(folder, name));
        }
    });
    let mut agent = Agent::at(folder, toolkit());
    assert!(agent.file().starts_with(GRAPH.trim_end()));
    let rounds = EDITS.div_ceil(3);
    for name in ["a", "b"] {
        let listed = agent.get("listGraphTools", &json!({}));
        let own: Vec<&str> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .filter(|tool| tool.starts_with(name))
            .collect();
        // The last delete of an agent may not have come any more.
        let last = (0..rounds).rev().take(own.len()).map(|index| format!("{name}{index}"));
        assert_eq!(own, last.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>());
        assert!((KEPT..=KEPT + 1).contains(&own.len()), "{own:?}");
        for tool in own {
            let round = &tool[1..];
            let result = agent.get("runGraphTool", &json!({ "toolName": tool }))["result"].clone();
            let is_last = round == (rounds - 1).to_string();
            assert!(is_last || result == format!("{name} {round}"), "{tool}: {result}");
        }
    }
    // Taken away again, nothing of them is left.
    let listed = agent.get("listGraphTools", &json!({}));
    for tool in listed["items"].as_array().unwrap().iter().skip(1) {
        agent.get("deleteGraphTool", &json!({ "toolName": tool["name"] }));
    }
    assert_eq!(agent.file(), GRAPH);
}

/// A definition of several pages, so that a part of it could be written without the rest.
fn version(letter: &str) -> Value {
    computing("double", &format!("\"{}\"", letter.repeat(20_000)))
}

fn update(tool: &Value) -> Value {
    json!({ "toolName": "double", "tool": tool })
}

#[test]
fn the_file_is_the_old_or_the_new_one_whenever_the_toolkit_is_killed() {
    let folder = files(GRAPH, &json!({}));
    let mut agent = Agent::at(Arc::clone(&folder), toolkit());
    let versions = [version("a"), version("b")];
    let texts = [1, 0].map(|index| {
        agent.get("updateGraphTool", &update(&versions[index]));
        agent.file()
    });
    drop(agent);
    // A generator of its own, so that a failure can be repeated.
    let mut random: u64 = 0x5eed;
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let life = Duration::from_micros((random >> 33) % 12_000);
        save_until_killed(folder.path(), &versions, life);
        let text = fs::read_to_string(folder.path().join("graph.yaml")).unwrap();
        assert!(texts.contains(&text), "the file is neither: {} bytes", text.len());
        in_the_middle += leftovers(folder.path());
    }
    assert!(in_the_middle > 0, "no kill came in the middle of saving");
    // The next one cleans up.
    let mut agent = Agent::at(Arc::clone(&folder), toolkit());
    agent.get("updateGraphTool", &update(&computing("double", "1")));
    assert_eq!(leftovers(folder.path()), 0);
}

/// Asks for one change after another without waiting for answers, and kills the process some time
/// after the first.
fn save_until_killed(folder: &Path, versions: &[Value; 2], life: Duration) {
    let mut program = toolkit();
    program.args(["-g", "graph.yaml", "--no-history"]).current_dir(folder);
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let call = |id: usize| {
        let params = json!({
            "name": "updateGraphTool", "arguments": update(&versions[id % 2]),
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "killed", "version": "1" },
            }
        });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let mut stdin = child.stdin.take().unwrap();
    let calls = [0, 1, 2, 3].map(|id| call(id).to_string()).join("\n") + "\n";
    let writing = thread::spawn(move || {
        // The process may be gone before it has read everything.
        stdin.write_all(calls.as_bytes()).ok();
        stdin
    });
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"changed\""), "{answer}");
    thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writing.join());
}

/// How many files of an unfinished save are left.
fn leftovers(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains(".new-")).count()
}
