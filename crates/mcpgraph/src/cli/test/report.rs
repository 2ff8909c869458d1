//! What is told of tests, in three forms.

mod human;
mod json;
mod junit;

use mcpgraph_diagnostics::Diagnostics;

use super::super::args::test::TestFormat;
use super::execute::SuiteOutcome;

/// How many tests passed and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Counts {
    pub(super) fn of(suites: &[SuiteOutcome]) -> Self {
        suites.iter().flat_map(|suite| &suite.cases).fold(Self::default(), |mut counts, case| {
            if case.passed() {
                counts.passed += 1;
            } else {
                counts.failed += 1;
            }
            counts
        })
    }
}

/// The report where files have errors and no test was run; people see the errors themselves.
pub(super) fn problem_report(
    diagnostics: &Diagnostics,
    format: TestFormat,
) -> anyhow::Result<Option<String>> {
    Ok(match format {
        TestFormat::Human => None,
        TestFormat::Junit => Some(junit::problems(diagnostics)),
        TestFormat::Json => Some(json::problems(diagnostics)?),
    })
}

/// The whole report.
pub(super) fn report(suites: &[SuiteOutcome], format: TestFormat) -> String {
    match format {
        TestFormat::Human => human::report(suites),
        TestFormat::Junit => junit::report(suites),
        TestFormat::Json => json::report(suites),
    }
}
