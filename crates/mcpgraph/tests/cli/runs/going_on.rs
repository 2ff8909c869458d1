use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Store, changed, empty, graph, step_of};
use crate::product::beside;

const ORDERS: &str = "\
server: { name: orders, version: '1' }
mcpServers:
  demo: { command: '${MCPGRAPH_BIN}', args: [demo-server] }
tools:
  - name: count
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: all }
      - { id: all, type: mcp, server: demo, tool: list_orders, next: one }
      - { id: one, type: transform, transform: { expr: '1' }, next: number }
      - { id: number, type: transform, transform: { expr: $count($.all) * $.one }, next: exit }
      - { id: exit, type: exit }
";

/// Types `runs rerun`; what it says and its result.
fn rerun(store: &Store, arguments: &[&str]) -> (String, Value) {
    let said = store.typed(&[&["runs", "rerun"], arguments].concat());
    assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
    (said.err, serde_json::from_str(&said.out).unwrap())
}

#[test]
fn a_run_can_be_done_anew() {
    let store = Store::new();
    let first = store.record(&graph(), "everything", &json!({"n": 2}));
    let file = graph();
    let arguments = ["--yes", &first, "-g", file.to_str().unwrap()];
    let (said, result) = rerun(&store, &arguments);
    assert_eq!(result, json!({"sum": 5, "twice": 10, "error": "out of order"}));
    assert!(said.starts_with("up to 2 targets may be called:\n  demo.echo\n  demo.fail\n"));
    let second = store.listed(&[]).remove(0);
    assert!(said.contains(&format!("run {second} goes on from {first}\n")), "{said}");
    let shown = store.json(&["show", &second]);
    let origin = json!({"face": "cli", "parent": {"run": first, "from": 0}});
    assert_eq!(shown["run"]["origin"], origin);
    assert_eq!(store.json(&["show", &first])["run"]["children"], json!([second]));
    assert!(
        store.runs(&["show", &second]).contains(&format!("parent   {first}, executed from step 0"))
    );
    assert!(store.runs(&["show", &first]).contains(&format!("child    {second}")));
    assert!(store.runs(&["replay", &second]).starts_with("same"));
}

#[test]
fn what_came_before_a_step_is_taken_over() {
    let store = Store::new();
    let first = store.record(&graph(), "everything", &empty());
    let before = store.json(&["export", &first]);
    let shown = store.json(&["show", &first]);
    let sub = step_of(&shown, "sub").to_string();
    let file = graph();
    let arguments = [&first, "--from", &sub, "-g", file.to_str().unwrap(), "--yes", "--json"];
    let (said, report) = rerun(&store, &arguments);
    assert!(said.starts_with("up to 1 target may be called:\n  demo.fail\n"), "{said}");
    assert_eq!(report["result"], shown["result"]);
    let second = report["run"].as_str().unwrap();
    let again = store.json(&["show", second]);
    let from = usize::try_from(step_of(&shown, "sub")).unwrap();
    let steps = |shown: &Value| shown["steps"].as_array().unwrap().clone();
    assert_eq!(steps(&again)[..from], steps(&shown)[..from], "taken over, times too");
    assert_eq!(again["run"]["origin"]["parent"], json!({"run": first, "from": from}));
    assert!(store.runs(&["replay", second]).starts_with("same"));
    assert_eq!(store.json(&["export", &first]), before, "history is never rewritten");
}

#[test]
fn an_output_can_be_changed_on_the_way() {
    let store = Store::new();
    let first = store.record(&graph(), "everything", &empty());
    let shown = store.json(&["show", &first]);
    let result = step_of(&shown, "result").to_string();
    let file = graph();
    let arguments = [
        &*first,
        "--from",
        &result,
        "--set",
        "sub=1000",
        "--set",
        r#"both={"right": [1, 2]}"#,
        "-g",
        file.to_str().unwrap(),
    ];
    // Nothing is called, so nobody has to agree.
    let (said, value) = rerun(&store, &arguments);
    assert!(said.starts_with("nothing outside will be called\n"), "{said}");
    assert_eq!(value, json!({"sum": [1, 2], "twice": 1000, "error": "out of order"}));
    let second = store.listed(&[]).remove(0);
    assert!(store.runs(&["replay", &second]).starts_with("same"));
    let text = store.runs(&["show", &second]);
    assert!(text.contains("output of `sub` changed to 1000"), "{text}");
    assert!(text.contains("taken over from the parent"), "{text}");
    assert!(!text.contains("somebody asked"), "{text}");
}

