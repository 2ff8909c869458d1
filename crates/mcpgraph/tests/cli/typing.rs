//! Command lines that cannot be meant, and what is said about them.

use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
};

use crate::product::{beside, command};

/// What came of a command: its exit code and what it wrote to stderr.
fn told(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Types a command in a folder, with variables.
fn typed_with(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> Output {
    command()
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn typed(arguments: &[&str], folder: &Path) -> Output {
    typed_with(arguments, folder, &[])
}

/// A graph file that others of these tests use, too.
fn graph() -> String {
    beside("graphs/runs.yaml").to_str().unwrap().to_owned()
}

#[test]
fn a_level_of_logs_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let eval = ["eval", "jsonata", "1 + 1"];
    let of_option = typed(&[&eval[..], &["--log-level", "verbose"]].concat(), folder.path());
    let of_variable = typed_with(&eval, folder.path(), &[("MCPGRAPH_LOG", "verbose")]);
    for output in [of_option, of_variable] {
        let (exit, said) = told(&output);
        assert_eq!(exit, 2, "{said}");
        assert!(said.contains("`verbose`") && said.contains("error, warn, info"), "{said}");
    }
    for filter in ["debug", "mcpgraph_upstream=debug", "warn,mcpgraph_upstream=debug"] {
        let output = typed(&[&eval[..], &["--log-level", filter]].concat(), folder.path());
        assert_eq!(told(&output), (0, String::new()), "{filter}");
    }
}
