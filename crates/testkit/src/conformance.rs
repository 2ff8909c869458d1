//! The official conformance suite.

use crate::{Environment, environment::interop};

/// How many checks passed and failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Checks the server passed.
    pub passed: u32,
    /// Checks it failed.
    pub failed: u32,
}

/// Runs the requirement set of a protocol version against a server, and prints its summary.
///
/// # Panics
/// If a check fails that is not in `tests/interop/expected-failures.yaml`, or one passes that is.
pub fn run(environment: &Environment, url: &str, version: &str) -> Totals {
    let program = environment
        .package("@modelcontextprotocol/conformance/dist/index.js")
        .arg("server")
        .arg("--url")
        .arg(url)
        .arg("--requirements")
        .arg(version)
        .arg("--expected-failures")
        .arg(interop("expected-failures.yaml"));
    let finished = program.run();
    assert!(finished.success, "{}\n{}", finished.stdout, finished.stderr);
    let (_, summary) = finished.stdout.split_once("=== SUMMARY ===").unwrap_or_default();
    eprintln!("conformance {version}\n{summary}");
    totals(summary)
}

/// Reads `Total: 83 passed, 0 failed`.
fn totals(summary: &str) -> Totals {
    let line = summary.lines().find(|line| line.starts_with("Total:")).expect("a line of totals");
    let mut numbers = line
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|word| word.parse::<u32>().ok());
    let mut next = || numbers.next().expect("two numbers");
    Totals { passed: next(), failed: next() }
}
