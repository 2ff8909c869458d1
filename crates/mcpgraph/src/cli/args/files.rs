//! Which files a server is made of.

use std::path::PathBuf;

use clap::Args;

use crate::cli::usage;
use crate::load::Files;

/// Where a graph file is looked for if none is named.
const USUAL: [&str; 3] = ["graph.yaml", "mcpgraph.yaml", "config.yaml"];

// Which files a server is made of.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileArgs {
    /// The graph file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,

    /// An mcp.json whose servers are added to the graph's own
    #[arg(short, long, value_name = "FILE")]
    pub(crate) mcp: Option<PathBuf>,

    /// The EdgeLake node that commands are sent to, in place of the file's
    #[arg(long, value_name = "URL")]
    pub(crate) edgelake: Option<String>,
}

impl FileArgs {
    /// The files, where a graph file is needed.
    pub(crate) fn files(&self) -> anyhow::Result<Files> {
        self.files_or("")
    }

    /// The files, where a graph file is needed or `instead`, as a command says it.
    pub(crate) fn files_or(&self, instead: &str) -> anyhow::Result<Files> {
        let graph = match &self.graph {
            Some(path) => path.clone(),
            None => {
                let usual = USUAL.iter().map(PathBuf::from).find(|path| path.is_file());
                usual.ok_or_else(|| usage(self.no_graph(instead)))?
            }
        };
        Ok(Files { graph, mcp: self.mcp.clone(), edgelake: self.edgelake.clone() })
    }

    fn no_graph(&self, instead: &str) -> String {
        let [first, second, third] = USUAL;
        let looked = format!("there is no {first}, {second} or {third} here");
        match &self.mcp {
            Some(mcp) => format!(
                "no graph file: {looked}, and {} has servers but no tools of its own; `mcpgraph \
                 serve -m` serves the tools of its servers to clients, anything else needs a graph \
                 file with -g",
                mcp.display()
            ),
            None => format!(
                "no graph file: {looked}; give one with -g{instead}, or write a first one with \
                 `mcpgraph init`"
            ),
        }
    }

    /// The files of a server: without a graph file the servers of an `mcp.json` are enough.
    pub(crate) fn served(&self) -> anyhow::Result<Files> {
        match (self.files_or(", or servers alone with -m"), &self.mcp) {
            (Err(_), Some(mcp)) if self.graph.is_none() => {
                Ok(Files { graph: mcp.clone(), mcp: Some(mcp.clone()), edgelake: None })
            }
            (files, _) => files,
        }
    }
}
