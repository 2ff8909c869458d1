use std::fs;
use std::process::Stdio;
use std::time::Instant;

use serde_json::json;

use super::{Store, empty};
use crate::product::command;

const GRAPH: &str = r#"
server: { name: waiting, version: "1.0" }
executionLimits: { maxWaitMs: 600000 }
tools:
  - name: nap
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: pause }
      - { id: pause, type: wait, duration: { expr: "$.entry.pause" }, next: after }
      - { id: after, type: transform, transform: { expr: "$.pause.until" }, next: exit }
      - { id: exit, type: exit }
  - name: past
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: pause }
      - { id: pause, type: wait, until: "2001-01-01T00:00:00Z", next: exit }
      - { id: exit, type: exit }
"#;

/// A run that waited is shown with the time, happens again without waiting, and can be gone on from.
#[test]
fn a_run_that_waited_is_shown_replayed_and_gone_on_from() {
    let store = Store::new();
    let file = store.graph("waiting.yaml", GRAPH);
    let id = store.record(&file, "nap", &json!({ "pause": "1s" }));
    let shown = store.json(&["show", &id]);
    let until = shown["steps"][1]["until"].as_str().unwrap().to_owned();
    assert_eq!(shown["result"], until.as_str());
    assert_eq!(shown["steps"][1]["output"], json!({ "until": until }));
    let text = store.runs(&["show", &id]);
    assert!(text.contains(&format!("→ after (waited until {until})\n")), "{text}");
    assert!(!text.contains("waits"), "{text}");
    // What waited before does not wait again.
    let began = Instant::now();
    assert!(store.runs(&["replay", &id]).starts_with("same"));
    let file = file.to_str().unwrap();
    let again = ["runs", "rerun", &id, "--from", "2", "-g", file, "--yes"];
    let said = store.typed(&again);
    assert_eq!((said.code, said.out.trim()), (0, until.as_str()), "{}", said.err);
    assert!(began.elapsed().as_secs() < 60);
    // A time that has passed is one: nothing is waited for.
    let id = store.record(std::path::Path::new(file), "past", &empty());
    let shown = store.json(&["show", &id]);
    assert_eq!(shown["run"]["status"], "succeeded");
    assert!(shown["run"]["durationMs"].as_f64().unwrap() < 60_000.0, "{shown}");
}

#[test]
fn a_run_that_waits_says_until_when() {
    let store = Store::new();
    let file = store.graph("waiting.yaml", GRAPH);
    let mut running = command()
        .args(["run", "nap", "-g", file.to_str().unwrap(), "--args", r#"{"pause":"9m"}"#, "--data"])
        .arg(store.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let shown = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let id = store.typed(&["runs", "ls", "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&id.out).ok()?;
        let id = listed["runs"][0]["id"].as_str()?;
        Some(store.runs(&["show", id])).filter(|shown| shown.contains("waits until"))
    });
    running.kill().unwrap();
    running.wait().unwrap();
    let shown = shown.expect("the run waits");
    let line = shown.lines().find(|line| line.starts_with("waits ")).expect(&shown);
    assert!(line.contains(" until 20") && line.ends_with("Z (node `pause`)"), "{shown}");
    assert!(shown.contains("not finished (waits until 20"), "{shown}");
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let store = Store::new();
    let file = store.graph("waiting.yaml", GRAPH);
    for (input, message) in [
        (json!({ "pause": "11m" }), "which is longer than maxWaitMs (600000 ms)"),
        (
            json!({ "pause": "2 weeks" }),
            "`duration` of the node is \"2 weeks\"; it has to be `90s`",
        ),
        (json!({ "pause": null }), "`duration` of the node is null"),
        (json!({ "pause": -5 }), "`duration` of the node is -5"),
        (json!({}), "the expression that says how long the node waits gave nothing"),
    ] {
        let id = store.record(&file, "nap", &input);
        let shown = store.runs(&["show", &id]);
        assert!(shown.contains(message), "{input}: {shown}");
    }
}

/// Tests do not wait, and nothing can be put in the place of waiting.
#[test]
fn tests_of_a_graph_do_not_wait() {
    let store = Store::new();
    store.graph("waiting.yaml", GRAPH);
    let tests = store.path().with_file_name("waiting.test.yaml");
    let text = "graph: waiting.yaml\ntests:\n  - { name: nap, tool: nap, input: { pause: 9m }, \
                expect: { path: [entry, pause, after, exit] } }\n";
    fs::write(&tests, text).unwrap();
    let output = command().arg("test").arg(&tests).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("1 passed, 0 failed\n"), "{said}");
    let mocked = text.replace("expect:", "mocks: { pause: { output: 1 } }, expect:");
    fs::write(&tests, mocked).unwrap();
    let output = command().arg("test").arg(&tests).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("`pause`"), "{said}");
}
