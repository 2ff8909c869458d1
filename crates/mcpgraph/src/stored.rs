//! The workflows of the store, put around what is served, and followed as they change.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::{Colour, to_terminal};
use mcpgraph_gateway::Gateway;
use mcpgraph_journal::News;
use mcpgraph_workflows::{Library, LibraryError};

/// How often the store is asked whether somebody changed it, should nobody say so.
const LOOK: Duration = Duration::from_millis(500);

/// Puts the workflows in use around what is served; gives the version they are of.
///
/// One that cannot be used is an error: what it guards must not be served without it.
pub(crate) fn begin(library: &Library, gateway: &Gateway) -> anyhow::Result<i64> {
    let version = library.version()?;
    let graphs = library.in_use().map_err(|error| anyhow::anyhow!(explain(&error)))?;
    if !graphs.is_empty() {
        gateway.set_workflows(graphs);
    }
    Ok(version)
}

/// Takes over what changes in the store after `seen`, until the future is dropped. What cannot be
/// used is reported, and what was there before stays.
pub(crate) async fn follow(library: Library, gateway: Arc<Gateway>, mut seen: i64) {
    let mut news = library.news();
    loop {
        let changed = async {
            while !matches!(news.next().await, Some(News::Definitions | News::Anything) | None) {}
        };
        // Whether it was said or is only looked for, the store knows.
        drop(tokio::time::timeout(LOOK, changed).await);
        let store = library.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let version = store.version()?;
            Ok::<_, LibraryError>((
                version,
                if version == seen { None } else { Some(store.in_use()) },
            ))
        });
        match looked.await {
            Ok(Ok((version, Some(graphs)))) => {
                seen = version;
                match graphs {
                    Ok(graphs) => {
                        gateway.set_workflows(graphs);
                        tracing::info!("workflows changed");
                    }
                    Err(error) => tracing::error!(
                        "the workflows that were in use before are still used: {}",
                        explain(&error)
                    ),
                }
            }
            Ok(Ok((_, None))) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the store cannot be read"),
            Err(_) => return,
        }
    }
}

fn explain(error: &LibraryError) -> String {
    let details = error.diagnostics().map(|found| to_terminal(found, Colour::Plain));
    let code = error.code().map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{error}{code}\n{}", details.unwrap_or_default())
}
