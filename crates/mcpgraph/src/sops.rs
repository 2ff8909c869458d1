//! Procedures on the disk: which there are, and which may be loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_config::model::{Expose, GraphFile, Prefix, ServerDef};
use mcpgraph_diagnostics::{Diagnostics, Source, codes};
use mcpgraph_files::{NotBelow, below};
use mcpgraph_procedures::{Library, NotLoaded};
use mcpgraph_sop::Procedure;

use crate::load;

/// The procedures an operator named, and the folder in which agents find others.
pub(crate) struct Sops {
    named: Vec<Named>,
    /// A real path.
    root: PathBuf,
    /// Whether only those that were named may be loaded, as it is where a procedure binds: else
    /// an agent could choose one that allows more.
    only_named: bool,
}

struct Named {
    /// A real path.
    path: PathBuf,
    procedure: Arc<Procedure>,
}

/// What came of reading procedures.
pub(crate) struct Read {
    pub(crate) procedures: Vec<(PathBuf, Arc<Procedure>)>,
    pub(crate) diagnostics: Diagnostics,
}

/// Whether a file is a procedure, by its name.
pub(crate) fn is_procedure(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// Reads procedures, with everything that is wrong with them.
pub(crate) fn read_all<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Read {
    let mut read = Read { procedures: Vec::new(), diagnostics: Diagnostics::new() };
    for path in paths {
        match load::read(path) {
            Ok(source) => {
                let (procedure, found) = mcpgraph_sop::read(&source);
                read.diagnostics.extend(found);
                let procedure = procedure.map(|procedure| (path.to_owned(), procedure.into()));
                read.procedures.extend(procedure);
            }
            Err(found) => read.diagnostics.extend(found),
        }
    }
    read
}

/// Reads procedures anew, as their files are now.
pub(crate) fn read_again(paths: &[PathBuf]) -> (Vec<Arc<Procedure>>, Diagnostics) {
    let Read { procedures, diagnostics } = read_all(paths.iter().map(PathBuf::as_path));
    (procedures.into_iter().map(|(_, procedure)| procedure).collect(), diagnostics)
}

/// The procedures that a graph file names.
pub(crate) fn of_graph(file: &GraphFile) -> Read {
    let folder = Path::new(file.source.name()).parent().unwrap_or(Path::new(""));
    let paths: Vec<PathBuf> = file.sops.iter().map(|path| folder.join(path.as_str())).collect();
    read_all(paths.iter().map(PathBuf::as_path))
}

/// The servers that procedures name, offered under the names of their own tools.
pub(crate) fn servers(read: &Read) -> (Vec<ServerDef>, Diagnostics) {
    let mut all = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for (path, procedure) in &read.procedures {
        let (servers, found) = procedure.servers(&|name| load::variable(name, path));
        diagnostics.extend(found);
        all.extend(servers);
    }
    (all.into_iter().map(offered).collect(), diagnostics)
}

/// A server whose tools are offered, under their own names unless it says otherwise.
pub(crate) fn offered(mut server: ServerDef) -> ServerDef {
    server.expose.get_or_insert_with(|| Expose { prefix: Prefix::None, tools: Vec::new() });
    server
}

impl Sops {
    /// What agents may load. `enforce` says that every procedure binds.
    pub(crate) fn new(read: Read, root: &Path, enforce: bool) -> std::io::Result<Self> {
        let named: std::io::Result<Vec<Named>> = read
            .procedures
            .into_iter()
            .map(|(path, procedure)| Ok(Named { path: path.canonicalize()?, procedure }))
            .collect();
        let named = named?;
        let only_named = enforce || named.iter().any(|named| named.procedure.front.enforce);
        Ok(Self { named, root: root.canonicalize()?, only_named })
    }

    /// The files of the procedures that were named.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.named.iter().map(|named| named.path.clone()).collect()
    }

    /// The procedures that were named.
    pub(crate) fn procedures(&self) -> Vec<Arc<Procedure>> {
        self.named.iter().map(|named| Arc::clone(&named.procedure)).collect()
    }

    /// The file that is meant: a procedure that was named, by its path or its agent, or whatever
    /// is below the root.
    fn find(&self, name: &str) -> Result<PathBuf, NotLoaded> {
        let by_name = |named: &&Named| {
            named.procedure.source.name() == name || named.procedure.agent() == name
        };
        if let Some(named) = self.named.iter().find(by_name) {
            return Ok(named.path.clone());
        }
        let found = below(&self.root, name);
        let found = match found {
            Ok(path) if path.is_file() => path,
            Ok(_) | Err(NotBelow::Missing { .. }) => {
                return Err(refused(format!("SOP file not found: {name}")));
            }
            Err(outside) => {
                return Err(refused(format!(
                    "{outside}; the operator says with --root which folder that is"
                )));
            }
        };
        if self.only_named && !self.named.iter().any(|named| named.path == found) {
            let known: Vec<&str> =
                self.named.iter().map(|named| named.procedure.source.name()).collect();
            return Err(refused(format!(
                "`{name}` is not one of the procedures that bind: {}",
                known.join(", ")
            )));
        }
        Ok(found)
    }
}

#[async_trait]
impl Library for Sops {
    async fn open(&self, name: &str) -> Result<Arc<Source>, NotLoaded> {
        if name.starts_with("https://") || name.starts_with("http://") {
            return Err(refused(format!("`{name}` is not loaded: addresses are not allowed here")));
        }
        let path = self.find(name)?;
        let shown = name.to_owned();
        let read = tokio::task::spawn_blocking(move || mcpgraph_files::read(&path)).await;
        match read {
            // The agent knows the file by the name it used.
            Ok(Ok(source)) => Ok(Source::new(shown, source.text())),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a procedure was not read");
                Err(refused(format!("SOP file cannot be read: {shown}")))
            }
            Err(error) => Err(refused(error.to_string())),
        }
    }
}

fn refused(message: String) -> NotLoaded {
    NotLoaded { code: codes::PROCEDURE_REFUSED, message }
}

#[cfg(test)]
mod tests;
