use std::fs;

use serde_json::{Value, json};

use super::{Store, changed, empty, graph};
use crate::product::{beside, repository};

#[test]
fn every_example_happens_again() {
    let store = Store::new();
    let samples = fs::read_to_string(beside("cases/examples.json")).unwrap();
    let samples: Vec<Value> = serde_json::from_str(&samples).unwrap();
    assert!(!samples.is_empty());
    for sample in samples {
        let file = repository().join(sample["file"].as_str().unwrap());
        let tool = sample["tool"].as_str().unwrap();
        let id = store.record(&file, tool, &sample["arguments"]);
        let replayed = store.json(&["replay", &id]);
        assert_eq!((&replayed["same"], &replayed["complete"]), (&json!(true), &json!(true)));
        assert_eq!(replayed["run"]["tool"], tool);
        let file = file.to_str().unwrap();
        assert!(store.runs(&["replay", &id, "-g", file]).starts_with("same"), "{tool}");
    }
}

#[test]
fn loops_branches_tools_and_failures_happen_again() {
    let store = Store::new();
    for n in [1, 5] {
        let id = store.record(&graph(), "everything", &json!({"n": n}));
        let events = store.json(&["show", &id])["run"]["events"].as_u64().unwrap();
        let said = store.runs(&["replay", &id]);
        assert_eq!(said, format!("same: {events} events happened again\n"));
    }
    let id = store.record(&beside("graphs/failures.yaml"), "fail", &empty());
    assert!(store.runs(&["replay", &id]).starts_with("same"));
}

#[test]
fn neither_servers_nor_variables_are_needed() {
    let store = Store::new();
    let text = changed("${RUNS_TEST_TOKEN:-none}", "${RUNS_TEST_TOKEN}");
    let file = store.graph("needs-token.yaml", &text);
    let variables = [("RUNS_TEST_TOKEN", "a long enough secret")];
    let id = store.record_with(&file, "everything", &empty(), &[], &variables);
    assert!(store.runs(&["replay", &id]).starts_with("same"));
    // A file whose server would fail to start, and one that leaves it to an mcp.json.
    let broken = text.replace("command: \"${MCPGRAPH_BIN}\"", "command: \"${NOT_SET_ANYWHERE}\"");
    let broken = store.graph("broken.yaml", &broken);
    assert!(store.runs(&["replay", &id, "-g", broken.to_str().unwrap()]).starts_with("same"));
    let elsewhere = beside("files/needs-server.yaml");
    let servers = beside("files/mcp.json");
    let options = ["-m", servers.to_str().unwrap()];
    let id = store.record_with(&elsewhere, "ask", &empty(), &options, &[]);
    assert!(store.runs(&["replay", &id]).starts_with("same"));
}

