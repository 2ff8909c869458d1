use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use futures_util::future::join_all;
use mcpgraph_config::model::ServerDef;
use mcpgraph_diagnostics::suggest;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_mcp::message::{Raw, RpcError, code, raw};
use mcpgraph_mcp::mirror::{HeaderParameter, header_parameters};
use mcpgraph_mcp::server::{Broadcaster, Call, Change, Client, Description, Service};
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::{Instruments, Runtime, World};
use mcpgraph_upstream::{Changed, Upstreams};
use mcpgraph_value::{Map, Value};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::aliases::Aliases;
use crate::listing::{self, Kind};
use crate::names::Exposed;
use crate::relay::{self, Params};
use crate::tasks::{self, Tasks};
use crate::workflows::Workflows;
use crate::{call, result, template};

/// The server behind every transport.
pub struct Gateway {
    offer: ArcSwap<Offer>,
    upstreams: Arc<Upstreams>,
    tasks: Tasks,
    broadcaster: Broadcaster,
    aliases: Aliases,
    /// What calls and lists go through: the workflows of the offer and of `others`.
    workflows: ArcSwap<Workflows>,
    others: ArcSwap<Vec<Arc<Graph>>>,
    /// Told when the offer was replaced: a resource may be another server's now.
    replaced: Notify,
}

/// What is offered to clients; replaced as a whole when the files change.
pub struct Offer {
    /// How the server introduces itself.
    info: Arc<RawValue>,
    graph: Arc<Graph>,
    /// Runs end with the servers they began with, also when the files change meanwhile.
    runtime: Runtime,
    exposed: Vec<Exposed>,
    header_parameters: HashMap<Arc<str>, Arc<[HeaderParameter]>>,
}

impl Offer {
    /// The tools of a graph, and what the exposed ones among the servers have. `upstreams` are
    /// these servers.
    pub fn new(
        graph: Arc<Graph>,
        servers: &[ServerDef],
        upstreams: &Upstreams,
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
        let server = &graph.server;
        let info =
            raw(&json!({ "name": server.name, "title": server.title, "version": server.version }));
        let runtime =
            Runtime::new(Arc::new(World::new(Arc::new(upstreams.pinned())))).with(instruments);
        Self {
            info: info.into(),
            runtime,
            exposed: Exposed::among(servers),
            graph,
            header_parameters,
        }
    }
}

impl Offer {
    /// The graph whose tools are offered.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// What executes them.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl Gateway {
    /// A gateway with a first offer.
    pub fn new(offer: Offer, upstreams: Arc<Upstreams>, broadcaster: Broadcaster) -> Arc<Self> {
        Arc::new(Self {
            workflows: ArcSwap::from_pointee(Workflows::of([&offer.graph])),
            others: ArcSwap::default(),
            offer: ArcSwap::from_pointee(offer),
            upstreams,
            tasks: Tasks::default(),
            aliases: Aliases::default(),
            broadcaster,
            replaced: Notify::new(),
        })
    }

    /// What is offered now.
    pub fn offer(&self) -> Arc<Offer> {
        self.offer.load_full()
    }

    /// Replaces what is offered and tells clients. Calls under way finish on what they began with.
    pub fn replace(&self, offer: Offer) {
        let exposes = !offer.exposed.is_empty();
        let exposed = !self.offer.swap(Arc::new(offer)).exposed.is_empty();
        self.place_workflows();
        self.replaced.notify_one();
        self.broadcaster.send(&Change::Tools);
        // Only exposed servers have resources and prompts.
        if exposes || exposed {
            self.broadcaster.send(&Change::Resources);
            self.broadcaster.send(&Change::Prompts);
        }
    }

    /// Puts the workflows of other graphs around calls and lists, beside those of the offer, and
    /// tells clients. Calls under way go through what they began with.
    pub fn set_workflows(&self, others: Vec<Arc<Graph>>) {
        self.others.store(Arc::new(others));
        self.place_workflows();
        self.broadcaster.send(&Change::Tools);
    }

    fn place_workflows(&self) {
        let (offer, others) = (self.offer.load(), self.others.load());
        self.workflows.store(Arc::new(Workflows::of(others.iter().chain([&offer.graph]))));
        // Other workflows show other names.
        self.aliases.clear();
    }

    /// What calls and lists go through.
    pub(crate) fn workflows(&self) -> Arc<Workflows> {
        self.workflows.load_full()
    }

