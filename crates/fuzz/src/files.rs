use std::sync::Arc;

use mcpgraph_diagnostics::{Colour, Source, to_json, to_terminal};
use mcpgraph_sop::{Mode, Walk};

/// The loader of graph files, with the checks and both ways of showing what is wrong.
pub fn graph_file(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = Source::new("graph.yaml", text);
    let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    if let Some(file) = file {
        let (graph, found) = mcpgraph_graph::compile(&file);
        let is_valid = !diagnostics.has_errors() && !found.has_errors();
        diagnostics.extend(found);
        assert!(!is_valid || graph.is_some(), "a file without errors has a graph");
        for tool in graph.iter().flat_map(|graph| &graph.tools) {
            drop((mcpgraph_graph::mermaid(tool), mcpgraph_graph::dot(tool)));
        }
    }
    diagnostics.sort();
    drop((to_terminal(&diagnostics, Colour::Ansi), to_json(&diagnostics)));
}

/// The loader of `mcp.json`.
pub fn mcp_json(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = Source::new("mcp.json", text);
    let (_, diagnostics) = mcpgraph_config::read_mcp_json(&source, &|name| Some(name.to_owned()));
    drop(to_terminal(&diagnostics, Colour::Plain));
}

/// The loader of test files.
pub fn test_file(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (_, diagnostics) = mcpgraph_config::read_tests(&Source::new("graph.test.yaml", text));
    drop(to_terminal(&diagnostics, Colour::Plain));
}

/// The loader of procedures, with what is shown of one and a move to each of its nodes.
pub fn procedure(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (procedure, diagnostics) = mcpgraph_sop::read(&Source::new("procedure.md", text));
    drop((to_terminal(&diagnostics, Colour::Ansi), to_json(&diagnostics)));
    assert_eq!(procedure.is_some(), !diagnostics.has_errors(), "what is read has no errors");
    let Some(procedure) = procedure.map(Arc::new) else { return };
    let mut walk = Walk::new(Arc::clone(&procedure), Mode::Enforced);
    for (now, id) in procedure.chart.ids().enumerate().take(100) {
        drop((walk.go(id, now as u64), walk.next(now as u64)));
    }
}
