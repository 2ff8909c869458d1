//! Hot reload: an edited file is checked and swapped in; a broken one is reported and ignored.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Colour, to_terminal};
use mcpgraph_gateway::Gateway;
use mcpgraph_graph::{Digest, Graph};
use mcpgraph_procedures::Procedures;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::load::{self, Files};
use crate::{McpGraph, sops};

/// How long a file must be left alone before it is read: editors write in several steps.
const SETTLE: Duration = Duration::from_millis(100);

/// How long that is waited for: in a busy folder something else may change all the time.
const SETTLE_LIMIT: Duration = Duration::from_secs(1);

/// What files said when they were read, to tell whether they say something else now.
#[derive(PartialEq)]
pub(crate) struct Fingerprint(Vec<Option<Digest>>);

/// What clients see, and what a changed file replaces.
#[derive(Clone)]
pub(crate) struct Face {
    pub(crate) product: Arc<McpGraph>,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) procedures: Arc<Procedures>,
}

impl Face {
    /// Takes over a changed file.
    pub(crate) fn replace(&self, file: &GraphFile, graph: Arc<Graph>) {
        self.product.replace(&self.gateway, file, graph);
        match sops::catalogue_of(file) {
            Ok(catalogue) => self.procedures.replace(catalogue),
            Err(error) => tracing::error!(%error, "the procedures before it are still served"),
        }
    }
}

/// Follows the files, which were read when they had the fingerprint `seen`, until the future is
/// dropped.
pub(crate) async fn follow(files: Files, mut seen: Fingerprint, face: Face) {
    // One wake-up is enough however many changes there are: the files are read anew anyway.
    let (changed, mut wake) = mpsc::channel::<()>(1);
    // The first look is for what changed before the watch began.
    changed.try_send(()).ok();
    let _watcher = match watch(&files, changed) {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::warn!(%error, "the files cannot be watched; restart after a change");
            return;
        }
    };
    while wake.recv().await.is_some() {
        let limit = Instant::now() + SETTLE_LIMIT;
        // Looking now and then costs less than being woken by everything in the folder.
        loop {
            tokio::time::sleep(SETTLE).await;
            if wake.try_recv().is_err() || Instant::now() >= limit {
                break;
            }
        }
        let now = fingerprint(&files);
        if now == seen {
            continue;
        }
        seen = now;
        let loaded = files.load();
        let report = to_terminal(&loaded.diagnostics, Colour::Plain);
        match (loaded.file, loaded.graph) {
            (Some(file), Some(graph)) => {
                face.replace(&file, graph);
                tracing::info!(file = %files.graph.display(), "reloaded");
                if !report.is_empty() {
                    tracing::warn!("\n{report}");
                }
            }
            _ => tracing::error!(
                "`{}` has errors; the version before it is still served\n{report}",
                files.graph.display()
            ),
        }
    }
}

/// Watches the folders of the files: many editors replace a file instead of writing to it.
fn watch(files: &Files, changed: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error means that events were lost; one of them may have been ours.
        if event.is_ok_and(|event| is_only_reading(event.kind)) {
            return;
        }
        // Full means that a wake-up is on its way already.
        changed.try_send(()).ok();
    })?;
    for folder in folders(files) {
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

/// Whether nothing changed. We read the files too, and must not wake ourselves by that.
fn is_only_reading(kind: EventKind) -> bool {
    let closes = EventKind::Access(AccessKind::Close(AccessMode::Write));
    matches!(kind, EventKind::Access(_)) && kind != closes
}

fn folders(files: &Files) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = [Some(&files.graph), files.mcp.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        })
        .collect();
    folders.dedup();
    folders
}

/// What the files say now. Other files in the folder change too, and saving may change nothing.
pub(crate) fn fingerprint(files: &Files) -> Fingerprint {
    let digest = |path: &Path| load::read(path).ok().map(|source| Digest::of(source.text()));
    Fingerprint(vec![digest(&files.graph), files.mcp.as_deref().and_then(digest)])
}
