//! Test files in `test_files/`, each with what reading it gives: the model in short and every
//! problem.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use mcpgraph_config::model::{ExpectedOutcome, PathItem, Reply, TestDef, TestFile};
use mcpgraph_config::{read_tests, test_schema};
use mcpgraph_diagnostics::{Colour, Source, to_terminal};

fn case(name: &str) -> Arc<Source> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/test_files").join(name);
    Source::new(name, std::fs::read_to_string(path).expect("the case"))
}

fn shown(name: &str) -> String {
    let (file, diagnostics) = read_tests(&case(name));
    let described = file.as_ref().map(describe).unwrap_or_default();
    described + &to_terminal(&diagnostics, Colour::Plain)
}

/// The model in a few lines.
fn describe(file: &TestFile) -> String {
    let mut out = format!("graph {:?}\n", file.graph.as_deref());
    file.tests.iter().for_each(|test| describe_test(&mut out, test).expect("a string"));
    out
}

fn describe_test(out: &mut String, test: &TestDef) -> std::fmt::Result {
    let input = test.input.as_ref().map(|input| input.value().to_json());
    writeln!(out, "test {}: {} {input:?} live {}", test.name, test.tool, test.live)?;
    if let Some(recorded) = &test.recorded {
        writeln!(out, "  from {recorded:?}")?;
    }
    for mock in &test.mocks {
        for answer in &mock.answers {
            let args = answer.args.as_ref().map(|args| args.value().to_json());
            write!(out, "  {} for {args:?}: ", mock.of)?;
            match &answer.reply {
                Reply::Output(value) => writeln!(out, "output {}", value.value()),
                Reply::Result(value) => writeln!(out, "result {}", value.value()),
                Reply::Pending => writeln!(out, "pending"),
                Reply::Error(error) => writeln!(
                    out,
                    "error {} {:?} {} {:?}",
                    error.kind.value,
                    error.message.as_deref(),
                    error.protocol_code,
                    error.data
                ),
            }?;
        }
    }
    match &test.expect.outcome {
        ExpectedOutcome::Success => writeln!(out, "  succeeds"),
        ExpectedOutcome::Result(value) => writeln!(out, "  gives {}", value.value()),
        ExpectedOutcome::Error(error) => writeln!(
            out,
            "  fails {:?} at {:?} with {:?}",
            error.kind.map(|kind| kind.value),
            error.node.as_deref(),
            error.message_contains.as_deref()
        ),
    }?;
    if let Some(path) = &test.expect.path {
        let names = path.iter().map(|item| match item {
            PathItem::Node(node) => node.as_str(),
            PathItem::Gap => "(gap)",
        });
        writeln!(out, "  path {}", names.collect::<Vec<_>>().join(" "))?;
    }
    for (of, calls) in &test.expect.calls {
        writeln!(out, "  calls {of} {calls:?}")?;
    }
    Ok(())
}

#[test]
fn every_file_reads_as_recorded() {
    for name in ["good", "bad", "not-tests"] {
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("tests-{name}"), shown(&format!("{name}.yaml")));
        });
    }
}

#[test]
fn every_problem_has_a_place_and_a_pointer_into_the_file() {
    let (file, diagnostics) = read_tests(&case("bad.yaml"));
    let file = file.expect("a file");
    for diagnostic in &diagnostics {
        assert!(diagnostic.primary.is_some(), "{}", diagnostic.message);
        let pointer = diagnostic.pointer.as_deref().expect("a pointer");
        assert!(file.tree.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn the_schema_accepts_the_good_file_and_refuses_the_bad_one() {
    let schema = serde_json::Value::from(&test_schema());
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    let instance = |name| {
        let (file, _) = read_tests(&case(name));
        serde_json::Value::from(&file.expect("a file").tree.to_value())
    };
    let errors: Vec<String> =
        validator.iter_errors(&instance("good.yaml")).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!validator.is_valid(&instance("bad.yaml")));
}
