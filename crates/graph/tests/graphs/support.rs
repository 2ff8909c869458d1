//! Reading the graph files of the tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_graph::Graph;

/// The YAML files of a folder beside this file, in order.
pub(crate) fn files(folder: &str) -> Vec<(String, Arc<Source>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let source = Source::new(&name, std::fs::read_to_string(&path).unwrap());
            (name.trim_end_matches(".yaml").to_owned(), source)
        })
        .collect()
}

/// Reads and compiles a file; everything that is wrong with it in one list.
pub(crate) fn compile(source: &Arc<Source>) -> (Option<Graph>, Diagnostics) {
    let (file, mut diagnostics) = mcpgraph_config::read_graph(source, &|_| None);
    let graph = file.and_then(|file| {
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        graph
    });
    (graph, diagnostics)
}
