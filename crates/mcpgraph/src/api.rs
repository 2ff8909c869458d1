//! The product for Rust programs: open files, call tools.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use mcpgraph_config::model::{GraphFile, ServerDef, Transport};
use mcpgraph_diagnostics::{Colour, Diagnostics, to_terminal};
use mcpgraph_gateway::{Gateway, Offer};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::Origin;
use mcpgraph_mcp::server::Broadcaster;
use mcpgraph_runtime::{Caller, Execution, Finished, Runtime, Silent};
use mcpgraph_upstream::{ClientInfo, Reaper, ServerSpec, UpstreamOptions, Upstreams};
use mcpgraph_value::Value;
use tokio_util::sync::CancellationToken;

use crate::load::Files;

/// A graph file with its servers, ready to run.
///
/// ```
/// use mcpgraph::McpGraph;
/// use mcpgraph::load::Files;
/// use mcpgraph_value::Value;
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("graph.yaml");
/// std::fs::write(&path, r#"
/// version: "1.0"
/// server: { name: example, version: "1" }
/// tools:
///   - name: double
///     description: Doubles a number
///     inputSchema: { type: object, properties: { n: { type: number } }, required: [n] }
///     nodes:
///       - { id: entry, type: entry, next: compute }
///       - { id: compute, type: transform, transform: { expr: "$.entry.n * 2" }, next: exit }
///       - { id: exit, type: exit }
/// "#)?;
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let graph = McpGraph::open(&Files { graph: path, mcp: None })?;
/// let tool = graph.tool("double").ok_or("no such tool")?;
/// let finished = graph.run(&tool, Value::from_json(r#"{"n": 21}"#)?).await;
/// assert_eq!(finished.outcome?, Value::from(42));
/// graph.close().await;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct McpGraph {
    graph: Arc<Graph>,
    servers: Vec<ServerDef>,
    upstreams: Arc<Upstreams>,
    runtime: Runtime,
}

/// Why files could not be opened.
#[derive(Debug)]
pub struct OpenError {
    /// Everything that is wrong.
    pub diagnostics: Diagnostics,
}

/// The hidden command under which this program ends orphaned servers.
pub(crate) const REAPER_COMMAND: &str = "reaper";

impl McpGraph {
    /// Reads, checks and compiles files. Servers are started when they are first needed.
    pub fn open(files: &Files) -> Result<Self, OpenError> {
        let loaded = files.load();
        match (loaded.file, loaded.graph) {
            (Some(file), Some(graph)) => Ok(Self::new(file, graph)),
            _ => Err(OpenError { diagnostics: loaded.diagnostics }),
        }
    }

    pub(crate) fn new(file: GraphFile, graph: Arc<Graph>) -> Self {
        let info = ClientInfo {
            name: String::from("mcpgraph"),
            title: None,
            version: String::from(env!("CARGO_PKG_VERSION")),
        };
        let mut options = UpstreamOptions::new(info);
        options.reaper = reaper(&file.servers);
        let upstreams = Arc::new(Upstreams::new(specs(&file.servers), options));
        let runtime = Runtime::new(Arc::clone(&upstreams) as _);
        Self { graph, servers: file.servers, upstreams, runtime }
    }

    /// The compiled graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// One of its tools.
    pub fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.graph.tool(name).cloned()
    }

    /// Calls a tool.
    pub async fn run(&self, tool: &Arc<Tool>, arguments: Value) -> Finished {
        self.run_for(tool, arguments, Arc::new(Silent), CancellationToken::new()).await
    }

    /// Calls a tool for a caller that wants to see what happens, or may change its mind.
    pub async fn run_for(
        &self,
        tool: &Arc<Tool>,
        arguments: Value,
        caller: Arc<dyn Caller>,
        cancel: CancellationToken,
    ) -> Finished {
        let execution = Execution {
            graph: Arc::clone(&self.graph),
            tool: Arc::clone(tool),
            input: arguments,
            origin: Origin::default(),
            caller,
            cancel,
            meta: Vec::new(),
        };
        self.runtime.execute(execution).await
    }

    /// An MCP server of the tools, for any transport of [`mcpgraph_mcp::server`].
    pub fn gateway(&self, broadcaster: Broadcaster) -> Arc<Gateway> {
        let offer = Offer::new(Arc::clone(&self.graph), &self.servers, &self.upstreams);
        Gateway::new(offer, Arc::clone(&self.upstreams), broadcaster)
    }

    /// Takes over a changed file: its servers first, so that its tools find them.
    pub(crate) fn replace(&self, gateway: &Gateway, file: &GraphFile, graph: Arc<Graph>) {
        self.upstreams.replace(specs(&file.servers));
        gateway.replace(Offer::new(graph, &file.servers, &self.upstreams));
    }

    /// Ends the servers that were started.
    pub async fn close(&self) {
        self.upstreams.shutdown().await;
    }
}

fn specs(servers: &[ServerDef]) -> IndexMap<String, ServerSpec> {
    servers
        .iter()
        .filter(|server| !server.disabled)
        .map(|server| (server.name.to_string(), ServerSpec::from(server)))
        .collect()
}

/// A second process that ends our servers if we are killed; only where there are any to end.
fn reaper(servers: &[ServerDef]) -> Option<Reaper> {
    servers
        .iter()
        .any(|server| !server.disabled && matches!(server.transport, Transport::Stdio { .. }))
        .then(|| own_program().and_then(|program| Reaper::start(&program, &[REAPER_COMMAND])))?
        .inspect_err(|error| tracing::warn!(%error, "servers may outlive a killed mcpgraph"))
        .ok()
}

/// The `mcpgraph` command itself. A program that only uses the library has none.
fn own_program() -> std::io::Result<std::path::PathBuf> {
    let program = std::env::current_exe()?;
    match program.file_stem().and_then(|stem| stem.to_str()) {
        Some("mcpgraph") => Ok(program),
        _ => Err(std::io::Error::other("this program is not the mcpgraph command")),
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_terminal(&self.diagnostics, Colour::Plain))
    }
}

impl std::error::Error for OpenError {}
