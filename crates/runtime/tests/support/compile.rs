//! Compiles the graphs of tests.

use std::sync::Arc;

use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_graph::Graph;

/// The graph, or what is wrong with it.
pub(crate) fn compile(text: &str) -> Result<Arc<Graph>, String> {
    let source = Source::new("graph.yaml", text);
    let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    let graph = file.and_then(|file| {
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        graph
    });
    match graph {
        Some(graph) if !diagnostics.has_errors() => Ok(Arc::new(graph)),
        _ => Err(to_terminal(&diagnostics, Colour::Plain)),
    }
}
