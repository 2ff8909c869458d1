//! Where procedures come from: which there are, and which may be loaded.

mod remote;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_config::model::{Expose, GraphFile, Prefix, ServerDef};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, codes};
use mcpgraph_files::{NotBelow, ReadError, below};
use mcpgraph_outbound::Hosts;
use mcpgraph_procedures::{Catalogue, Library, NotLoaded};
use mcpgraph_sop::Procedure;

use self::remote::Remote;
use crate::load;

/// The procedures an operator named, and where agents find others.
pub(crate) struct Sops {
    named: Vec<Named>,
    /// The folders in which agents find others, as real paths.
    roots: Vec<PathBuf>,
    /// What may be loaded over the network; none if nothing may be.
    remote: Option<Remote>,
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

impl Read {
    /// Whether one of the procedures binds, and with it all of them.
    pub(crate) fn binds(&self) -> bool {
        self.procedures.iter().any(|(_, procedure)| procedure.front.enforce)
    }
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
    let twice = same_agents(&read.procedures);
    read.diagnostics.extend(twice);
    read
}

/// Procedures that cannot be told apart by their agents.
fn same_agents(procedures: &[(PathBuf, Arc<Procedure>)]) -> Diagnostics {
    let mut seen: HashMap<&str, &Procedure> = HashMap::new();
    let mut diagnostics = Diagnostics::new();
    for (_, procedure) in procedures {
        let agent = &procedure.front.agent;
        if let Some(first) = seen.insert(agent, procedure) {
            let message = format!(
                "`{}` and `{}` have the same agent `{agent}`",
                first.source.name(),
                procedure.source.name()
            );
            diagnostics.push(
                Diagnostic::error(codes::AGENT_TWICE, message)
                    .at(&procedure.source, agent.span(), "")
                    .also(&first.source, first.front.agent.span(), "the agent is used here first")
                    .hint("give one of them another `agent`, or serve them apart"),
            );
        }
    }
    diagnostics
}

/// Reads procedures anew, as their files are now.
pub(crate) fn read_again(named: &[Arc<Procedure>]) -> (Vec<Arc<Procedure>>, Diagnostics) {
    let paths = named.iter().map(|procedure| Path::new(procedure.source.name()));
    let Read { procedures, diagnostics } = read_all(paths);
    (procedures.into_iter().map(|(_, procedure)| procedure).collect(), diagnostics)
}

/// The procedures that a graph file names.
pub(crate) fn of_graph(file: &GraphFile) -> Read {
    let folder = folder_of(file);
    let paths: Vec<PathBuf> = file.sops.iter().map(|path| folder.join(path.as_str())).collect();
    let mut read = read_all(paths.iter().map(PathBuf::as_path));
    for host in &file.sop_hosts {
        if let Err(error) = Hosts::only_public([host.as_str()]) {
            let problem = Diagnostic::error(codes::OUT_OF_RANGE, error.to_string());
            read.diagnostics.push(problem.at(&file.source, host.span(), "this host"));
        }
    }
    read
}

/// What a graph file offers to agents that walk; none if it names no procedures.
pub(crate) fn catalogue_of(file: &GraphFile) -> anyhow::Result<Option<Catalogue>> {
    if file.sops.is_empty() {
        return Ok(None);
    }
    let folder = Some(folder_of(file)).filter(|folder| !folder.as_os_str().is_empty());
    let sops = Sops::new(of_graph(file), [folder.unwrap_or(Path::new("."))], false)?;
    Ok(Some(sops.loading_from(&file.sop_hosts)?.into()))
}

/// Where a path really leads.
fn real(path: &Path) -> std::io::Result<PathBuf> {
    path.canonicalize().map_err(|error| {
        std::io::Error::new(error.kind(), format!("cannot use `{}`: {error}", path.display()))
    })
}

fn folder_of(file: &GraphFile) -> &Path {
    Path::new(file.source.name()).parent().unwrap_or(Path::new(""))
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
    pub(crate) fn new<'a>(
        read: Read,
        roots: impl IntoIterator<Item = &'a Path>,
        enforce: bool,
    ) -> std::io::Result<Self> {
        let only_named = enforce || read.binds();
        let named: std::io::Result<Vec<Named>> = read
            .procedures
            .into_iter()
            .map(|(path, procedure)| Ok(Named { path: real(&path)?, procedure }))
            .collect();
        let roots: std::io::Result<Vec<PathBuf>> = roots.into_iter().map(real).collect();
        Ok(Self { named: named?, roots: roots?, remote: None, only_named })
    }

