//! Hot reload: an edited file is checked and swapped in; a broken one is reported and ignored.

mod folders;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Colour, to_terminal};
use mcpgraph_gateway::Gateway;
use mcpgraph_graph::{Digest, Graph};
use mcpgraph_procedures::Procedures;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::folders::Folders;
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
    let mut folders = match Folders::watch(&files, changed) {
        Ok(folders) => folders,
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
        // Before the files are read: what changes in between is seen in the new folders.
        if let Err(error) = folders.follow(&files) {
            tracing::debug!(%error, "a folder cannot be watched");
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

/// What the files say now. Other files in the folder change too, and saving may change nothing.
pub(crate) fn fingerprint(files: &Files) -> Fingerprint {
    let digest = |path: &Path| load::read(path).ok().map(|source| Digest::of(source.text()));
    Fingerprint(vec![digest(&files.graph), files.mcp.as_deref().and_then(digest)])
}
