//! `mcpgraph test`: what a session does not show.

mod documents;
mod recorded;
mod xml;

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::product::{beside, command, repository};

#[test]
fn the_tests_among_the_examples_pass() {
    let files = crate::examples::test_files();
    assert!(!files.is_empty());
    let output = command().arg("test").args(files).current_dir(repository()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.ends_with(" passed, 0 failed\n"), "{said}");
    assert!(output.stderr.is_empty());
}

#[test]
fn tests_are_not_recorded() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("runs");
    let tests = ["test", "examples/orders.test.yaml", "--data"];
    let output = command().args(tests).arg(&folder).current_dir(repository()).output().unwrap();
    assert!(output.status.success());
    assert!(!folder.exists());
}

/// Without mocks, a live test asks the demo server, which is ended afterwards.
#[test]
fn a_live_test_calls_the_servers() {
    let folder = tempfile::tempdir().unwrap();
    let graph = repository().join("examples/orders.yaml");
    let path = folder.path().join("live.test.yaml");
    let text = format!(
        "graph: {}\ntests:\n  - {{ name: live, tool: overview, live: true, \
         mocks: {{ read_notes: {{ output: {{ content: mocked }} }} }}, \
         expect: {{ result: {{ orders: 4, notes: mocked, approve: [A-102] }} }} }}\n",
        graph.display()
    );
    fs::write(&path, text).unwrap();
    let output = command().arg("test").arg(path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Nobody is there to be asked, so that a mock is all that helps.
#[test]
fn a_question_without_a_mock_is_not_said_to_work_live() {
    let folder = tempfile::tempdir().unwrap();
    let graph = beside("graphs/asking.yaml");
    let path = folder.path().join("ask.test.yaml");
    let graph = graph.display();
    let test = "{ name: asks, tool: hurry, expect: { result: 1 } }";
    fs::write(&path, format!("graph: {graph}\ntests:\n  - {test}\n")).unwrap();
    let output = command().arg("test").arg(path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("add an answer to `mocks`") && !said.contains("live"), "{said}");
}

/// Reports come in the order of the file, however long each test takes and however many run.
#[test]
fn many_tests_are_reported_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("graph: {}/examples/loops.yaml\ntests:\n", repository().display());
    for index in 0..60 {
        let n = (60 - index) * 20;
        let sum = n * (n + 1) / 2;
        writeln!(
            text,
            "  - {{ name: t{index:02}, tool: sum_to_n, input: {{ n: {n} }}, \
             expect: {{ result: {{ sum: {sum} }} }} }}"
        )
        .unwrap();
    }
    let path = folder.path().join("many.test.yaml");
    fs::write(&path, text).unwrap();
    for jobs in ["1", "16"] {
        let arguments = ["test", "--format", "json", "--jobs", jobs];
        let output = command().args(arguments).arg(&path).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["passed"], 60, "{report}");
        let tests = report["files"][0]["tests"].as_array().unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test["name"].as_str().unwrap()).collect();
        assert!(names.is_sorted(), "{names:?}");
    }
}
