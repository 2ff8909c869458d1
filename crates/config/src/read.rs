use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};

use crate::decode::{self, Lookup, Problems};
use crate::model::{GraphFile, ServerDef, TestFile};
use crate::{Tree, pointers, yaml};

/// Reads a graph file: what could be read, and everything that is wrong with it.
///
/// The file is there even with errors, as far as it could be understood, so that later checks can
/// report their findings too; it is none only if the text is not YAML or not a mapping. It may be
/// used only if the diagnostics have no errors.
pub fn read_graph(source: &Arc<Source>, lookup: Lookup<'_>) -> (Option<GraphFile>, Diagnostics) {
    read(source, |tree, problems| decode::graph_file(tree, lookup, problems))
}

/// Reads the servers of an `mcp.json`, as MCP clients keep it.
pub fn read_mcp_json(source: &Arc<Source>, lookup: Lookup<'_>) -> (Vec<ServerDef>, Diagnostics) {
    let (servers, diagnostics) =
        read(source, |tree, problems| Some(decode::mcp_json(tree, lookup, problems)));
    (servers.unwrap_or_default(), diagnostics)
}

/// Reads a file of tests, as [`read_graph`] reads a graph file.
pub fn read_tests(source: &Arc<Source>) -> (Option<TestFile>, Diagnostics) {
    read(source, decode::test_file)
}

/// Adds the servers of an `mcp.json` to a graph file; where both define one, the graph's counts.
pub fn merge_servers(graph: &mut GraphFile, servers: Vec<ServerDef>) {
    for server in servers {
        if graph.server(&server.name).is_none() {
            graph.servers.push(server);
        }
    }
}

fn read<T>(
    source: &Arc<Source>,
    decode: impl FnOnce(&Arc<Tree>, &mut Problems) -> Option<T>,
) -> (Option<T>, Diagnostics) {
    let (tree, found) = yaml::parse(source);
    let mut problems = Problems::new(source, found);
    let Some(tree) = tree else { return (None, problems.found) };
    let value = decode(&tree, &mut problems);
    let mut diagnostics = problems.found;
    pointers::fill(source, &tree, &mut diagnostics);
    diagnostics.sort();
    (value, diagnostics)
}
