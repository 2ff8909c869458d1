//! Recorded runs, as the command line shows and uses them.

mod going_on;
mod interrupted;
mod reading;
mod replaying;
mod secrets;
mod transfer;
mod waiting;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::product::{beside, command};

/// A folder of runs of its own.
struct Store {
    folder: TempDir,
}

/// What came of a command.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Store {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A graph file in the folder.
    fn graph(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Types a command, with variables.
    fn typed_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
        let Output { status, stdout, stderr } = command()
            .args(arguments)
            .arg("--data")
            .arg(self.path())
            .envs(variables.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Said {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    fn typed(&self, arguments: &[&str]) -> Said {
        self.typed_with(arguments, &[])
    }

    /// Types `mcpgraph runs …`, which succeeds.
    fn runs(&self, arguments: &[&str]) -> String {
        let said = self.typed(&[&["runs"], arguments].concat());
        assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
        said.out
    }

    /// The document that `mcpgraph runs … --json` prints.
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.runs(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Types `mcpgraph runs …`, which fails; the exit code and what it says.
    fn failing(&self, arguments: &[&str]) -> (i32, String) {
        let said = self.typed(&[&["runs"], arguments].concat());
        assert_ne!(said.code, 0, "{arguments:?}: {}", said.out);
        (said.code, said.out + &said.err)
    }

    /// Calls a tool; the run's id.
    fn record(&self, graph: &Path, tool: &str, arguments: &Value) -> String {
        self.record_with(graph, tool, arguments, &[], &[])
    }

    fn record_with(
        &self,
        graph: &Path,
        tool: &str,
        arguments: &Value,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> String {
        let (graph, arguments) = (graph.to_str().unwrap(), arguments.to_string());
        let call = ["run", tool, "-g", graph, "--json", "--args", &arguments];
        let said = self.typed_with(&[&call, options].concat(), variables);
        let report: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
        report["run"].as_str().unwrap().to_owned()
    }

    /// The ids that `runs ls` lists.
    fn listed(&self, arguments: &[&str]) -> Vec<String> {
        let listing = self.json(&[&["ls"], arguments].concat());
        let runs = listing["runs"].as_array().unwrap();
        runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// The graph most of these tests run.
fn graph() -> PathBuf {
    beside("graphs/runs.yaml")
}

/// Its text with something else in one place.
fn changed(from: &str, to: &str) -> String {
    let text = fs::read_to_string(graph()).unwrap();
    assert!(text.contains(from));
    text.replacen(from, to, 1)
}

/// The number of the first step of a node.
fn step_of(shown: &Value, node: &str) -> u64 {
    let steps = shown["steps"].as_array().unwrap();
    steps.iter().find(|step| step["node"] == node).unwrap()["step"].as_u64().unwrap()
}

fn empty() -> Value {
    json!({})
}
