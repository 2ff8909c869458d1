//! The product for Rust programs: open files, call tools.

use std::fmt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpgraph_config::model::{GraphFile, ServerDef};
use mcpgraph_diagnostics::{Colour, Diagnostics, to_terminal};
use mcpgraph_gateway::{Gate, Gateway, Offer};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_mcp::message::raw;
use mcpgraph_mcp::server::Broadcaster;
use mcpgraph_runtime::{Effects, Execution, Finished, Hooks, Instruments, Runtime, World};
use mcpgraph_upstream::{ClientInfo, Reaper, UpstreamOptions, Upstreams, specs};
use mcpgraph_value::Value;
use serde_json::json;

use crate::load::Files;
use crate::masks::Masks;

/// A graph file with its servers, ready to run.
///
/// ```
/// use mcpgraph::{Instruments, McpGraph};
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
/// let graph = McpGraph::open(&Files { graph: path, ..Files::default() }, Instruments::default())?;
/// let tool = graph.tool("double").ok_or("no such tool")?;
/// let finished = graph.run(&tool, Value::from_json(r#"{"n": 21}"#)?).await;
/// assert_eq!(finished.outcome?, Value::from(42));
/// graph.close().await;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// A run can be debugged: [`Debugger::new`](crate::debug::Debugger::new) gives the controls and
/// what to put into the [`Execution`]. Here it stops before a node, whose input is then changed.
///
/// ```
/// use mcpgraph::debug::{Breakpoint, DebugState, Debugger, When};
/// use mcpgraph::load::Files;
/// use mcpgraph::{Execution, Instruments, McpGraph};
/// use mcpgraph_value::Value;
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("graph.yaml");
/// # std::fs::write(&path, r#"
/// # server: { name: example, version: "1" }
/// # tools:
/// #   - name: double
/// #     inputSchema: { type: object, properties: { n: { type: number } } }
/// #     nodes:
/// #       - { id: entry, type: entry, next: compute }
/// #       - { id: compute, type: transform, transform: { expr: "$.entry.n * 2" }, next: exit }
/// #       - { id: exit, type: exit }
/// # "#)?;
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let graph = McpGraph::open(&Files { graph: path, ..Files::default() }, Instruments::default())?;
/// let tool = graph.tool("double").ok_or("no such tool")?;
/// let stop = Breakpoint { node: "compute".into(), when: When::Before, condition: None, hits: 1 };
/// let (mut debugger, session) = Debugger::new(false, vec![stop]);
/// let call = graph.call(&tool, Value::from_json(r#"{"n": 1}"#)?);
/// let run = graph.execute(Execution { debug: Some(session), ..call });
/// let meddle = async {
///     if let DebugState::Paused { next, .. } = debugger.stopped().await {
///         println!("before {:?}: {:?}", next, debugger.context(None).await);
///     }
///     debugger.set_output(None, "entry".into(), Value::from_json(r#"{"n": 21}"#)?).await?;
///     debugger.resume().await?;
///     Ok::<_, Box<dyn std::error::Error>>(())
/// };
/// let (finished, meddled) = tokio::join!(run, meddle);
/// meddled?;
/// assert_eq!(finished.outcome?, Value::from(42));
/// # graph.close().await;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct McpGraph {
    graph: Arc<Graph>,
    servers: Vec<ServerDef>,
    discovery: bool,
    world: World,
    runtime: Runtime,
    instruments: Instruments,
    masks: Masks,
}

/// Why files could not be opened.
#[derive(Debug)]
pub struct OpenError {
    /// Everything that is wrong.
    pub diagnostics: Diagnostics,
}

/// The hidden command under which this program ends orphaned programs.
pub(crate) const REAPER_COMMAND: &str = "reaper";

/// This process was started as the command line, so its program knows the hidden command.
pub(crate) static IS_THE_COMMAND: AtomicBool = AtomicBool::new(false);

impl McpGraph {
    /// Reads, checks and compiles files. Servers are started when they are first needed. Runs are
    /// recorded and watched by the instruments; the default ones are none.
    pub fn open(files: &Files, instruments: Instruments) -> Result<Self, OpenError> {
        let loaded = files.load();
        match (loaded.file, loaded.graph) {
            (Some(file), Some(graph)) => Ok(Self::new(file, graph, instruments)),
            _ => Err(OpenError { diagnostics: loaded.diagnostics }),
        }
    }

