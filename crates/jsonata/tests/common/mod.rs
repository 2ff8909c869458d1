//! The official test suite as data.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "part of several tests, of which not all use everything"
)]

use std::path::{Path, PathBuf};

use mcpgraph_value::Value;

/// Cases that cannot be run, because their text has a lone surrogate, which neither a JSON text in
/// UTF-8 nor a Rust string can hold. Not every edition of the suite has both.
const LONE_SURROGATES: [&str; 2] =
    ["function-encodeUrl/case002", "function-encodeUrlComponent/case002"];

/// One case of the suite.
pub(crate) struct Case {
    /// Group and file, such as `function-sum/case000`.
    pub(crate) name: String,
    /// The expression.
    pub(crate) expr: String,
    /// Everything else the file says.
    pub(crate) fields: Value,
}

/// Where the suite is, or `None` (with a note) if it is not there.
pub(crate) fn suite() -> Option<PathBuf> {
    let suites = std::env::var_os("MCPGRAPH_SUITES").map(PathBuf::from).or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|folder| folder.join("../shared/suites"))
            .find(|folder| folder.is_dir())
    });
    let suite = suites.map(|folder| folder.join("jsonata")).filter(|folder| folder.is_dir());
    if suite.is_none() {
        println!("skipped: no suite");
    }
    suite
}

/// Every case, in a stable order.
pub(crate) fn cases(suite: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for group in sorted(&suite.join("groups")) {
        for file in
            sorted(&group).into_iter().filter(|file| file.extension().is_some_and(|e| e == "json"))
        {
            let name = format!("{}/{}", stem(&group), stem(&file));
            let text = std::fs::read_to_string(&file).unwrap();
            if LONE_SURROGATES.contains(&name.as_str()) {
                println!("left out: {name} (lone surrogate)");
                continue;
            }
            let content = Value::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            match content.as_array() {
                Some(list) => cases.extend(list.iter().enumerate().map(|(index, fields)| {
                    case(&group, format!("{name}#{index}"), fields.clone())
                })),
                None => cases.push(case(&group, name, content)),
            }
        }
    }
    cases
}

fn case(group: &Path, name: String, fields: Value) -> Case {
    let expr = match fields.get("expr-file").and_then(Value::as_str) {
        Some(file) => std::fs::read_to_string(group.join(file)).unwrap(),
        None => fields.get("expr").and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    Case { name, expr, fields }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The input of a case.
pub(crate) fn data(suite: &Path, case: &Case) -> Option<Value> {
    if let Some(data) = case.fields.get("data") {
        return Some(data.clone());
    }
    let dataset = case.fields.get("dataset")?.as_str()?;
    let text = std::fs::read_to_string(suite.join(format!("datasets/{dataset}.json"))).unwrap();
    Some(Value::from_json(&text).unwrap())
}

/// Whether a result is the expected one; numbers may differ in how they are held.
pub(crate) fn same(expected: Option<&Value>, got: Option<&Value>, unordered: bool) -> bool {
    match (expected, got) {
        (Some(Value::Array(expected)), Some(Value::Array(got))) if unordered => {
            expected.len() == got.len() && expected.iter().all(|item| got.contains(item))
        }
        (expected, got) => expected == got,
    }
}
