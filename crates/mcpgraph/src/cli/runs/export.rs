use std::path::Path;

use super::super::args::runs::ExportArgs;
use super::{Exit, Runs, output, print};

/// Writes a run as one document.
pub(super) fn export(args: &ExportArgs, runs: &Runs) -> anyhow::Result<Exit> {
    let run = runs.find(&args.id)?;
    let document = runs.journal.export(run.id)?;
    match &args.output {
        Some(path) if path != Path::new("-") => {
            let name = path.display();
            std::fs::write(path, document.to_json_pretty() + "\n")
                .map_err(|error| anyhow::anyhow!("cannot write `{name}`: {error}"))?;
            output::say(&format!("wrote run {} to {name}\n", run.id));
        }
        _ => print(&document)?,
    }
    Ok(Exit::Success)
}
