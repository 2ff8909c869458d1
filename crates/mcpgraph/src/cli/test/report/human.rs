use std::fmt::Write as _;

use mcpgraph_diagnostics::printable;

use super::super::execute::{CaseOutcome, SuiteOutcome};
use super::Counts;

/// A line a test, what differs below those that failed, and the counts.
pub(super) fn report(suites: &[SuiteOutcome]) -> String {
    let mut out = String::new();
    for suite in suites {
        line(&mut out, "", &suite.name);
        suite.cases.iter().for_each(|case| write_case(&mut out, case));
        out.push('\n');
    }
    let Counts { passed, failed } = Counts::of(suites);
    line(&mut out, "", &format!("{passed} passed, {failed} failed"));
    out
}

/// What came of one test.
fn write_case(out: &mut String, case: &CaseOutcome) {
    let word = if case.passed() { "ok    " } else { "FAILED" };
    line(out, "  ", &format!("{word}  {}", case.name));
    for finding in &case.findings {
        line(out, "    ", &finding.title);
        finding.details.iter().for_each(|detail| line(out, "      ", detail));
    }
}

/// One line, harmless for terminals.
fn line(out: &mut String, indent: &str, text: &str) {
    // Writing to a text does not fail.
    writeln!(out, "{indent}{}", printable(text).trim_end()).unwrap_or_default();
}
