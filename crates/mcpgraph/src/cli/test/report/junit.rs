use std::fmt::{self, Write as _};
use std::time::Duration;

use mcpgraph_diagnostics::{Diagnostics, Severity};

use super::super::execute::{CaseOutcome, SuiteOutcome};
use super::Counts;

/// `JUnit` XML, in the form that build servers agree on.
pub(super) fn report(suites: &[SuiteOutcome]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a text does not fail.
    write_suites(&mut out, suites).unwrap_or_default();
    out
}

/// The same where files have errors and no test was run: each is a case that could not be.
pub(super) fn problems(diagnostics: &Diagnostics) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    write_problems(&mut out, diagnostics).unwrap_or_default();
    out
}

fn write_problems(out: &mut String, diagnostics: &Diagnostics) -> fmt::Result {
    let errors: Vec<_> =
        diagnostics.iter().filter(|problem| problem.severity == Severity::Error).collect();
    let count = errors.len();
    let numbers = format!("tests=\"{count}\" failures=\"0\" errors=\"{count}\" time=\"0.000\"");
    writeln!(out, "<testsuites name=\"mcpgraph\" {numbers}>")?;
    writeln!(out, "  <testsuite name=\"files\" {numbers}>")?;
    for problem in errors {
        let place = problem.primary.as_ref().map_or_else(
            || "file".to_owned(),
            |label| format!("{}:{}", label.source.name(), label.start().line),
        );
        let place = escaped(&place);
        let message = escaped(&problem.message);
        let (code, hint) = (problem.code.id(), problem.hint.as_deref().unwrap_or_default());
        writeln!(out, "    <testcase name=\"{place}\" classname=\"{code}\" time=\"0.000\">")?;
        writeln!(
            out,
            "      <error message=\"{message}\" type=\"{code}\">{}</error>",
            escaped(hint)
        )?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")?;
    writeln!(out, "</testsuites>")
}

fn write_suites(out: &mut String, suites: &[SuiteOutcome]) -> fmt::Result {
    let time = suites.iter().flat_map(|suite| &suite.cases).map(|case| case.took).sum();
    writeln!(out, "<testsuites name=\"mcpgraph\" {}>", numbers(suites, time))?;
    for suite in suites {
        let time = suite.cases.iter().map(|case| case.took).sum();
        let numbers = numbers(std::slice::from_ref(suite), time);
        writeln!(out, "  <testsuite name=\"{}\" {numbers}>", escaped(&suite.name))?;
        for case in &suite.cases {
            write_case(out, case)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn write_case(out: &mut String, case: &CaseOutcome) -> fmt::Result {
    write!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\"",
        escaped(&case.name),
        escaped(&case.tool),
        seconds(case.took)
    )?;
    let Some(first) = case.findings.first() else { return writeln!(out, "/>") };
    writeln!(out, ">")?;
    write!(out, "      <failure message=\"{}\">", escaped(first.title.trim_end_matches(':')))?;
    for finding in &case.findings {
        writeln!(out, "{}", escaped(&finding.title))?;
        for detail in &finding.details {
            writeln!(out, "  {}", escaped(detail))?;
        }
    }
    writeln!(out, "</failure>")?;
    writeln!(out, "    </testcase>")
}

fn numbers(suites: &[SuiteOutcome], time: Duration) -> String {
    let Counts { passed, failed } = Counts::of(suites);
    format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"{}\"",
        passed + failed,
        seconds(time)
    )
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// A text that can stand in XML, in attributes too. What XML has no way to say becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                // As itself it would be read as a space.
                write!(out, "&#{};", character as u32).unwrap_or_default();
            }
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
