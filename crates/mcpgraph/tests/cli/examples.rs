//! Every example is without problems, and every one of its tools gives what it should.

use std::{collections::BTreeSet, fs};

use mcpgraph::load::Files;
use serde::Deserialize;
use serde_json::Value;

use crate::product::{beside, command, repository};

/// A sample call of an example's tool.
#[derive(Deserialize)]
struct Sample {
    file: String,
    tool: String,
    arguments: Value,
    result: Value,
}

fn samples() -> Vec<Sample> {
    serde_json::from_str(&fs::read_to_string(beside("cases/examples.json")).unwrap()).unwrap()
}

/// The graph files among the examples, relative to the root of the repository.
pub(crate) fn files() -> Vec<String> {
    ending(".yaml").into_iter().filter(|file| !file.ends_with(".test.yaml")).collect()
}

/// The test files among the examples.
pub(crate) fn test_files() -> Vec<String> {
    ending(".test.yaml")
}

fn ending(suffix: &str) -> Vec<String> {
    let folder = fs::read_dir(repository().join("examples")).unwrap();
    let mut files: Vec<String> = folder
        .map(|entry| format!("examples/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|path| path.ends_with(suffix))
        .collect();
    files.sort();
    files
}

#[test]
fn no_example_has_problems() {
    let output = command().arg("check").args(files()).current_dir(repository()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("{} files checked, no problems\n", files().len()));
    assert!(output.status.success());
}

#[test]
fn every_tool_gives_what_it_should() {
    for sample in samples() {
        let output = command()
            .args(["run", &sample.tool, "-g", &sample.file, "--json", "--args"])
            .arg(sample.arguments.to_string())
            .current_dir(repository())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["result"], sample.result, "{} {}", sample.tool, sample.arguments);
        assert!(output.stderr.is_empty() && output.status.success());
    }
}

#[test]
fn no_tool_is_without_a_sample() {
    let mut tools = BTreeSet::new();
    for file in files() {
        let loaded = Files { graph: repository().join(&file), ..Files::default() }.load();
        let names = loaded
            .graph
            .unwrap()
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect::<Vec<_>>();
        tools.extend(names.into_iter().map(|name| (file.clone(), name)));
    }
    let sampled: BTreeSet<_> =
        samples().into_iter().map(|sample| (sample.file, sample.tool)).collect();
    assert_eq!(tools, sampled);
}
