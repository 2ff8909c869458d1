use std::time::Duration;

use mcpgraph_diagnostics::{Diagnostics, to_json};
use mcpgraph_value::{Map, Value};
use serde_json::json;

use super::super::compare::Finding;
use super::super::execute::{CaseOutcome, SuiteOutcome};
use super::Counts;

/// One object with everything.
pub(super) fn report(suites: &[SuiteOutcome]) -> String {
    let Counts { passed, failed } = Counts::of(suites);
    let mut report = Map::from_iter([("passed", passed), ("failed", failed)]);
    report.insert("files", suites.iter().map(suite).collect::<Vec<Value>>());
    Value::from(report).to_json_pretty() + "\n"
}

/// The same where files have errors and no test was run.
pub(super) fn problems(diagnostics: &Diagnostics) -> anyhow::Result<String> {
    let problems = to_json(diagnostics)["diagnostics"].take();
    let report = json!({ "passed": 0, "failed": 0, "files": [], "problems": problems });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn suite(suite: &SuiteOutcome) -> Value {
    let mut map = Map::from_iter([("file", suite.name.as_str())]);
    map.insert("tests", suite.cases.iter().map(case).collect::<Vec<Value>>());
    map.into()
}

fn case(case: &CaseOutcome) -> Value {
    let mut map = Map::new();
    map.insert("name", case.name.as_str());
    map.insert("tool", case.tool.clone());
    map.insert("passed", case.passed());
    map.insert("durationMs", millis(case.took));
    match &case.outcome {
        Ok(result) => map.insert("result", result.clone()),
        Err(error) => map.insert("error", error.to_value()),
    };
    map.insert("path", case.path.iter().cloned().map(Value::from).collect::<Vec<Value>>());
    map.insert("findings", case.findings.iter().map(finding).collect::<Vec<Value>>());
    map.into()
}

fn finding(finding: &Finding) -> Value {
    let details = finding.details.iter().map(|line| Value::from(line.as_str()));
    let mut map = Map::from_iter([("message", finding.title.trim_end_matches(':'))]);
    map.insert("details", details.collect::<Vec<Value>>());
    map.into()
}

fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