#[test]
fn the_first_difference_is_told() {
    let store = Store::new();
    let id = store.record(&graph(), "everything", &empty());
    let file = store.graph("changed.yaml", &changed("$.number * $.number", "$.number + 10"));
    let file = file.to_str().unwrap();
    let (code, said) = store.failing(&["replay", &id, "-g", file]);
    assert_eq!(code, 1);
    let step = store.json(&["show", &id])["steps"].take();
    let step =
        step.as_array().unwrap().iter().find(|step| step["node"] == "square").unwrap().clone();
    let output = step["output"].as_u64().unwrap();
    let item = output.isqrt();
    let expected = format!(
        "different at step {} `square` (path {})\n  recorded  stepFinished\n  now       \
         stepFinished\n  /output\n    recorded  {output}\n    now       {}\n",
        step["step"],
        step["path"].as_str().unwrap(),
        item + 10
    );
    assert_eq!(said, expected);

    let said = store.typed(&["runs", "replay", &id, "-g", file, "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &document["same"]), (1, &json!(false)));
    let divergence = &document["divergence"];
    assert_eq!((&divergence["step"], &divergence["node"]), (&step["step"], &json!("square")));
    assert_eq!(
        divergence["differences"],
        json!([{"pointer": "/output", "recorded": output, "now": item + 10}])
    );
    assert_eq!(divergence["recorded"]["type"], "stepFinished");
}

#[test]
fn another_way_through_the_graph_is_a_difference() {
    let store = Store::new();
    let id = store.record(&graph(), "everything", &empty());
    // Other arguments for a call that is not made: the recorded output does not belong to them.
    for (from, to, part) in [
        ("args: { value: left }", "args: { value: right }", "/input/value"),
        (
            "{ n: { expr: $.both.right } }, next: risky",
            "{ n: { expr: $.both.right } }, next: result",
            "/edge",
        ),
        ("onError: result", "onError: exit", "/edge"),
        ("retry: { times: 2,", "retry: { times: 1,", "different at step"),
    ] {
        let file = store.graph("changed.yaml", &changed(from, to));
        let (code, said) = store.failing(&["replay", &id, "-g", file.to_str().unwrap()]);
        assert_eq!(code, 1);
        assert!(said.contains(part), "{to}: {said}");
    }
    // What does not matter is none.
    let file = changed("description: Doubles a number", "description: Twice as much");
    let file = store.graph("changed.yaml", &file);
    assert!(store.runs(&["replay", &id, "-g", file.to_str().unwrap()]).starts_with("same"));
}

#[test]
fn a_file_without_the_tool_or_with_errors_cannot_be_used() {
    let store = Store::new();
    let id = store.record(&graph(), "double", &json!({"n": 1}));
    let file = store.graph(
        "other.yaml",
        &changed("name: double", "name: twofold").replace("tool: double", "tool: twofold"),
    );
    let (code, said) = store.failing(&["replay", &id, "-g", file.to_str().unwrap()]);
    assert!(code == 2 && said.contains("there is no tool `double`"), "{said}");
    let file = store.graph("other.yaml", &changed("$.entry.n * 2", "$.entry.n *"));
    let (code, said) = store.failing(&["replay", &id, "-g", file.to_str().unwrap()]);
    assert!(code == 1 && said.contains("other.yaml"), "{said}");
    let (code, _) = store.failing(&["replay", &id, "-g", "missing.yaml"]);
    assert_eq!(code, 3);
}

/// What nodes call stands in the graph, not in the events.
#[test]
fn what_nodes_call_is_compared() {
    let store = Store::new();
    let file = beside("graphs/targets.yaml");
    let id = store.record(&file, "outer", &empty());
    let text = fs::read_to_string(file).unwrap();
    let cases = fs::read_to_string(beside("cases/targets.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let (title, from) = (case["title"].as_str().unwrap(), case["from"].as_str().unwrap());
        assert!(text.contains(from), "{title}");
        let changed = text.replacen(from, case["to"].as_str().unwrap(), 1);
        let changed = store.graph("changed.yaml", &changed);
        let typed = ["runs", "replay", &id, "-g", changed.to_str().unwrap()];
        let said = store.typed(&[&typed[..], &["--json"]].concat());
        let document: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(document["targetsCompared"], true, "{title}");
        let differences = case["differences"].as_array().unwrap();
        if differences.is_empty() {
            assert_eq!((said.code, &document["same"]), (0, &json!(true)), "{title}: {document}");
            continue;
        }
        assert_eq!((said.code, &document["same"]), (1, &json!(false)), "{title}: {document}");
        let divergence = &document["divergence"];
        assert_eq!(divergence["differences"], case["differences"], "{title}");
        assert_eq!(divergence["node"], case["node"], "{title}");
        assert_eq!(divergence["recorded"]["type"], "stepStarted", "{title}");

        let said = store.typed(&typed).out;
        let node = case["node"].as_str().unwrap();
        let head = format!("different at step {} `{node}`", divergence["step"]);
        assert!(said.starts_with(&head), "{title}: {said}");
        for difference in differences {
            let lines = format!(
                "  {}\n    recorded  {}\n    now       {}\n",
                difference["pointer"].as_str().unwrap(),
                difference["recorded"],
                difference["now"]
            );
            assert!(said.contains(&lines), "{title}: {said}");
        }
    }
}

#[test]
fn it_is_said_if_what_nodes_called_is_not_known() {
    let here = Store::new();
    let file = beside("graphs/targets.yaml");
    let id = here.record(&file, "outer", &empty());
    let exported: Value = serde_json::from_str(&here.runs(&["export", &id])).unwrap();
    let file = file.to_str().unwrap();
    for (definition, why) in [
        (Value::Null, "was not kept"),
        (json!("tools: {"), "cannot be compiled any more"),
        (json!("server: { name: x, version: '1' }\ntools: []\n"), "has no `outer`"),
    ] {
        let there = Store::new();
        let mut document = exported.clone();
        document["definition"] = definition;
        let run = there.graph("run.json", &document.to_string());
        there.runs(&["import", run.to_str().unwrap()]);
        let said = there.runs(&["replay", &id, "-g", file]);
        let (first, note) = said.split_once('\n').unwrap();
        assert!(first.starts_with("same: "), "{said}");
        assert!(note.starts_with("whether nodes call what they called"), "{said}");
        assert!(note.contains(why), "{said}");
        let document = there.json(&["replay", &id, "-g", file]);
        assert_eq!(
            (&document["same"], &document["targetsCompared"]),
            (&json!(true), &json!(false))
        );
        assert!(document["note"].as_str().unwrap().contains(why), "{document}");

        let said = there.typed(&["runs", "rerun", &id, "-g", file, "--from", "2", "--yes"]);
        assert!(said.code == 0 && said.err.contains(why), "{}", said.err);
    }
}
