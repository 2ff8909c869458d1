use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source, Span};
use mcpgraph_value::{Map, Value};

use crate::decode::{self, Lookup, Problems};
use crate::model::{
    BackendDef, BackendKind, Expanded, FrontMatter, GraphFile, NodeDef, NodeKind, PromptDef,
    ServerDef, TestFile,
};
use crate::{Style, Text, Tree, pointers, yaml};

/// Reads a graph file: what could be read, and everything that is wrong with it.
///
/// The file is there even with errors, as far as it could be understood, so that later checks can
/// report their findings too; it is none only if the text is not YAML, not a mapping, or servers as no
/// mcp.json has them. It may be used only if the diagnostics have no errors.
pub fn read_graph(source: &Arc<Source>, lookup: Lookup<'_>) -> (Option<GraphFile>, Diagnostics) {
    read(source, |tree, problems| decode::graph_file(tree, lookup, problems))
}

/// What stands for every variable and address that nobody needs: it is fit to be an address, a
/// program and a text.
pub const UNSET: &str = "http://unset";

/// Reads a graph file of which nothing outside will be called, as [`read_graph`] does. No variable
/// has to be set, and servers and the EdgeLake node that other files would name need not be known.
pub fn read_graph_alone(source: &Arc<Source>) -> (Option<GraphFile>, Diagnostics) {
    let unset = |_: &str| Some(UNSET.to_owned());
    let (mut file, diagnostics) = read_graph(source, &unset);
    if let Some(file) = &mut file {
        if file.backends.is_empty() {
            set_edgelake(file, UNSET);
        }
        let names = server_names(file.tools.iter().flat_map(|tool| &tool.nodes));
        let definitions: Map =
            names.map(|name| (name.to_arc(), Map::from_iter([("command", "unused")]))).collect();
        let text = Value::from(Map::from_iter([("mcpServers", definitions)])).to_json();
        // What is wrong with a name is said where it stands.
        let (servers, _) = read_mcp_json(&Source::new("unused", text), &unset);
        merge_servers(file, servers);
    }
    (file, diagnostics)
}

/// The servers that nodes name, inside other nodes too.
fn server_names<'f>(nodes: impl Iterator<Item = &'f NodeDef>) -> impl Iterator<Item = &'f Text> {
    let mut open: Vec<&NodeDef> = nodes.collect();
    std::iter::from_fn(move || {
        while let Some(node) = open.pop() {
            match &node.kind {
                NodeKind::Mcp(mcp) => return Some(&mcp.server),
                NodeKind::Foreach(foreach) => open.extend(&foreach.body),
                NodeKind::Parallel(parallel) => {
                    open.extend(parallel.branches.iter().flat_map(|branch| &branch.nodes));
                }
                _ => {}
            }
        }
        None
    })
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

/// Reads the front matter of a procedure, which stands at `part` of the file.
pub fn read_front_matter(source: &Arc<Source>, part: Span) -> (Option<FrontMatter>, Diagnostics) {
    read_part(source, part, decode::front_matter)
}

/// Reads the servers of a procedure's front matter, with their variables.
pub fn read_procedure_servers(
    source: &Arc<Source>,
    part: Span,
    lookup: Lookup<'_>,
) -> (Vec<ServerDef>, Diagnostics) {
    let (servers, diagnostics) = read_part(source, part, |tree, problems| {
        Some(decode::procedure_servers(tree, lookup, problems))
    });
    (servers.unwrap_or_default(), diagnostics)
}

/// Reads a block with the prompts of all nodes of a procedure.
pub fn read_prompts(source: &Arc<Source>, part: Span) -> (Vec<(Text, PromptDef)>, Diagnostics) {
    let (prompts, diagnostics) =
        read_part(source, part, |tree, problems| Some(decode::prompts(tree, problems)));
    (prompts.unwrap_or_default(), diagnostics)
}

/// Reads a block with what belongs to one node of a procedure.
pub fn read_prompt(source: &Arc<Source>, part: Span) -> (Option<PromptDef>, Diagnostics) {
    read_part(source, part, decode::prompt)
}

/// Reads YAML that is a part of a file of another kind; places are those of the whole file, and
/// there are no pointers, since the file is no YAML document.
fn read_part<T>(
    source: &Arc<Source>,
    part: Span,
    decode: impl FnOnce(&Arc<Tree>, &mut Problems) -> Option<T>,
) -> (Option<T>, Diagnostics) {
    let (tree, found) = yaml::parse_part(source, part);
    let mut problems = Problems::new(source, found);
    let value = tree.and_then(|tree| decode(&tree, &mut problems));
    (value, problems.found)
}

/// Sends the EdgeLake commands of a file to this node, whatever the file says.
pub fn set_edgelake(graph: &mut GraphFile, url: &str) {
    let span = graph.tree.span;
    let url = Expanded { value: url.to_owned(), span, secrets: Vec::new() };
    let kind = BackendKind::EdgeLake { url };
    let is_edgelake =
        |backend: &&mut BackendDef| matches!(backend.kind, BackendKind::EdgeLake { .. });
    match graph.backends.iter_mut().find(is_edgelake) {
        Some(backend) => backend.kind = kind,
        None => {
            let name = Text::new("edgelake", span, Style::Plain);
            graph.backends.push(BackendDef { span, name, kind });
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
