use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_expr::{Budget, Env, ExprError, Jsonata, PlainScope, Scope};
use mcpgraph_value::Value;

use crate::{read, settle, suite_or_skip, try_read};

/// The cases whose outcome is another one here, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("descendent-operator/case016", UNDEFINED),
    ("encoding/case001", UNDEFINED),
    ("encoding/case003", UNDEFINED),
    ("function-encodeUrl/case002", "a lone surrogate, which a text cannot hold"),
    ("function-string/case022", UNDEFINED),
    ("function-trim/case002", UNDEFINED),
    ("tail-recursion/case002", "D1011; U1001 is raised by the reference's test runner"),
    ("tail-recursion/case005", "D1011; U1001 is raised by the reference's test runner"),
    ("tail-recursion/case006", "D1012; U1001 is raised by the reference's test runner"),
    ("transform/case022", UNDEFINED),
];

const UNDEFINED: &str = "the context is undefined, which it never is here";

#[test]
fn every_case_of_jsonata() {
    let folder = suite_or_skip!("jsonata");
    let mut total = 0;
    let mut failed = Vec::new();
    for group in sorted(&folder.join("groups")) {
        for file in sorted(&group) {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let name = format!(
                "{}/{}",
                group.file_name().unwrap().display(),
                file.file_stem().unwrap().display()
            );
            let cases = match try_read(&file) {
                Ok(cases) => cases,
                Err(error) => {
                    total += 1;
                    failed.push((name, error));
                    continue;
                }
            };
            let single = std::slice::from_ref(&cases);
            let cases = cases.as_array().map_or(single, |cases| cases.as_slice());
            for (index, case) in cases.iter().enumerate() {
                let name = if cases.len() > 1 { format!("{name}[{index}]") } else { name.clone() };
                total += 1;
                if let Err(what) = check(case, &folder, &group) {
                    failed.push((name, what));
                }
            }
        }
    }
    assert!(total > 1000, "only {total} cases found");
    settle("JSONata", total, &failed, DIFFERENT);
}

fn sorted(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn check(case: &Value, folder: &Path, group: &Path) -> Result<(), String> {
    let source = match (case.get("expr"), case.get("expr-file")) {
        (Some(expr), _) => expr.as_str().unwrap().to_owned(),
        (None, Some(file)) => std::fs::read_to_string(group.join(file.as_str().unwrap())).unwrap(),
        (None, None) => return Err("no expression".to_owned()),
    };
    let source = with_bindings(&source, case.get("bindings"));
    let input = match (case.get("data"), case.get("dataset")) {
        (Some(data), _) => data.clone(),
        (None, Some(Value::String(name))) => {
            read(&folder.join("datasets").join(format!("{name}.json")))
        }
        // Undefined cannot be a context; the nearest is a context without anything in it.
        _ => Value::object(mcpgraph_value::Map::new()),
    };
    // One case counts to ten million.
    let mut budget = Budget { sequence: 10_000_000, bytes: 4 << 30, ..Budget::default() };
    if let Some(depth) = case.get("depth").and_then(Value::as_i64) {
        budget.depth = usize::try_from(depth).unwrap();
    }
    if let Some(limit) = case.get("timelimit").and_then(Value::as_i64) {
        // Where a value is expected the limit is only there to find loops without an end.
        let least = if case.get("code").is_some() { 0 } else { 60 };
        budget.time = Duration::from_millis(limit.unsigned_abs()).max(Duration::from_secs(least));
    }
    // A case compares the day of `$now()` with that of the engine's own clock.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let env = Env { budget, ..Env::at(i64::try_from(now).unwrap()) };
    let scope: Arc<dyn Scope> = PlainScope::shared(input);
    let outcome = Jsonata::compile(&source).and_then(|expression| expression.eval(&scope, &env));
    judge(case, &outcome)
}

/// The face has no bindings; the suite's are put before the expression.
fn with_bindings(source: &str, bindings: Option<&Value>) -> String {
    let Some(bindings) = bindings.and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        return source.to_owned();
    };
    let bound: Vec<_> =
        bindings.iter().map(|(name, value)| format!("${name} := {value}")).collect();
    format!("({}; {source})", bound.join("; "))
}

fn judge(case: &Value, outcome: &Result<Option<Value>, ExprError>) -> Result<(), String> {
    let code = case.get("code").or_else(|| case.pointer("/error/code")).and_then(Value::as_str);
    match (outcome, code, case.get("result")) {
        (Err(error), Some(code), _) if error.code == code => {
            let token = case.get("token").or_else(|| case.pointer("/error/token"));
            match token.and_then(Value::as_str) {
                Some(token) if error.token.as_deref() != Some(token) => {
                    Err(format!("token {:?} instead of `{token}`", error.token))
                }
                _ => Ok(()),
            }
        }
        (Err(error), Some(code), _) => Err(format!("{error} instead of {code}")),
        (Ok(result), Some(code), _) => Err(format!("{result:?} instead of {code}")),
        (Err(error), None, expected) => Err(format!("{error} instead of {expected:?}")),
        (Ok(Some(result)), None, Some(expected)) => {
            let unordered = case.get("unordered").and_then(Value::as_bool) == Some(true);
            let same = if unordered { same_items(result, expected) } else { result == expected };
            if same { Ok(()) } else { Err(format!("{result} instead of {expected}")) }
        }
        (Ok(None), None, None) => Ok(()),
        (Ok(result), None, expected) => Err(format!("{result:?} instead of {expected:?}")),
    }
}

fn same_items(a: &Value, b: &Value) -> bool {
    let sorted = |value: &Value| {
        let mut items: Vec<_> = value
            .as_array()
            .map(|items| items.iter().map(Value::to_json).collect())
            .unwrap_or_default();
        items.sort();
        items
    };
    sorted(a) == sorted(b)
}
