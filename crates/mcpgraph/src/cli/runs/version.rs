//! The version of the graph a recorded run is done again on.

use std::sync::Arc;

use mcpgraph_diagnostics::{Source, printable};
use mcpgraph_engine::Event;
use mcpgraph_graph::Graph;
use mcpgraph_journal::{RunSummary, Targets};

use super::super::args::FileArgs;
use super::{Runs, failed, output};
use crate::load::{self, Loaded, Servers};

/// The version that was recorded, with servers from elsewhere or without any.
pub(super) fn recorded(runs: &Runs, run: &RunSummary, servers: Servers) -> anyhow::Result<Loaded> {
    let text = text(runs, run)?.ok_or_else(|| {
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

fn text(runs: &Runs, run: &RunSummary) -> anyhow::Result<Option<Arc<str>>> {
    Ok(run.definition.map_or(Ok(None), |digest| runs.journal.definition(digest))?)
}

/// The version with a recorded text, of which no server will be called.
pub(super) fn of_text(text: &str) -> Loaded {
    load::load_recorded(&Source::new(RECORDED, text), Servers::Unused)
}

/// What the steps of a record called, held against what they call in another version.
pub(super) struct Calls {
    pub(super) targets: Targets,
    /// Why they could not be compared, if so.
    pub(super) unknown: Option<String>,
}

impl Calls {
    /// Those of the recorded version itself.
    pub(super) fn same() -> Self {
        Self { targets: Targets::default(), unknown: None }
    }

    /// Compares them, as far as the recorded version can still be read.
    pub(super) fn compare(
        runs: &Runs,
        run: &RunSummary,
        record: &[Event],
        now: &Graph,
    ) -> anyhow::Result<Self> {
        let unknown = |why: String| Self { unknown: Some(why), ..Self::same() };
        let Some(text) = text(runs, run)? else {
            return Ok(unknown(format!("the graph of run {} was not kept", run.id)));
        };
        let loaded = of_text(&text);
        Ok(match loaded.graph {
            Some(recorded) if recorded.runnable(&run.tool).is_none() => {
                unknown(format!("the recorded graph has no `{}`", printable(&run.tool)))
            }
            Some(recorded) => {
                Self { targets: Targets::compare(record, &run.tool, &recorded, now), unknown: None }
            }
            None => {
                let first = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
                let first = first.map_or(String::new(), |diagnostic| {
                    format!(": {} [{}]", printable(&diagnostic.message), diagnostic.code)
                });
                unknown(format!("the recorded graph cannot be compiled any more{first}"))
            }
        })
    }

    /// What is to be said of a comparison that could not be made.
    pub(super) fn note(&self) -> Option<String> {
        let why = self.unknown.as_ref()?;
        Some(format!(
            "whether nodes call what they called when it was recorded is not known: {why}"
        ))
    }
}

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
    let loaded = files.files()?.load();
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
