use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use mcpgraph_files::SaveError;
use mcpgraph_runtime::Instruments;
use mcpgraph_toolkit::{Documents, Loaded, NotSaved, Toolkit};

use super::args::{FileArgs, HistoryArgs};
use super::watch::Watch;
use super::{Exit, Threads, block_on, output, serve};
use crate::api::upstream_options;
use crate::durable::Identity;
use crate::load::{self, Files};
use crate::masks::Masks;

/// Serves the toolkit of a graph file over stdio.
pub(super) fn serve(files: &FileArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let files = files.files()?;
    let loaded = files.load();
    output::diagnostics(&loaded.diagnostics);
    // What is wrong with the graph file can be mended with the toolkit, but not with the other.
    let file = loaded.file.filter(|_| !files.added_servers().has_errors());
    let Some(file) = file else { return Ok(Exit::of(&loaded.diagnostics)) };
    let identity = Identity::new(file.server.name.as_str(), Some(&files));
    let watch = Watch::start(history, &identity, false);
    block_on(Threads::One, async move {
        let documents = OnDisk::new(files, watch.instruments());
        let options = upstream_options();
        let toolkit = Toolkit::new(Arc::new(documents), options, watch.instruments());
        let outcome = serve::over_stdio(Arc::clone(&toolkit) as _).await;
        toolkit.close().await;
        drop(toolkit);
        watch.end().await;
        outcome
    })
}

/// The files where the command line says they are.
pub(super) struct OnDisk {
    files: Files,
    masks: Masks,
    instruments: Instruments,
}

impl OnDisk {
    /// What they say secretly is masked in records and traces.
    pub(super) fn new(files: Files, instruments: Instruments) -> Self {
        Self { files, masks: Masks::default(), instruments }
    }

    fn loaded(&self, loaded: load::Loaded) -> Loaded {
        let load::Loaded { file, graph, mut diagnostics } = loaded;
        if let Some(file) = &file {
            self.masks.add(file, &self.instruments);
            file.fill_pointers(&mut diagnostics);
        }
        Loaded { file, graph, diagnostics }
    }
}

/// The edit would not change the text there is.
#[derive(Debug)]
struct Declined;

impl Documents for OnDisk {
    fn source(&self) -> Result<Arc<Source>, String> {
        mcpgraph_files::read(&self.files.graph).map_err(|error| error.to_string())
    }

    fn read(&self) -> Loaded {
        self.loaded(self.files.load())
    }

    fn with_text(&self, text: &str) -> Loaded {
        let source = Source::new(self.files.graph.display().to_string(), text);
        self.loaded(self.files.load_with(&source))
    }

    fn save(
        &self,
        seen: &Source,
        edit: &mut dyn FnMut(&Arc<Source>) -> Option<String>,
    ) -> Result<(), NotSaved> {
        match mcpgraph_files::save(&self.files.graph, seen, |now| edit(now).ok_or(Declined)) {
            Ok(_) => Ok(()),
            Err(SaveError::Edit(Declined) | SaveError::Changed { .. }) => Err(NotSaved::Declined),
            Err(SaveError::Read(error)) => Err(NotSaved::Failed(error.to_string())),
            Err(SaveError::Io { error, .. }) => Err(NotSaved::Failed(error.to_string())),
        }
    }
}
