use std::process::Stdio;

use serde_json::{Value, json};

use super::Store;
use crate::product::{beside, command, eventually};

#[test]
fn a_run_that_was_killed_is_shown_with_its_step() {
    let store = Store::new();
    let graph = beside("graphs/calls.yaml");
    let graph = graph.to_str().unwrap();
    let mut process = command()
        .args(["run", "wait", "ms=600000", "-g", graph, "--data"])
        .arg(store.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let latest = || {
        let said = store.typed(&["runs", "ls", "--json"]);
        let listing: Value = serde_json::from_str(&said.out).unwrap_or_default();
        listing["runs"][0].clone()
    };
    eventually("the call is under way", || latest()["reached"]["node"] == "slow");
    let run = latest();
    assert_eq!(run["status"], "running");
    let id = run["id"].as_str().unwrap();
    // What is being executed is not forgotten.
    let (code, said) = store.failing(&["rm", id]);
    assert!(code == 1 && said.contains("still being executed"), "{said}");
    assert_eq!(store.json(&["rm", "--older-than", "0s"]), json!({"removed": 0}));

    process.kill().unwrap();
    process.wait().unwrap();
    eventually("nobody holds the run any more", || latest()["status"] == "interrupted");
    let run = latest();
    assert_eq!(run["reached"], json!({"step": 1, "node": "slow"}));
    assert_eq!(store.listed(&["--status", "interrupted"]), [id]);
    assert!(store.runs(&["ls"]).trim_end().ends_with("at step 1 `slow`"));
    let shown = store.runs(&["show", id]);
    assert!(shown.contains("status   interrupted at step 1 `slow`"), "{shown}");
    assert!(shown.trim_end().ends_with("not finished"), "{shown}");

    let said = store.runs(&["replay", id]);
    assert!(said.starts_with("same: "), "{said}");
    assert!(said.ends_with("as far as step 1 `slow`: the run was interrupted\n"), "{said}");
    assert_eq!(store.json(&["replay", id])["complete"], false);

    let entry = r#"entry={"ms": 1, "steps": 1, "who": "me"}"#;
    let said = store.typed(&[
        "runs", "rerun", id, "--from", "1", "--set", entry, "-g", graph, "--yes", "--json",
    ]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["result"], json!({"who": "me"}), "{}", said.err);
    assert_eq!(latest()["origin"]["parent"], json!({"run": id, "from": 1}));
}