    pub(crate) fn new(file: GraphFile, graph: Arc<Graph>, instruments: Instruments) -> Self {
        let options = upstream_options();
        let world = World::new(Arc::new(Upstreams::new(specs(&file.servers), options)));
        let runtime = Runtime::new(Arc::new(world.clone())).with(instruments.clone());
        let masks = Masks::default();
        masks.add(&file, &instruments);
        let discovery = file.discovery;
        Self { graph, servers: file.servers, discovery, world, runtime, instruments, masks }
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
        self.execute(self.call(tool, arguments)).await
    }

    /// A call of a tool, to be changed as one likes and then executed.
    pub fn call(&self, tool: &Arc<Tool>, arguments: Value) -> Execution {
        Execution::new(Arc::clone(&self.graph), Arc::clone(tool), arguments)
    }

    /// Executes a call to its end.
    pub async fn execute(&self, call: Execution) -> Finished {
        self.runtime.execute(call).await
    }

    /// The upstream servers.
    pub(crate) fn upstreams(&self) -> &Arc<Upstreams> {
        &self.world.upstreams
    }

    /// Where the scripts of workflows run.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.world.hooks
    }

    /// What carries out the calls of runs.
    pub(crate) fn effects(&self) -> Arc<dyn Effects> {
        Arc::new(self.world.clone())
    }

    /// What executes the runs, for replaying recorded ones.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// An MCP server of the tools, for any transport of [`mcpgraph_mcp::server`].
    pub fn gateway(&self, broadcaster: Broadcaster) -> Arc<Gateway> {
        self.guarded_gateway(broadcaster, Gate::default())
    }

    /// The same, whose clients see and use what the gate grants them.
    pub fn guarded_gateway(&self, broadcaster: Broadcaster, gate: Gate) -> Arc<Gateway> {
        let graph = Arc::clone(&self.graph);
        let offer = Offer::new(graph, &self.servers, &self.world, self.instruments.clone());
        let offer = offer.with_discovery(self.discovery);
        Gateway::guarded(offer, Arc::clone(&self.world.upstreams), broadcaster, gate)
    }

    /// Takes over a changed file: its servers first, so that its tools find them.
    pub(crate) fn replace(&self, gateway: &Gateway, file: &GraphFile, graph: Arc<Graph>) {
        self.world.upstreams.replace(specs(&file.servers));
        self.masks.add(file, &self.instruments);
        let instruments = self.instruments.clone();
        let offer = Offer::new(graph, &file.servers, &self.world, instruments);
        gateway.replace(offer.with_discovery(file.discovery));
    }

    /// Ends the servers that were started.
    pub async fn close(&self) {
        self.world.upstreams.shutdown().await;
    }
}

/// Who we are to servers, and what ends them with us.
pub(crate) fn upstream_options() -> UpstreamOptions {
    let info = ClientInfo {
        name: String::from("mcpgraph"),
        title: None,
        version: String::from(env!("CARGO_PKG_VERSION")),
    };
    // Whether the client at the other end can be asked is found out when a server asks.
    let capabilities = raw(&json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {} }));
    UpstreamOptions { capabilities, reaper: Some(reaper()), ..UpstreamOptions::new(info) }
}

/// A second process that ends the programs we started if we are killed.
fn reaper() -> Reaper {
    Reaper::new(own_program().map(|program| {
        let mut command = Command::new(program);
        command.arg(REAPER_COMMAND);
        command
    }))
}

/// The `mcpgraph` command itself, under whatever name. A program that only uses the library has none.
fn own_program() -> std::io::Result<std::path::PathBuf> {
    if IS_THE_COMMAND.load(Ordering::Relaxed) {
        std::env::current_exe()
    } else {
        Err(std::io::Error::other("this program is not the mcpgraph command"))
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_terminal(&self.diagnostics, Colour::Plain))
    }
}

impl std::error::Error for OpenError {}
