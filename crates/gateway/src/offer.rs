//! What is offered to clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcpgraph_config::model::ServerDef;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_mcp::message::raw;
use mcpgraph_mcp::mirror::{HeaderParameter, header_parameters};
use mcpgraph_runtime::{Instruments, Runtime, World};
use parking_lot::Mutex;
use serde_json::json;
use serde_json::value::RawValue;

use crate::listing::Late;
use crate::missing::Missing;
use crate::names::{Collision, Exposed};

/// What is offered to clients; replaced as a whole when the files change.
pub struct Offer {
    /// How the server introduces itself.
    pub(crate) info: Arc<RawValue>,
    pub(crate) graph: Arc<Graph>,
    /// Runs end with the servers they began with, also when the files change meanwhile.
    pub(crate) runtime: Runtime,
    pub(crate) exposed: Vec<Exposed>,
    /// Whether clients find the tools of exposed servers instead of being shown all of them.
    pub(crate) discovers: bool,
    /// The servers that took too long to tell what they have.
    pub(crate) late: Late,
    /// The collisions of names that were told of.
    pub(crate) told: Mutex<HashSet<Collision>>,
    /// What was told to be missing of what the file says about tools.
    pub(crate) missed: Mutex<HashSet<Missing>>,
    /// The tools that may ask people.
    pub(crate) asking: HashSet<Arc<str>>,
    pub(crate) header_parameters: HashMap<Arc<str>, Arc<[HeaderParameter]>>,
}

impl Offer {
    /// The tools of a graph, and what the exposed ones among the servers have. The upstreams of the
    /// world are these servers; its backends keep their connections from one offer to the next.
    pub fn new(
        graph: Arc<Graph>,
        servers: &[ServerDef],
        world: &World,
        instruments: Instruments,
    ) -> Self {
        let header_parameters = graph
            .tools
            .iter()
            .map(|tool| {
                let found = header_parameters(&raw(tool.input.source())).unwrap_or_default();
                (Arc::clone(&tool.name), found.into())
            })
            .collect();
        let asking = graph.tools.iter().filter(|tool| tool.body.asks(&graph));
        let asking = asking.map(|tool| Arc::clone(&tool.name)).collect();
        let server = &graph.server;
        let info =
            raw(&json!({ "name": server.name, "title": server.title, "version": server.version }));
        let world = World { upstreams: Arc::new(world.upstreams.pinned()), ..world.clone() };
        let runtime = Runtime::new(Arc::new(world)).with(instruments);
        Self {
            info: info.into(),
            graph,
            runtime,
            exposed: Exposed::among(servers),
            discovers: false,
            late: Late::default(),
            told: Mutex::default(),
            missed: Mutex::default(),
            asking,
            header_parameters,
        }
    }
}

impl Offer {
    /// Whether calls of a tool become tasks, for those who can take one.
    pub(crate) fn takes_time(&self, tool: &Tool) -> bool {
        (tool.durable || self.asking.contains(&tool.name)) && self.runtime.is_recorded()
    }

    /// Whether a call of a tool may ask people, and can: questions are kept in the store.
    pub(crate) fn asks(&self, tool: &str) -> bool {
        self.asking.contains(tool) && self.runtime.is_recorded()
    }

    /// The same offer, with the tools of exposed servers to be found instead of listed.
    #[must_use]
    pub fn with_discovery(mut self, discovers: bool) -> Self {
        self.discovers = discovers;
        self
    }

    /// The graph whose tools are offered.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// What executes them.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}
