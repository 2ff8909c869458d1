//! `cargo xtask test`: everything that must pass, with a summary at the end.

use std::env;
use std::time::Instant;

use anyhow::bail;

use crate::{
    command::run_visibly,
    setup_tests, studio,
    workspace::{Workspace, cargo},
};

/// Tells the tests that a missing test environment is a failure, not a reason to skip.
const REQUIRE_ENVIRONMENT: &str = "MCPGRAPH_REQUIRE_TEST_ENV";

/// Which cases the property tests make up, where nobody says otherwise: whether a change is right must
/// not depend on chance. `cargo test` alone makes up others every time.
const CASES: (&str, &str) = ("PROPTEST_RNG_SEED", "20261117");

/// Runs every step even when an earlier one failed, so that one run shows all there is to mend.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let mut summary = Vec::new();
    let mut step = |name: &str, action: &dyn Fn() -> anyhow::Result<()>| {
        eprintln!("\n── {name}");
        let started = Instant::now();
        let error = action().err();
        if error.is_some() {
            eprintln!("FAILED: {name}; why is said again at the end");
        }
        summary.push((name.to_owned(), started.elapsed(), error));
    };

    step("test environment", &|| setup_tests::run(workspace));
    step("build", &|| cargo_step(workspace, &["build", "--workspace", "--all-targets"]));
    if has_cargo("nextest") {
        step("tests", &|| cargo_step(workspace, &["nextest", "run", "--workspace"]));
    } else {
        let tests = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
        step("tests", &|| cargo_step(workspace, &tests));
    }
    step("studio", &|| studio::check(workspace));
    step("studio in a browser", &|| studio::end_to_end(workspace));
    step("documentation tests", &|| cargo_step(workspace, &["test", "--workspace", "--doc"]));
    step("formatting", &|| cargo_step(workspace, &["fmt", "--all", "--check"]));
    step("lints", &|| {
        let lints = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        cargo_step(workspace, &lints)
    });
    if has_cargo("deny") {
        // The advisories are left out: their database is fetched anew, and a test must not fail
        // because of what somebody found out today.
        let dependencies = ["deny", "check", "licenses", "bans", "sources"];
        step("dependencies", &|| cargo_step(workspace, &dependencies));
    } else {
        eprintln!("\n── dependencies\nskipped: cargo-deny is not installed");
    }

    for (name, _, error) in &summary {
        if let Some(error) = error {
            eprintln!("\n── {name}: FAILED\n{error:#}");
        }
    }
    eprintln!();
    for (name, took, error) in &summary {
        let verdict = if error.is_none() { "passed" } else { "FAILED" };
        eprintln!("{verdict}  {name:<20} {:>7.1} s", took.as_secs_f64());
    }
    let failed = summary.iter().filter(|(_, _, error)| error.is_some()).count();
    if failed > 0 {
        bail!("{failed} of {} steps failed", summary.len());
    }
    Ok(())
}

fn cargo_step(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = cargo();
    command.args(arguments).current_dir(&workspace.root).env(REQUIRE_ENVIRONMENT, "1");
    let (seed, usual) = CASES;
    if env::var_os(seed).is_none() {
        command.env(seed, usual);
    }
    run_visibly(&mut command)
}

/// Whether a subcommand that does not come with cargo is installed.
fn has_cargo(subcommand: &str) -> bool {
    cargo().args([subcommand, "--version"]).output().is_ok_and(|output| output.status.success())
}