    /// Passes changes of exposed servers on to clients, until the servers are gone.
    pub async fn follow_upstreams(self: Arc<Self>) {
        let mut changes = self.upstreams.changes();
        loop {
            match changes.recv().await {
                Ok(change) => {
                    let offer = self.offer.load();
                    if offer.exposed.iter().any(|exposed| *exposed.server == *change.server) {
                        self.pass_on(change.what);
                    }
                }
                // Too many at once: which ones were lost is not known, so all may have changed.
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                    for change in [Change::Tools, Change::Resources, Change::Prompts] {
                        self.broadcaster.send(&change);
                    }
                }
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    /// Has each exposed server tell of those of its resources that some client watches, until the
    /// future is dropped.
    pub async fn follow_watched(self: Arc<Self>) {
        let mut epoch = self.broadcaster.watch_resources();
        let mut watching: Vec<String> = Vec::new();
        loop {
            epoch.mark_unchanged();
            let offer = self.offer.load_full();
            // Servers that watched something may have to stop.
            let mut wanted: BTreeMap<String, BTreeSet<String>> =
                watching.drain(..).map(|server| (server, BTreeSet::new())).collect();
            for uri in self.broadcaster.watched_resources() {
                if let Some(server) = self.find_resource(&offer, &uri).await {
                    wanted.entry(server).or_default().insert(uri);
                }
            }
            for (server, uris) in wanted {
                let watches = !uris.is_empty();
                if let Err(error) = self.upstreams.watch_resources(&server, uris) {
                    tracing::debug!(server, %error, "resources are not watched");
                }
                if watches {
                    watching.push(server);
                }
            }
            tokio::select! {
                changed = epoch.changed() => if changed.is_err() { return },
                () = self.replaced.notified() => {}
            }
        }
    }

    fn pass_on(&self, what: Changed) {
        let change = match what {
            Changed::Tools => Change::Tools,
            Changed::Resources => Change::Resources,
            Changed::Prompts => Change::Prompts,
            Changed::Resource(uri) => Change::Resource(uri),
            Changed::Connected | Changed::Disconnected(_) => return,
        };
        self.broadcaster.send(&change);
    }

    pub(crate) fn aliases(&self) -> &Aliases {
        &self.aliases
    }

    pub(crate) async fn list_tools(&self, offer: &Offer, call: &Call) -> Raw {
        let mut tools: Vec<Raw> = offer
            .graph
            .tools
            .iter()
            .map(|tool| raw(&result::listed(tool, call.version())))
            .collect();
        let own: HashSet<&str> = offer.graph.tools.iter().map(|tool| &*tool.name).collect();
        let items = listing::items(&self.upstreams, &offer.exposed, Kind::Tools).await;
        // The graph's own tools come first, and a call of a name both have goes to them.
        tools.extend(items.into_iter().filter(|item| !own.contains(&*item.name)).map(|i| i.raw));
        listing::result(Kind::Tools, &tools)
    }

    async fn list(&self, offer: &Offer, kind: Kind) -> Raw {
        let items = listing::items(&self.upstreams, &offer.exposed, kind).await;
        listing::result(kind, &items.into_iter().map(|item| item.raw).collect::<Vec<_>>())
    }

    async fn call_tool(&self, offer: &Arc<Offer>, call: &Call) -> Result<Raw, RpcError> {
        let params = relay::params(call)?;
        if self.workflows.load().is_empty() {
            return self.call_directly(offer, call, params).await;
        }
        self.call_around(offer, call, params).await
    }

    /// Calls a tool that no workflow is put around, or none any more.
    pub(crate) async fn call_directly(
        &self,
        offer: &Offer,
        call: &Call,
        params: Params,
    ) -> Result<Raw, RpcError> {
        let name = relay::text(&params, "name")?;
        if let Some(tool) = offer.graph.tool(&name) {
            return self.run(offer, Arc::clone(tool), &params, call).await;
        }
        let Some((server, inner)) = self.find(offer, Kind::Tools, &name).await else {
            return Err(unknown_tool(offer, &name));
        };
        let result = self.pass_named(&server, &inner, call, params).await?;
        self.tasks.notice(&server, &result);
        Ok(result)
    }

    async fn run(
        &self,
        offer: &Offer,
        tool: Arc<Tool>,
        params: &Params,
        call: &Call,
    ) -> Result<Raw, RpcError> {
        let input = match params.get("arguments") {
            None => Value::object(Map::new()),
            Some(arguments) => match Value::from_json(arguments.get()) {
                Ok(arguments @ Value::Object(_)) => arguments,
                Ok(Value::Null) => Value::object(Map::new()),
                _ => return Err(RpcError::invalid_params("`arguments` must be an object")),
            },
        };
        call::run(&offer.runtime, Arc::clone(&offer.graph), tool, input, call).await
    }

    /// The exposed server that has a tool or prompt of this name, and its own name for it.
    pub(crate) async fn find(
        &self,
        offer: &Offer,
        kind: Kind,
        name: &str,
    ) -> Option<(String, String)> {
        let candidates: Vec<(&Exposed, &str)> = offer
            .exposed
            .iter()
            .filter_map(|exposed| Some((exposed, exposed.inner(name)?)))
            .collect();
        if let [(only, inner)] = candidates[..] {
            // Nobody else can have it; whether it does, the server itself knows best.
            return Some((only.server.clone(), inner.to_owned()));
        }
        let items = listing::items(&self.upstreams, &offer.exposed, kind).await;
        let found = items.iter().find(|item| item.name == name)?;
        let (_, inner) = candidates.iter().find(|(exposed, _)| exposed.server == found.server)?;
        Some((found.server.clone(), (*inner).to_owned()))
    }

    /// The exposed server to ask for the resource with this URI.
    async fn find_resource(&self, offer: &Offer, uri: &str) -> Option<String> {
        if let [only] = &offer.exposed[..] {
            // Nobody else can have it; whether it does, the server itself knows best.
            return Some(only.server.clone());
        }
        self.find_listed_resource(offer, uri).await
    }

    /// The exposed server that lists a resource with this URI, or a template for it.
    async fn find_listed_resource(&self, offer: &Offer, uri: &str) -> Option<String> {
        let resources = listing::items(&self.upstreams, &offer.exposed, Kind::Resources).await;
        if let Some(found) = resources.into_iter().find(|item| item.name == uri) {
            return Some(found.server);
        }
        // The template with the longest fixed beginning says best whose it is.
        let templates = listing::items(&self.upstreams, &offer.exposed, Kind::Templates).await;
        templates
            .into_iter()
            .filter_map(|item| Some((template::fit(&item.name, uri)?, item.server)))
            .max_by_key(|(fit, _)| *fit)
            .map(|(_, server)| server)
    }

    async fn pass_named(
        &self,
        server: &str,
        inner: &str,
        call: &Call,
        mut params: Params,
    ) -> Result<Raw, RpcError> {
        params.insert("name".to_owned(), raw(inner));
        relay::pass(&self.upstreams, server, call, &params).await
    }

    async fn get_prompt(&self, offer: &Offer, call: &Call) -> Result<Raw, RpcError> {
        let params = relay::params(call)?;
        let name = relay::text(&params, "name")?;
        let (server, inner) = self
            .find(offer, Kind::Prompts, &name)
            .await
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: {name}")))?;
        self.pass_named(&server, &inner, call, params).await
    }

    async fn read_resource(&self, offer: &Offer, call: &Call) -> Result<Raw, RpcError> {
        let params = relay::params(call)?;
        let uri = relay::text(&params, "uri")?;
        let found = self.find_resource(offer, &uri).await;
        let server = found.ok_or_else(|| resource_not_found(call, &uri))?;
        relay::pass(&self.upstreams, &server, call, &params).await
    }

    /// `resources/subscribe`. The session knows what its client watches, and
    /// [`Self::follow_watched`] tells the servers; here is only seen to it that somebody has it.
    async fn watch_resource(&self, offer: &Offer, call: &Call) -> Result<Raw, RpcError> {
        let uri = relay::text(&relay::params(call)?, "uri")?;
        let found = self.find_listed_resource(offer, &uri).await;
        found.map(|_| raw(&json!({}))).ok_or_else(|| resource_not_found(call, &uri))
    }

    /// Completion of an argument: the reference says of whose prompt or resource.
    async fn complete(&self, offer: &Offer, call: &Call) -> Result<Raw, RpcError> {
        let mut params = relay::params(call)?;
        let reference = params
            .get("ref")
            .and_then(|reference| Value::from_json(reference.get()).ok())
            .ok_or_else(|| RpcError::invalid_params("`ref` must be an object"))?;
        let text = |key: &str| reference.get(key).and_then(Value::as_str);
        let found = match (text("name"), text("uri")) {
            (Some(name), _) => self.find(offer, Kind::Prompts, name).await,
            (None, Some(uri)) => {
                self.find_resource(offer, uri).await.map(|server| (server, String::new()))
            }
            (None, None) => None,
        };
        let Some((server, inner)) = found else {
            return Ok(raw(&json!({ "completion": { "values": [], "hasMore": false } })));
        };
        if text("name").is_some()
            && let Some(reference) = params.get_mut("ref")
        {
            *reference = relay::with_text(reference, "name", &inner);
        }
        relay::pass(&self.upstreams, &server, call, &params).await
    }

    /// Requests about a task go to the server that runs it.
    async fn with_task(&self, call: &Call) -> Result<Raw, RpcError> {
        tasks::require(&call.client)?;
        let params = relay::params(call)?;
        let id = relay::text(&params, "taskId")?;
        let server = self
            .tasks
            .server(&id)
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown task: {id}")))?;
        relay::pass(&self.upstreams, &server, call, &params).await
    }

    /// What the exposed servers can do, put together with what the gateway does itself.
    async fn capabilities(&self, offer: &Offer) -> Value {
        let mut all: Map = Map::from_iter([
            ("tools", Value::from(Map::from_iter([("listChanged", true)]))),
            ("logging", Map::new().into()),
        ]);
        let connections = join_all(
            offer.exposed.iter().map(|exposed| self.upstreams.connection(&exposed.server)),
        )
        .await;
        for connection in connections.into_iter().flatten() {
            let Ok(theirs) = Value::from_json(connection.capabilities().get()) else { continue };
            for key in ["resources", "prompts", "completions"] {
                if let Some(found) = theirs.get(key)
                    && !all.contains_key(key)
                {
                    all.insert(key, found.clone());
                }
            }
            let extensions = theirs.get("extensions");
            if let Some(found) = extensions.and_then(|all| all.get(tasks::EXTENSION)) {
                all.insert("extensions", Map::from_iter([(tasks::EXTENSION, found.clone())]));
            }
        }
        all.into()
    }
}

#[async_trait]
impl Service for Gateway {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        let offer = self.offer.load_full();
        match call.method.as_str() {
            "tools/list" if self.workflows.load().is_empty() => {
                Ok(self.list_tools(&offer, &call).await)
            }
            "tools/list" => self.list_around(&offer, &call).await,
            "tools/call" => self.call_tool(&offer, &call).await,
            "resources/list" => Ok(self.list(&offer, Kind::Resources).await),
            "resources/templates/list" => Ok(self.list(&offer, Kind::Templates).await),
            "resources/read" => self.read_resource(&offer, &call).await,
            "resources/subscribe" => self.watch_resource(&offer, &call).await,
            // Nobody has to have what is no longer wanted; the session forgets it.
            "resources/unsubscribe" => Ok(raw(&json!({}))),
            "prompts/list" => Ok(self.list(&offer, Kind::Prompts).await),
            "prompts/get" => self.get_prompt(&offer, &call).await,
            "completion/complete" => self.complete(&offer, &call).await,
            // The level is kept by the session and applied to what servers send.
            "logging/setLevel" => Ok(raw(&json!({}))),
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.with_task(&call).await,
            other => Err(RpcError::method_not_found(other)),
        }
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.offer.load().info)
    }

    async fn describe(&self, _: &Client) -> Description {
        let offer = self.offer.load_full();
        Description {
            capabilities: raw(&self.capabilities(&offer).await),
            instructions: offer.graph.server.instructions.clone(),
        }
    }

    fn header_parameters(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        self.offer.load().header_parameters.get(tool).cloned()
    }
}

fn resource_not_found(call: &Call, uri: &str) -> RpcError {
    let code = match call.version().era() {
        Era::Modern => code::INVALID_PARAMS,
        Era::Legacy => code::RESOURCE_NOT_FOUND,
    };
    RpcError::new(code, "Resource not found").with_data(&json!({ "uri": uri }))
}

fn unknown_tool(offer: &Offer, name: &str) -> RpcError {
    let known = offer.graph.tools.iter().map(|tool| &*tool.name);
    let hint = suggest::did_you_mean(name, known).map(|hint| format!("; {hint}"));
    RpcError::invalid_params(format!("Unknown tool: {name}{}", hint.unwrap_or_default()))
}
