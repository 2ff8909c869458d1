use mcpgraph_diagnostics::{Diagnostics, to_json};

use super::args::{CheckArgs, FileArgs, HistoryArgs, ReportFormat};
use super::{Exit, output, test};
use crate::load::Files;
use crate::sops;

/// Reports everything that is wrong with some files: graph files, test files and procedures.
pub(super) fn check(args: &CheckArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let mut all = Diagnostics::new();
    for path in &args.paths {
        let (mcp, edgelake) = (args.mcp.clone(), args.edgelake.clone());
        all.extend(if test::is_test_file(path) {
            test::problems(path, &FileArgs { graph: None, mcp, edgelake }, history)
        } else if sops::is_procedure(path) {
            sops::read_all([path.as_path()]).diagnostics
        } else {
            Files { graph: path.clone(), mcp, edgelake }.load().diagnostics
        });
    }
    match args.format {
        ReportFormat::Json => {
            output::data(&format!("{}\n", serde_json::to_string_pretty(&to_json(&all))?))?;
        }
        ReportFormat::Text => {
            output::diagnostics_as_data(&all)?;
            output::say(&summary(&all, args.paths.len()));
        }
    }
    Ok(Exit::of(&all))
}

fn summary(all: &Diagnostics, files: usize) -> String {
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        number => format!("{number} {word}s"),
    };
    let found: Vec<String> = [(all.error_count(), "error"), (all.warning_count(), "warning")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| count(number, word))
        .collect();
    let found = if found.is_empty() { String::from("no problems") } else { found.join(", ") };
    format!("{} checked, {found}\n", count(files, "file"))
}
