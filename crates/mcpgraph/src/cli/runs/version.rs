//! The version of the graph a recorded run is done again on.

use mcpgraph_diagnostics::Source;
use mcpgraph_journal::RunSummary;

use super::super::args::FileArgs;
use super::{Runs, failed, output};
use crate::load::{self, Loaded, Servers};

/// The version that was recorded, with servers from elsewhere or without any.
pub(super) fn recorded(runs: &Runs, run: &RunSummary, servers: Servers) -> anyhow::Result<Loaded> {
    let text = runs.journal.definition_of(run)?.ok_or_else(|| {
        failed(format!("the graph of run {} was not kept; name a file with -g", run.id))
    })?;
    let loaded = load::load_recorded(&Source::new(RECORDED, &*text), servers);
    if loaded.graph.is_none() {
        output::diagnostics(&loaded.diagnostics);
        return Err(failed(
            "the recorded graph cannot be used, perhaps because something in it was masked; name \
             a file with -g",
        ));
    }
    Ok(loaded)
}

/// The name under which diagnostics speak of the recorded version.
const RECORDED: &str = "recorded.yaml";

/// The version in files, of which no server will be called.
pub(super) fn without_servers(files: &FileArgs) -> anyhow::Result<Loaded> {
    let files = files.files()?;
    let loaded = match load::read(&files.graph) {
        Ok(source) => load::load_recorded(&source, Servers::Unused),
        Err(diagnostics) => Loaded { file: None, graph: None, diagnostics },
    };
    output::diagnostics(&loaded.diagnostics);
    Ok(loaded)
}

/// The version that is current.
pub(super) fn current(files: &FileArgs) -> anyhow::Result<Loaded> {
    let loaded = files.files_or(", go on with the recorded one with --recorded")?.load();
    output::diagnostics(&loaded.diagnostics);
    Ok(loaded)
}

/// The servers of the current files, if there are any files; else the recorded ones.
pub(super) fn current_servers(files: &FileArgs) -> anyhow::Result<Servers> {
    if files.graph.is_none() && files.mcp.is_none() && files.files().is_err() {
        return Ok(Servers::Own);
    }
    let loaded = current(files)?;
    match (loaded.file, loaded.graph) {
        (Some(file), Some(_)) => Ok(Servers::Other(file.servers)),
        _ => Err(failed("the file whose servers would be called has errors")),
    }
}
