//! What the documents say about tests is true.

use std::fs;

use mcpgraph_config::read_tests;
use mcpgraph_diagnostics::Source;

use crate::product::{command, repository, typed};

fn document() -> String {
    fs::read_to_string(repository().join("docs/testing.md")).unwrap()
}

/// Every YAML block is a test file or a part of one that has no problems.
#[test]
fn the_files_it_shows_are_right() {
    let text = document();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() > 3, "too few blocks were found: {}", blocks.len());
    for block in blocks {
        let indented = |by: &str| block.replace('\n', &format!("\n{by}"));
        let whole = if block.starts_with("graph:") {
            block.to_owned()
        } else if block.starts_with('-') {
            format!("tests:\n  {}\n", indented("  "))
        } else if block.starts_with("expect:") {
            format!("tests:\n  - name: n\n    tool: t\n    {}\n", indented("    "))
        } else {
            format!(
                "tests:\n  - name: n\n    tool: t\n    expect: {{}}\n    {}\n",
                indented("    ")
            )
        };
        let (_, problems) = read_tests(&Source::new("block", whole.as_str()));
        let problems: Vec<&str> = problems.iter().map(|problem| &*problem.message).collect();
        assert!(problems.is_empty(), "{whole}\n{problems:?}");
    }
}

/// A block of a session shows what is typed after `$ ` and then what comes out.
#[test]
fn the_output_it_shows_is_real() {
    let text = document();
    let mut checked = 0;
    for block in text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let (typed_line, shown) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let folder = tempfile::tempdir().unwrap();
        for file in ["shop.yaml", "shop.test.yaml", "failing.test.yaml"] {
            fs::copy(crate::product::beside("files").join(file), folder.path().join(file)).unwrap();
        }
        let output = typed(typed_line, folder.path());
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, shown, "{typed_line}\n{}", String::from_utf8_lossy(&output.stderr));
        checked += 1;
    }
    assert!(checked > 1, "too few sessions were found: {checked}");
}

#[test]
fn the_schema_of_test_files_accepts_the_examples() {
    let output = command().args(["schema", "--tests"]).output().unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    jsonschema::meta::validate(&schema).expect("it is a JSON Schema");
    let schema = jsonschema::validator_for(&schema).unwrap();
    for name in crate::examples::test_files() {
        let text = fs::read_to_string(repository().join(&name)).unwrap();
        let (file, _) = read_tests(&Source::new(name.as_str(), text));
        let instance = serde_json::Value::from(&file.unwrap().tree.to_value());
        let errors: Vec<String> =
            schema.iter_errors(&instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}
