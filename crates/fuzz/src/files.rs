use mcpgraph_diagnostics::{Colour, Source, to_json, to_terminal};

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