    /// The same, where procedures may be loaded from these hosts too.
    pub(crate) fn loading_from<N: AsRef<str>>(self, hosts: &[N]) -> anyhow::Result<Self> {
        if hosts.is_empty() {
            return Ok(self);
        }
        Ok(Self { remote: Some(Remote::new(hosts)?), ..self })
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
        let found = self.find_below(name)?;
        if self.only_named && !self.named.iter().any(|named| named.path == found) {
            return Err(self.not_named(name));
        }
        Ok(found)
    }

    /// A file below one of the folders.
    fn find_below(&self, name: &str) -> Result<PathBuf, NotLoaded> {
        let mut outside = None;
        for root in &self.roots {
            match below(root, name) {
                Ok(path) if path.is_file() => return Ok(path),
                Ok(_) | Err(NotBelow::Missing { .. }) => {}
                Err(refusal) => outside = outside.or(Some(refusal)),
            }
        }
        Err(refused(match outside {
            Some(outside) => {
                format!("{outside}; the operator says with --root which folder that is")
            }
            None => format!("SOP file not found: {name}"),
        }))
    }

    fn not_named(&self, name: &str) -> NotLoaded {
        let known: Vec<&str> =
            self.named.iter().map(|named| named.procedure.source.name()).collect();
        refused(format!("`{name}` is not one of the procedures that bind: {}", known.join(", ")))
    }
}

impl From<Sops> for Catalogue {
    fn from(sops: Sops) -> Self {
        let procedures = sops.named.iter().map(|named| Arc::clone(&named.procedure)).collect();
        let binds = sops.only_named;
        Self { library: Arc::new(sops), procedures, binds }
    }
}

#[async_trait]
impl Library for Sops {
    async fn open(&self, name: &str) -> Result<Arc<Source>, NotLoaded> {
        if remote::is_address(name) {
            if self.only_named {
                return Err(self.not_named(name));
            }
            let Some(remote) = &self.remote else {
                return Err(refused(format!(
                    "`{name}` is not loaded: the operator allows no hosts (--allow-host, or \
                     `sopHosts` in a graph file)"
                )));
            };
            return remote.load(name).await;
        }
        let path = self.find(name)?;
        let shown = name.to_owned();
        let read = tokio::task::spawn_blocking(move || mcpgraph_files::read(&path)).await;
        match read {
            // The agent knows the file by the name it used.
            Ok(Ok(source)) => Ok(Source::new(shown, source.text())),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a procedure was not read");
                Err(refused(format!("SOP file cannot be read: {shown}: {}", reason(&error))))
            }
            Err(error) => Err(refused(error.to_string())),
        }
    }
}

/// Why a file cannot be read. Where it really is, is not for agents.
fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Io { error, .. } => error.kind().to_string(),
        ReadError::TooLarge(_) => {
            format!(
                "it is larger than the limit of {} bytes (16 MiB)",
                mcpgraph_files::MAX_FILE_BYTES
            )
        }
        ReadError::NotText { byte, .. } => {
            format!("it is not UTF-8 text (byte {byte}); save it as UTF-8")
        }
    }
}

fn refused(message: String) -> NotLoaded {
    NotLoaded { code: codes::PROCEDURE_REFUSED, message }
}

#[cfg(test)]
mod tests;
