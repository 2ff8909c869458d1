//! From paths to a compiled graph, with everything that is wrong on the way.

use std::fs;
use std::io::{self, Read as _};
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use mcpgraph_config::model::{Expose, GraphFile, ServerDef};
use mcpgraph_config::{FILE_PREFIX, GRAPH_FOLDER, Lookup, OWN_PROGRAM};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, codes};
use mcpgraph_files::ReadError;
use mcpgraph_graph::Graph;

use crate::sops;

/// The files that make up a server.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The graph file.
    pub graph: PathBuf,
    /// A client's `mcp.json`, whose servers are added to the graph's own. If it is the graph file
    /// too, there are no tools but those of its servers.
    pub mcp: Option<PathBuf>,
    /// The EdgeLake node that commands are sent to, whatever the graph file says.
    pub edgelake: Option<String>,
}

/// What came of reading files.
#[derive(Debug)]
pub struct Loaded {
    /// The file as it was understood; none if it could not be.
    pub file: Option<GraphFile>,
    /// The graph; none if there are errors.
    pub graph: Option<Arc<Graph>>,
    /// Everything that is wrong or doubtful.
    pub diagnostics: Diagnostics,
}

impl Files {
    /// Reads, checks and compiles.
    pub fn load(&self) -> Loaded {
        let hint = if self.mcp.as_ref() == Some(&self.graph) {
            CHECK_PATH
        } else {
            "check the path; `mcpgraph init` writes a first graph file"
        };
        match read_or(&self.graph, hint) {
            Ok(source) => self.load_with(&source),
            Err(diagnostics) => Loaded { file: None, graph: None, diagnostics },
        }
    }

    /// What is wrong with the file whose servers are added to the graph's own.
    pub(crate) fn added_servers(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        if let Some(path) = &self.mcp {
            servers_of(path, &mut diagnostics);
        }
        diagnostics
    }

    /// Checks and compiles with another text of the graph file.
    pub(crate) fn load_with(&self, source: &Arc<Source>) -> Loaded {
        let variables = |name: &str| variable(name, &self.graph);
        if self.mcp.as_ref() == Some(&self.graph) {
            return load_servers(source, &variables);
        }
        load_text(source, &variables, |file, diagnostics| {
            let procedures = sops::of_graph(file);
            if procedures.binds() {
                let (servers, found) = sops::servers(&procedures);
                diagnostics.extend(found);
                mcpgraph_config::merge_servers(file, servers);
            }
            diagnostics.extend(procedures.diagnostics);
            if let Some(url) = &self.edgelake {
                mcpgraph_config::set_edgelake(file, url);
            }
            if let Some(path) = &self.mcp {
                let servers = servers_of(path, diagnostics);
                mcpgraph_config::merge_servers(file, servers);
            }
        })
    }
}

/// What stands for a graph file where there is none that can be used.
pub(crate) const NO_GRAPH: &str = concat!(
    "server: { name: mcpgraph, version: \"",
    env!("CARGO_PKG_VERSION"),
    "\" }\ntools: []\n"
);

/// A graph without tools whose servers are those of an `mcp.json`, all of them exposed that do not
/// say otherwise.
fn load_servers(source: &Arc<Source>, variables: Lookup<'_>) -> Loaded {
    let (mut servers, found) = mcpgraph_config::read_mcp_json(source, variables);
    for server in servers.iter_mut().filter(|server| !server.says_expose) {
        server.expose = Some(Expose::all());
    }
    load_text(&Source::new("mcpgraph", NO_GRAPH), variables, |file, diagnostics| {
        diagnostics.extend(found);
        mcpgraph_config::merge_servers(file, servers);
    })
}

/// Checks and compiles the text of a graph file, after `complete` has added servers to it.
fn load_text(
    source: &Arc<Source>,
    variables: Lookup<'_>,
    complete: impl FnOnce(&mut GraphFile, &mut Diagnostics),
) -> Loaded {
    compiled(mcpgraph_config::read_graph(source, variables), complete)
}

/// Checks and compiles a file that was read, after `complete` has added servers to it.
fn compiled(
    (file, mut diagnostics): (Option<GraphFile>, Diagnostics),
    complete: impl FnOnce(&mut GraphFile, &mut Diagnostics),
) -> Loaded {
    let Some(mut file) = file else { return Loaded { file: None, graph: None, diagnostics } };
    let mut added = Diagnostics::new();
    complete(&mut file, &mut added);
    let is_complete = !added.has_errors();
    diagnostics.extend(added);
    let (graph, mut found) = mcpgraph_graph::compile(&file);
    if !is_complete {
        // A server that is not known may well be in the file that could not be read.
        found = found.into_iter().filter(|found| found.code != codes::SERVER_UNKNOWN).collect();
    }
    diagnostics.extend(found);
    diagnostics.sort();
    let graph = graph.filter(|_| !diagnostics.has_errors()).map(Arc::new);
    Loaded { file: Some(file), graph, diagnostics }
}

