//! Programs: what they print, what they complain about, and how they end.

use std::fs;

use mcpgraph_testkit::observe::is_running;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{called, failed, serve};
use crate::product::eventually;

/// Tools that print their argument, and read what they printed in every way.
const PRINTING: &str = r#"
backend: { process: {} }
tools:
  - name: auto
    command: { argv: [cat], stdin: "{text}" }
    inputSchema: { type: object, properties: { text: { type: string } } }
  - name: json
    command: { argv: [cat], stdin: "{text}", output: json }
    inputSchema: { type: object, properties: { text: { type: string } } }
  - name: text
    command: { argv: [cat], stdin: "{text}", output: text }
    inputSchema: { type: object, properties: { text: { type: string } } }
  - name: parsed
    command: { argv: [cat], stdin: "{text}", response_parser: { extract_path: "$[*].a" } }
    inputSchema: { type: object, properties: { text: { type: string } } }
"#;

#[test]
fn what_a_program_prints_is_json_only_where_nothing_gets_lost() {
    let mut served = serve(PRINTING);
    let out_of_range = "array index [0] out of range";
    for (tool, printed, expected) in [
        ("auto", "{\"a\": 1}\n", json!({"a": 1})),
        ("auto", "[INFO] starting\n{\"a\": 1}\n", json!({"a": 1})),
        ("auto", "{\"a\": 1}\n{\"a\": 2}\n", json!([{"a": 1}, {"a": 2}])),
        ("auto", out_of_range, json!(out_of_range)),
        ("auto", "Set this:\n{\"k\": 1}\n", json!("Set this:\n{\"k\": 1}")),
        ("auto", " M a.rs\n?? b\n", json!(" M a.rs\n?? b")),
        ("json", "Set this:\n{\"k\": 1}\n", json!({"k": 1})),
        ("json", "{\"a\": 1}\n{\"a\": 2}\n", json!([{"a": 1}, {"a": 2}])),
        ("parsed", "{\"a\": 1}\n{\"a\": 2}\n", json!([1, 2])),
    ] {
        let found = called(&mut served, tool, json!({"text": printed}));
        assert_eq!(found, expected, "{tool}: {printed}");
    }
    let (said, code) = failed(&mut served, "parsed", json!({"text": out_of_range}));
    assert!(said.contains("`output: json` takes JSON from the middle of a text"), "{said}");
    assert_eq!(code, "MG0422");
    let as_text = served.call("text", json!({"text": "{\"a\": 1}\n"}));
    assert_eq!(super::text(&as_text), "{\"a\": 1}");
}

#[test]
fn a_program_may_complain_at_length() {
    let mut served = serve(
        r#"
backend: { process: {} }
tools:
  - name: much
    command: { argv: [sh, -c, "seq 1 100000 >&2 && echo ok"] }
  - name: why
    command: { argv: [sh, -c, "seq 1 100000 >&2; echo the reason >&2; exit 3"] }
  - name: both
    command: { argv: [sh, -c, "trap '' PIPE; yes >&2 & yes"], max_output_bytes: 1000 }
"#,
    );
    assert_eq!(called(&mut served, "much", json!({})), "ok");
    let (said, code) = failed(&mut served, "why", json!({}));
    assert!(said.contains("ended with code 3: …"), "{said}");
    assert!(said.contains("99999\n100000\nthe reason\n"), "{said}");
    assert!(said.len() < 9000, "{}", said.len());
    assert_eq!(code, "MG0421");
    let (said, _) = failed(&mut served, "both", json!({}));
    assert!(said.contains("max_output_bytes (1000)"), "{said}");
}

#[test]
fn the_reason_is_told_why_a_program_did_not_start() {
    let mut served = serve(
        r"
backends:
  here: { process: {} }
  nowhere: { process: { cwd: /no/such/folder } }
tools:
  - name: folder
    command: { backend: nowhere, argv: [ls] }
  - name: place
    command: { backend: here, argv: [/no/such/program] }
  - name: path
    command: { backend: here, argv: [there-is-no-such-program] }
",
    );
    for (tool, reason) in [
        (
            "folder",
            "`ls` cannot be started: its working directory `/no/such/folder` does not exist",
        ),
        ("place", "`/no/such/program` cannot be started: there is no such file"),
        ("path", "`there-is-no-such-program` cannot be started: there is no such program in PATH"),
    ] {
        let (said, code) = failed(&mut served, tool, json!({}));
        assert!(said.contains(reason), "{said}");
        assert_eq!(code, "MG0404");
    }
}

#[test]
fn secrets_that_a_program_repeats_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "swordfish-4711\n").unwrap();
    let mut served = serve(&format!(
        "backend: {{ process: {{ env: {{ KEY: \"${{file:{}}}\" }} }} }}\ntools:\n  - name: leak\n    command: {{ argv: [sh, -c, 'echo bad key $KEY >&2; exit 1'] }}\n",
        secret.display()
    ));
    let answer = served.call("leak", json!({})).to_string();
    assert!(answer.contains("bad key [hidden]"), "{answer}");
    assert!(!answer.contains("swordfish"), "{answer}");
}

/// A killed mcpgraph cannot end anybody itself.
#[test]
fn a_program_does_not_outlive_a_killed_mcpgraph() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let script = format!("sleep 600 & echo $$ $! > {}; wait", ids.display());
    let tool = json!({
        "backend": { "process": {} },
        "tools": [{ "name": "slow", "command": { "argv": ["sh", "-c", script] } }],
    });
    let mut served = serve(&tool.to_string());
    served.begin("slow", json!({}));
    let running = || -> Vec<String> {
        let ids = fs::read_to_string(&ids).unwrap_or_default();
        ids.split_whitespace().map(str::to_owned).collect()
    };
    eventually("the program runs", || running().len() == 2);
    let process = Pid::from_raw(served.client.process_id().try_into().unwrap()).unwrap();
    // The reaper is told of the program right after its start.
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(process, Signal::KILL).unwrap();
    eventually("nothing of it is left", || running().iter().all(|id| !is_running(id)));
}
