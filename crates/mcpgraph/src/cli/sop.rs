use std::path::PathBuf;

use mcpgraph_diagnostics::Source;

use super::args::{HistoryArgs, SopArgs};
use super::serve::{self, Served};
use super::transport::Transport;
use super::{Exit, output, usage};
use crate::load;
use crate::sops::{self, Sops};

/// Serves procedures, and the tools of their servers where they bind.
pub(super) fn sop(args: &SopArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let transport = Transport::of(&args.listening, (&[], &[]), history)?;
    let read = sops::read_all(args.paths.iter().map(PathBuf::as_path));
    let enforce = args.enforce || read.binds();
    let loaded = load::load_sops(&server_text(&read), &read, args.mcp.as_deref(), enforce);
    let mut diagnostics = read.diagnostics.clone();
    diagnostics.extend(loaded.diagnostics);
    output::diagnostics(&diagnostics);
    let (Some(file), Some(graph), false) = (loaded.file, loaded.graph, diagnostics.has_errors())
    else {
        return Ok(Exit::of(&diagnostics));
    };
    let roots = args.root.iter().map(PathBuf::as_path);
    let sops = Sops::new(read, roots, enforce)?
        .loading_from(&args.allow_host)
        .map_err(|error| usage(error.to_string()))?;
    let catalogue = Some(sops.into());
    let (lenient, idle) = (args.lenient, args.idle);
    let served = Served { file, graph, catalogue, lenient, idle, files: None, seen: None };
    serve::serve_loaded(served, transport, history)
}

/// A graph file without tools of its own, for the server to introduce itself by.
fn server_text(read: &sops::Read) -> std::sync::Arc<Source> {
    let name = match &read.procedures[..] {
        [(_, only)] => only.agent(),
        _ => "procedures",
    };
    let text = serde_json::json!({
        "server": { "name": name, "version": env!("CARGO_PKG_VERSION") },
        "tools": [],
    });
    Source::new("mcpgraph sop", text.to_string())
}
