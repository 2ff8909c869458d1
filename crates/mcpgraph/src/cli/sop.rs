use std::path::{Path, PathBuf};

use mcpgraph_diagnostics::Source;

use super::args::{HistoryArgs, SopArgs};
use super::serve::{self, Served, Transport};
use super::{Exit, output};
use crate::load;
use crate::sops::{self, Sops};

/// Serves procedures, and the tools of their servers where they bind.
pub(super) fn sop(args: &SopArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let transport = Transport::of(args.http, args.insecure, (&[], &[]), history)?;
    let read = sops::read_all(args.paths.iter().map(PathBuf::as_path));
    let enforce =
        args.enforce || read.procedures.iter().any(|(_, procedure)| procedure.front.enforce);
    let loaded = load::load_sops(&server_text(&read), &read, args.mcp.as_deref(), enforce);
    let mut diagnostics = read.diagnostics.clone();
    diagnostics.extend(loaded.diagnostics);
    output::diagnostics(&diagnostics);
    let (Some(file), Some(graph), false) = (loaded.file, loaded.graph, diagnostics.has_errors())
    else {
        return Ok(Exit::of(&diagnostics));
    };
    let root = args.root.as_deref().unwrap_or(Path::new("."));
    let library = Sops::new(read, root, enforce)
        .map_err(|error| anyhow::anyhow!("cannot use the folder `{}`: {error}", root.display()))?;
    let sops = Some((library, serve::Walking { enforce, lenient: args.lenient }));
    serve::serve_loaded(Served { file, graph, sops, files: None, seen: None }, transport, history)
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
