//! Tests made of recorded runs pass, and so do tests that take their answers from them.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::product::{beside, command, repository};

/// A folder for runs and files.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn mcpgraph(&self, arguments: &[&str]) -> Output {
        let data = self.path("runs");
        command()
            .args(arguments)
            .arg("--data")
            .arg(data)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Calls a tool; gives the run's id.
    fn run(&self, graph: &str, tool: &str, arguments: &str) -> String {
        let output = self.mcpgraph(&["run", tool, "-g", graph, "--json", "--args", arguments]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["run"].as_str().unwrap().to_owned()
    }

    /// What a command that succeeds prints.
    fn works(&self, arguments: &[&str]) -> String {
        let output = self.mcpgraph(arguments);
        let (said, told) = texts(&output);
        assert!(output.status.success(), "{arguments:?}\n{said}{told}");
        said
    }

    /// What a command that fails says.
    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.mcpgraph(arguments);
        let (said, told) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}\n{said}{told}");
        told
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

fn example(name: &str) -> String {
    repository().join("examples").join(name).display().to_string()
}

/// Every sample call of every example, loops, a `foreach`, branches and sub-graphs among them.
#[test]
fn every_run_of_an_example_becomes_a_test_that_passes() {
    let samples = fs::read_to_string(beside("cases/examples.json")).unwrap();
    let samples: Vec<Value> = serde_json::from_str(&samples).unwrap();
    let place = Place::new();
    let mut files: Vec<String> = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let file = sample["file"].as_str().unwrap().trim_start_matches("examples/");
        let graph = example(file);
        let run =
            place.run(&graph, sample["tool"].as_str().unwrap(), &sample["arguments"].to_string());
        let tests = format!("{file}.test.yaml");
        let name = format!("sample {index}");
        place.works(&["test", "--record", &run, "-g", &graph, "-o", &tests, "--name", &name]);
        if !files.contains(&tests) {
            files.push(tests);
        }
    }
    let mut arguments = vec!["test"];
    arguments.extend(files.iter().map(String::as_str));
    let said = place.works(&arguments);
    assert!(said.ends_with(&format!("{} passed, 0 failed\n", samples.len())), "{said}");
}

