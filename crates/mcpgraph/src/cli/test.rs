//! Tests of users' graphs.

mod compare;
mod diff;
mod execute;
mod mocks;
mod names;
mod record;
mod recording;
mod report;
mod suite;
mod trail;
mod yaml;

use std::num::NonZeroUsize;
use std::path::Path;

use mcpgraph_diagnostics::Diagnostics;

use self::report::{Counts, problem_report, report};
use self::suite::{Loader, Suite};
use super::args::test::{TestArgs, TestFormat};
use super::args::{FileArgs, HistoryArgs};
use super::{Exit, Threads, block_on, output, usage};

/// Runs the tests of files, or writes one from a recorded run.
pub(super) fn test(args: &TestArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    if let Some(run) = &args.record {
        return record::record(run, args, history);
    }
    let loader = Loader::new(&args.files, history);
    let mut diagnostics = Diagnostics::new();
    let mut suites = Vec::new();
    for path in &args.paths {
        let (suite, found) = loader.load(path);
        diagnostics.extend(found);
        suites.extend(suite);
    }
    output::diagnostics(&diagnostics);
    if diagnostics.has_errors() {
        // Whoever reads reports would take a missing one for a fault of the machine.
        if let Some(text) = problem_report(&diagnostics, args.format)? {
            match &args.output {
                None => output::data(&text)?,
                Some(path) => write(path, &text)?,
            }
        }
        return Ok(Exit::of(&diagnostics));
    }
    if let Some(text) = &args.filter {
        filter(&mut suites, text)?;
    }
    if suites.iter().all(|suite| suite.cases.is_empty()) {
        // That too would pass for success.
        return Err(usage(
            "there is no test in what was named; `mcpgraph test --record RUN` writes one",
        ));
    }
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    let jobs = jobs.map_or(1, NonZeroUsize::get);
    let outcomes = block_on(Threads::PerCore, execute::execute(suites, jobs))?;
    let text = report(&outcomes, args.format);
    match &args.output {
        None => output::data(&text)?,
        Some(path) => {
            write(path, &text)?;
            output::data(&report(&outcomes, TestFormat::Human))?;
        }
    }
    Ok(if Counts::of(&outcomes).failed == 0 { Exit::Success } else { Exit::Failure })
}

/// Whether a file is one of tests, by its name.
pub(super) fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".test.yaml", ".test.yml"].iter().any(|ending| name.ends_with(ending))
}

/// Everything that is wrong with a test file.
pub(super) fn problems(path: &Path, files: &FileArgs, history: &HistoryArgs) -> Diagnostics {
    Loader::new(files, history).load(path).1
}

/// Leaves only the tests that are wanted. That none is would pass for success.
fn filter(suites: &mut Vec<Suite>, text: &str) -> anyhow::Result<()> {
    for suite in suites.iter_mut() {
        suite.cases.retain(|case| case.name.contains(text));
    }
    suites.retain(|suite| !suite.cases.is_empty());
    if suites.is_empty() {
        return Err(usage(format!("no test has `{text}` in its name")));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.display();
    std::fs::write(path, text).map_err(|error| anyhow::anyhow!("cannot write `{name}`: {error}"))
}