/// The graph of a server for procedures: no tools of its own, and where they bind, the servers that
/// they and an mcp.json name.
pub(crate) fn load_sops(
    source: &Arc<Source>,
    read_sops: &sops::Read,
    mcp: Option<&Path>,
    enforce: bool,
) -> Loaded {
    let none = |_: &str| None;
    load_text(source, &none, |file, diagnostics| {
        if enforce {
            let (servers, found) = sops::servers(read_sops);
            diagnostics.extend(found);
            mcpgraph_config::merge_servers(file, servers);
        }
        if let Some(path) = mcp {
            let servers = servers_of(path, diagnostics);
            let servers = servers.into_iter().map(sops::offered).collect();
            mcpgraph_config::merge_servers(file, servers);
        }
    })
}

/// The servers of an mcp.json.
fn servers_of(path: &Path, diagnostics: &mut Diagnostics) -> Vec<ServerDef> {
    match read(path) {
        Ok(source) => {
            let variables = |name: &str| variable(name, path);
            let (servers, found) = mcpgraph_config::read_mcp_json(&source, &variables);
            diagnostics.extend(found);
            servers
        }
        Err(found) => {
            diagnostics.extend(found);
            Vec::new()
        }
    }
}

/// Where the servers of a recorded graph come from.
pub(crate) enum Servers {
    /// From its own text.
    Own,
    /// From elsewhere.
    Other(Vec<ServerDef>),
    /// None is ever called: neither their variables nor their definitions have to be there.
    Unused,
}

/// Checks and compiles the text of a graph file that is not read from its place.
pub(crate) fn load_recorded(source: &Arc<Source>, servers: Servers) -> Loaded {
    let own = |name: &str| variable(name, Path::new(source.name()));
    let any = |name: &str| own(name).or_else(|| Some(mcpgraph_config::UNSET.to_owned()));
    match servers {
        Servers::Own => load_text(source, &own, |_, _| {}),
        Servers::Other(servers) => load_text(source, &any, |file, _| file.servers = servers),
        Servers::Unused => compiled(mcpgraph_config::read_graph_alone(source), |_, _| {}),
    }
}

/// Reads one file, or says why it cannot be read.
pub fn read(path: &Path) -> Result<Arc<Source>, Diagnostics> {
    read_or(path, CHECK_PATH)
}

/// What there is to do about a file that cannot be read.
const CHECK_PATH: &str = "check the path";

/// Reads one file, or says why it cannot be read, and what to do if it is not there.
fn read_or(path: &Path, missing: &str) -> Result<Arc<Source>, Diagnostics> {
    mcpgraph_files::read(path).map_err(|error| {
        let (code, hint) = match &error {
            ReadError::TooLarge(_) => (codes::FILE_TOO_LARGE, "split the file"),
            ReadError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                (codes::FILE_UNREADABLE, missing)
            }
            ReadError::Io { .. } => (codes::FILE_UNREADABLE, CHECK_PATH),
            ReadError::NotText { .. } => (codes::FILE_UNREADABLE, "save it as UTF-8"),
        };
        let file = path.display().to_string();
        Diagnostic::error(code, error.to_string()).of_file(file).hint(hint).into()
    })
}

/// The largest secret that is read from a file: 64 KiB.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// What is in a file, without the line break at its end. A path is relative to the folder of the
/// file that names it.
fn secret(path: &str, file: &Path) -> Option<String> {
    let path = file.parent().unwrap_or(Path::new("")).join(path);
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_SECRET_BYTES + 1).read_to_string(&mut text).ok()?;
    if text.len() as u64 > MAX_SECRET_BYTES {
        return None;
    }
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Some(text)
}

/// What `${NAME}` stands for in a file.
pub(crate) fn variable(name: &str, file: &Path) -> Option<String> {
    if let Some(path) = name.strip_prefix(FILE_PREFIX) {
        return secret(path, file);
    }
    match name {
        OWN_PROGRAM => std::env::var(name)
            .ok()
            .or_else(|| Some(std::env::current_exe().ok()?.display().to_string())),
        GRAPH_FOLDER => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            // A server may be started in another folder than this process.
            let whole = path::absolute(folder);
            Some(whole.as_deref().unwrap_or(folder).display().to_string())
        }
        _ => std::env::var(name).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_file_is_absolute() {
        let here = std::env::current_dir().unwrap();
        for (file, folder) in [("graph.yaml", ""), ("./graph.yaml", ""), ("a/graph.yaml", "a")] {
            let expected = here.components().chain(Path::new(folder).components());
            let expected: PathBuf = expected.collect();
            let found = variable(GRAPH_FOLDER, Path::new(file)).map(PathBuf::from);
            assert_eq!(found, Some(expected), "{file}");
        }
    }
}