/// Failures, retries, a loop whose items fail: what was recorded is what happens again.
#[test]
fn failed_runs_become_tests_too() {
    let place = Place::new();
    let graph = beside("graphs/testing.yaml").display().to_string();
    let calls = [
        ("caught", "{}"),
        ("fails", "{}"),
        ("refused", "{}"),
        ("retried", "{}"),
        ("too_slow", "{}"),
        ("some_fail", r#"{"names": ["a", "b", "c", "d"]}"#),
        ("some_fail", r#"{"names": []}"#),
        ("limited", "{}"),
        ("fails", r#"{"unknown": 1}"#),
    ];
    for (index, (tool, arguments)) in calls.into_iter().enumerate() {
        let run = place.run(&graph, tool, arguments);
        let name = format!("{index} {tool}");
        place.works(&[
            "test",
            "--record",
            &run,
            "-g",
            &graph,
            "-o",
            "all.test.yaml",
            "--name",
            &name,
        ]);
    }
    for _ in 0..5 {
        let said = place.works(&["test", "all.test.yaml"]);
        assert!(said.ends_with("9 passed, 0 failed\n"), "{said}");
    }
}

#[test]
fn a_test_is_added_without_touching_the_others() {
    let place = Place::new();
    let graph = example("loops.yaml");
    let run = place.run(&graph, "sum_to_n", r#"{"n": 3}"#);
    let before = format!(
        "# A comment.\r\ngraph:   {graph}   # and another\n\n\"tests\":\n    - {{ name: 'first', tool: sum_to_n,\n        \
         input: {{ n: 1 }}, expect: {{ result: {{ sum: 1 }} }} }}\n    - name: second # one more\n      \
         tool: collatz\n      input: {{n: 2}}\n      expect:\n        path: [..., exit]\n"
    );
    let after = "    # The end.\nx-note: |\n  kept\n\n\n";
    let file = place.path("own.test.yaml");
    fs::write(&file, format!("{before}{after}")).unwrap();
    place.works(&["test", "--record", &run, "-o", "own.test.yaml", "--name", "the third: \"3\""]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&before) && text.ends_with(after), "{text}");
    let said = place.works(&["test", "own.test.yaml"]);
    assert!(said.ends_with("3 passed, 0 failed\n"), "{said}");
    // The same name again is refused, and nothing is written.
    let told = place.fails(&["test", "--record", &run, "-o", "own.test.yaml", "--name", "second"]);
    assert!(told.contains("MG0127"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    // A list with nothing in it is one to begin with, and so is a file.
    for empty in [&*format!("graph: {graph}\ntests: []  # none yet\nx-note: kept\n"), "\n"] {
        fs::write(&file, empty).unwrap();
        place.works(&["test", "--record", &run, "-g", &graph, "-o", "own.test.yaml"]);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.contains("tests:  # none yet\n  - "), empty.contains("note"), "{text}");
        assert_eq!(text.contains("\nx-note: kept\n"), empty.contains("note"), "{text}");
        let said = place.works(&["test", "own.test.yaml"]);
        assert!(said.ends_with("1 passed, 0 failed\n"), "{said}");
    }
    // Lists in brackets are left to their author.
    let inline = "[{ name: a, tool: sum_to_n, input: { n: 1 }, expect: { result: { sum: 1 } } }]";
    fs::write(&file, format!("graph: {graph}\ntests: {inline}\n")).unwrap();
    let told = place.fails(&["test", "--record", &run, "-o", "own.test.yaml"]);
    assert!(told.contains("not a list with dashes"), "{told}");
}

#[test]
fn a_run_on_another_version_of_the_graph_is_not_written() {
    let place = Place::new();
    let text = fs::read_to_string(example("loops.yaml")).unwrap();
    let file = place.path("graph.yaml");
    fs::write(&file, &text).unwrap();
    let run = place.run("graph.yaml", "sum_to_n", r#"{"n": 3}"#);
    fs::write(&file, text.replace(r#"{ "sum": $.increment_node.sum }"#, r#"{ "sum": 0 }"#))
        .unwrap();
    // The graph file is found under its usual name.
    let told = place.fails(&["test", "--record", &run, "-o", "t.test.yaml"]);
    assert!(told.contains("the result differs") && told.contains("--force"), "{told}");
    assert!(!Path::new(&place.path("t.test.yaml")).exists());
    place.works(&["test", "--record", &run, "-o", "t.test.yaml", "--force"]);
    assert!(
        fs::read_to_string(place.path("t.test.yaml")).unwrap().starts_with("graph: ./graph.yaml\n")
    );
    assert_eq!(place.mcpgraph(&["test", "t.test.yaml"]).status.code(), Some(1));
}

#[test]
fn a_payload_that_was_not_kept_is_a_reason() {
    let place = Place::new();
    let graph = example("orders.yaml");
    let arguments =
        ["run", "review_orders", "-g", &graph, "--json", "limit=1", "--max-payload-bytes", "100"];
    let output = place.mcpgraph(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = report["run"].as_str().unwrap();
    let told = place.fails(&["test", "--record", run, "-g", &graph]);
    assert!(told.contains("step 1") && told.contains("bytes") && told.contains("output"), "{told}");
}

#[test]
fn answers_come_from_a_recorded_run_or_from_an_exported_one() {
    let place = Place::new();
    let graph = example("orders.yaml");
    let run = place.run(&graph, "overview", "{}");
    let other = place.run(&graph, "order_status", r#"{"id": "A-1"}"#);
    place.works(&["runs", "export", &run, "-o", "run.json"]);
    let expect = "expect: { result: { orders: 4, notes: \"# Notes\", approve: [A-102] } }";
    let mocked = "mocks: { read_notes: { output: { content: mine } } }, \
                  expect: { result: { orders: 4, notes: mine, approve: [A-102] } }";
    let text = format!(
        "graph: {graph}\ntests:\n  - {{ name: run, tool: overview, run: {run}, {expect} }}\n  \
         - {{ name: document, tool: overview, record: run.json, {expect} }}\n  \
         - {{ name: a mock counts first, tool: overview, record: run.json, {mocked} }}\n  \
         - {{ name: input too, tool: order_status, run: {other}, expect: {{ path: [entry, look, ..., exit] }} }}\n"
    );
    fs::write(place.path("from.test.yaml"), &text).unwrap();
    let said = place.works(&["test", "from.test.yaml"]);
    assert!(said.ends_with("4 passed, 0 failed\n"), "{said}");
    // A run of another tool answers nothing.
    let text = format!(
        "graph: {graph}\ntests:\n  - {{ name: other, tool: overview, run: {other}, {expect} }}\n"
    );
    fs::write(place.path("from.test.yaml"), text).unwrap();
    let told = place.fails(&["test", "from.test.yaml"]);
    assert!(told.contains("MG0129") && told.contains("`order_status`"), "{told}");
}