#[test]
fn the_current_file_or_the_recorded_version_is_executed() {
    let store = Store::new();
    let text = changed("$.entry.n * 2", "$.entry.n * 3");
    let file = store.graph("graph.yaml", &text);
    let first = store.record(&graph(), "double", &json!({"n": 5}));
    // The usual name in the current folder.
    assert_eq!(rerun(&store, &[&first]).1, 15);
    assert_eq!(rerun(&store, &[&first, "--recorded"]).1, 10);
    assert_eq!(rerun(&store, &[&first, "-g", graph().to_str().unwrap()]).1, 10);
    let (code, said) = store.failing(&["rerun", &first, "--from", "2"]);
    assert_eq!(code, 1);
    for part in ["different at step 1 `twice`", "recorded  10", "now       15", "--recorded"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(rerun(&store, &[&first, "--from", "2", "--recorded"]).1, 10);
    // Without a current file the recorded one says where its servers are.
    fs::remove_file(file).unwrap();
    let second = store.record(&graph(), "everything", &empty());
    let (said, result) = rerun(&store, &[&second, "--recorded", "--yes"]);
    assert_eq!(result["sum"], 14, "{said}");
}

#[test]
fn nothing_is_called_without_consent() {
    let store = Store::new();
    let id = store.record(&graph(), "everything", &empty());
    let file = graph();
    let (code, said) = store.failing(&["rerun", &id, "-g", file.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(said.contains("demo.echo") && said.contains("--yes"), "{said}");
    assert_eq!(store.listed(&[]), [id]);
}

#[test]
fn what_cannot_be_gone_on_from_is_said() {
    let store = Store::new();
    let id = store.record(&graph(), "double", &json!({"n": 5}));
    let file = graph();
    let file = file.to_str().unwrap();
    for (arguments, code, part) in [
        (&["--from", "9"][..], 1, "only 0 to 2"),
        (&["--from", "1", "--set", "twice=1"], 1, "node `twice` has no output here yet"),
        (&["--set", "entry={}"], 1, "before step 0"),
        (&["--set", "entry"], 2, "NODE=JSON"),
        (&["--from", "1", "--set", "entry=hello"], 2, "not JSON"),
    ] {
        let (found, said) = store.failing(&[&["rerun", &id, "-g", file], arguments].concat());
        assert_eq!(found, code, "{said}");
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(store.listed(&[]), [id]);
}

/// An output that came from elsewhere is not taken over.
#[test]
fn what_was_called_before_the_step_is_what_is_called_now() {
    let store = Store::new();
    let text = fs::read_to_string(beside("graphs/targets.yaml")).unwrap();
    let first = store.record(&store.graph("first.yaml", &text), "outer", &empty());
    let each = step_of(&store.json(&["show", &first]), "each").to_string();
    let changed = text.replacen(
        "demo, tool: echo, args: { value: 1 }",
        "demo, tool: fail, args: { value: 1 }",
        1,
    );
    assert_ne!(text, changed);
    let changed = store.graph("changed.yaml", &changed);
    let changed = changed.to_str().unwrap();
    let (code, said) = store.failing(&["rerun", &first, "-g", changed, "--from", &each, "--yes"]);
    assert!(code == 1 && said.contains("/target/tool"), "{said}");
    assert!(said.contains("something else before step"), "{said}");
    assert_eq!(store.listed(&[]), [&*first], "nothing was executed");
    // The step itself and what follows may be changed.
    let one = step_of(&store.json(&["show", &first]), "first").to_string();
    let said = store.typed(&["runs", "rerun", &first, "-g", changed, "--from", &one, "--yes"]);
    assert!(said.err.contains("goes on from"), "{}", said.err);
}

/// What is executed again need not have been kept.
#[test]
fn an_output_that_was_too_large_is_had_again_or_given() {
    let store = Store::new();
    let file = store.graph("orders.yaml", ORDERS);
    let file = file.to_str().unwrap();
    let options = ["--max-payload-bytes", "100"];
    let first = store.record_with(Path::new(file), "count", &empty(), &options, &[]);
    let shown = store.json(&["show", &first, "--step", "1"]);
    assert!(shown["step"]["outputTruncated"].is_object(), "{shown}");
    let from = |step: &'static str| [&*first, "--from", step, "-g", file, "--yes"];

    let (said, result) = rerun(&store, &from("1"));
    assert!(said.contains("demo.list_orders"), "{said}");
    assert_eq!(result, store.json(&["show", &first])["result"]);
    // Of the first that was not kept the message says what to do.
    let (code, said) = store.failing(&[&["rerun"][..], &from("2")].concat());
    assert_eq!(code, 1, "{said}");
    for part in ["output of step 1 (node `all`)", "from step 1 or an earlier", "`all` with --set"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for step in ["2", "3"] {
        let given = [&from(step)[..], &["--set", "all=[1, 2, 3]"]].concat();
        let (said, result) = rerun(&store, &given);
        assert!(said.starts_with("nothing outside will be called"), "{said}");
        assert_eq!(result, 3);
        let second = store.listed(&[]).remove(0);
        assert!(store.runs(&["replay", &second]).starts_with("same"));
    }
    // By then something was made of it.
    let late = [&["rerun"][..], &from("4"), &["--set", "all=[1, 2, 3]"]].concat();
    let (code, said) = store.failing(&late);
    assert!(code == 1 && said.contains("different at step 3 `number`"), "{said}");
    assert!(said.contains("earlier step"), "{said}");
}

/// The file a run was of may be anywhere, and the record has it.
#[test]
fn who_has_no_graph_file_is_told_of_the_recorded_one() {
    let store = Store::new();
    let id = store.record(&graph(), "double", &json!({"n": 1}));
    let (code, said) = store.failing(&["rerun", &id]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no graph file") && said.contains("--recorded"), "{said}");
}
