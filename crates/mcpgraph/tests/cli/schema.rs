//! `mcpgraph schema` prints what editors need.

use std::path::PathBuf;

use mcpgraph::load::Files;
use serde_json::Value;

use crate::product::{beside, command, repository};

fn schema() -> jsonschema::Validator {
    let output = command().arg("schema").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    jsonschema::meta::validate(&schema).expect("it is a JSON Schema");
    jsonschema::validator_for(&schema).unwrap()
}

/// A file as the JSON that editors see in it.
fn as_json(path: PathBuf) -> Value {
    let loaded = Files { graph: path, ..Files::default() }.load();
    Value::from(&loaded.file.expect("it can be read").tree.to_value())
}

#[test]
fn it_accepts_the_examples_and_the_starter() {
    let schema = schema();
    let mut files: Vec<PathBuf> =
        crate::examples::files().into_iter().map(|file| repository().join(file)).collect();
    files.push(repository().join("crates/mcpgraph/src/cli/starter.yaml"));
    files.push(beside("files/good.yaml"));
    for file in files {
        let name = file.display().to_string();
        let instance = as_json(file);
        let errors: Vec<String> =
            schema.iter_errors(&instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

#[test]
fn it_refuses_what_the_checker_refuses() {
    assert!(!schema().is_valid(&as_json(beside("files/bad.yaml"))));
}
