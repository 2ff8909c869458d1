//! The official suites of the expression languages, through the code that nodes use.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
#![expect(clippy::print_stdout, reason = "the counts are part of what the tests show")]

mod jsonata;
mod jsonlogic;
mod jsonpath;

use std::path::{Path, PathBuf};

use mcpgraph_value::Value;

/// The folder of a suite, if the suites are at hand.
fn suite(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("MCPGRAPH_SUITES").map(PathBuf::from);
    let beside = || {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        above.map(|folder| folder.join("../shared/suites")).find(|folder| folder.is_dir())
    };
    given.or_else(beside).map(|suites| suites.join(name)).filter(|folder| folder.is_dir())
}

/// The folder of a suite; without it the test ends with a note.
macro_rules! suite_or_skip {
    ($name:literal) => {
        match crate::suite($name) {
            Some(folder) => folder,
            None => {
                println!("skipped: no suite");
                return;
            }
        }
    };
}
use suite_or_skip;

fn read(path: &Path) -> Value {
    try_read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn try_read(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Value::from_json(&text).map_err(|error| error.to_string())
}

/// Compares the cases that failed with those that are known to differ, by name.
fn settle(suite: &str, total: usize, failed: &[(String, String)], known: &[(&str, &str)]) {
    println!("{suite}: {} of {total} cases agree", total - failed.len());
    for (name, reason) in known {
        println!("{suite}: {name} differs: {reason}");
    }
    let surprising: Vec<_> =
        failed.iter().filter(|(name, _)| !known.iter().any(|(known, _)| known == name)).collect();
    for (name, what) in &surprising {
        println!("{suite}: {name}: {what}");
    }
    let fixed: Vec<_> =
        known.iter().filter(|(name, _)| !failed.iter().any(|(failed, _)| failed == name)).collect();
    assert!(surprising.is_empty(), "{} cases differ unexpectedly", surprising.len());
    assert!(fixed.is_empty(), "these agree now: {fixed:?}");
}
