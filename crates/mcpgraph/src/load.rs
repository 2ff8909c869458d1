//! From paths to a compiled graph, with everything that is wrong on the way.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_config::MAX_FILE_BYTES;
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, codes};
use mcpgraph_graph::Graph;

/// The files that make up a server.
#[derive(Clone, Debug)]
pub struct Files {
    /// The graph file.
    pub graph: PathBuf,
    /// A client's `mcp.json`, whose servers are added to the graph's own.
    pub mcp: Option<PathBuf>,
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

/// The variable that stands for this very program in server definitions.
const OWN_PROGRAM: &str = "MCPGRAPH_BIN";

/// The variable that stands for the folder of the graph file.
const GRAPH_FOLDER: &str = "GRAPH_DIR";

impl Files {
    /// Reads, checks and compiles.
    pub fn load(&self) -> Loaded {
        let source = match read(&self.graph) {
            Ok(source) => source,
            Err(diagnostics) => return Loaded { file: None, graph: None, diagnostics },
        };
        let variables = |name: &str| variable(name, &self.graph);
        let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &variables);
        let Some(mut file) = file else { return Loaded { file: None, graph: None, diagnostics } };
        if let Some(path) = &self.mcp {
            match read(path) {
                Ok(source) => {
                    let variables = |name: &str| variable(name, path);
                    let (servers, found) = mcpgraph_config::read_mcp_json(&source, &variables);
                    diagnostics.extend(found);
                    mcpgraph_config::merge_servers(&mut file, servers);
                }
                Err(found) => diagnostics.extend(found),
            }
        }
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        diagnostics.sort();
        let graph = graph.filter(|_| !diagnostics.has_errors()).map(Arc::new);
        Loaded { file: Some(file), graph, diagnostics }
    }
}

/// Reads one file, or says why it cannot be read.
pub fn read(path: &Path) -> Result<Arc<Source>, Diagnostics> {
    let name = path.display().to_string();
    let unreadable = |why: String| -> Diagnostics {
        Diagnostic::error(codes::FILE_UNREADABLE, format!("cannot read `{name}`: {why}"))
            .hint("check the path; `mcpgraph init` writes a first graph file")
            .into()
    };
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that it is too large.
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        unreadable(format!("it is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()))
    })?;
    Ok(Source::new(name, text))
}

/// Whether a value stands for this program or the folder of a file, which are no secrets.
pub(crate) fn is_own_value(value: &str, file: &GraphFile) -> bool {
    let path = Path::new(file.source.name());
    [OWN_PROGRAM, GRAPH_FOLDER].iter().any(|name| variable(name, path).as_deref() == Some(value))
}

/// What `${NAME}` stands for in a file.
fn variable(name: &str, file: &Path) -> Option<String> {
    match name {
        OWN_PROGRAM => std::env::var(name)
            .ok()
            .or_else(|| Some(std::env::current_exe().ok()?.display().to_string())),
        GRAPH_FOLDER => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(folder.unwrap_or(Path::new(".")).display().to_string())
        }
        _ => std::env::var(name).ok(),
    }
}
