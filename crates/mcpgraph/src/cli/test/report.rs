//! What is told of tests, in three forms.

mod human;
mod json;
mod junit;

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

/// The whole report.
pub(super) fn report(suites: &[SuiteOutcome], format: TestFormat) -> String {
    match format {
        TestFormat::Human => human::report(suites),
        TestFormat::Junit => junit::report(suites),
        TestFormat::Json => json::report(suites),
    }
}
