//! The server behind every transport: requests are answered by the graph or by exposed servers.

mod finding;
mod following;
mod passing;

use std::sync::Arc;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use futures_util::future::join_all;
use mcpgraph_diagnostics::suggest;
use mcpgraph_graph::Graph;
use mcpgraph_journal::{Journal, Seals};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::mirror::HeaderParameter;
use mcpgraph_mcp::server::{Broadcaster, Call, Client, Description, Service};
use mcpgraph_runtime::Questions;
use mcpgraph_upstream::Upstreams;
use mcpgraph_value::{Map, Value};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::aliases::Aliases;
use crate::apart::Apart;
use crate::around::Outer;
use crate::listing::{self, Kind, Listed};
use crate::names::Exposed;
use crate::parked::Parking;
use crate::passage::Passage;
use crate::relay::{self, Params};
use crate::seal::Seal;
use crate::shown::Shown;
use crate::tasks::{self, Tasks};
use crate::view::View;
use crate::workflows::Workflows;
use crate::{Gate, Offer, about, adapt, asking, call, discovery, result};

/// The server behind every transport.
pub struct Gateway {
    offer: ArcSwap<Offer>,
    upstreams: Arc<Upstreams>,
    tasks: Tasks,
    /// Calls that wait for the answers of modern clients.
    parking: Arc<Parking>,
    /// Runs that go on by themselves.
    apart: Apart,
    broadcaster: Broadcaster,
    shown: Shown,
    aliases: Aliases,
    /// What calls and lists go through: the workflows of the offer and of `others`.
    workflows: ArcSwap<Workflows>,
    others: ArcSwap<Vec<Arc<Graph>>>,
    /// Told when the offer was replaced: a resource may be another server's now.
    replaced: Notify,
    gate: Gate,
}

impl Gateway {
    /// A gateway with a first offer, of which everybody may see everything.
    pub fn new(offer: Offer, upstreams: Arc<Upstreams>, broadcaster: Broadcaster) -> Arc<Self> {
        Self::guarded(offer, upstreams, broadcaster, Gate::default())
    }

    /// A gateway with a first offer, of which clients see and use what the gate grants them.
    pub fn guarded(
        offer: Offer,
        upstreams: Arc<Upstreams>,
        broadcaster: Broadcaster,
        gate: Gate,
    ) -> Arc<Self> {
        Arc::new(Self {
            workflows: ArcSwap::from_pointee(Workflows::of([&offer.graph])),
            others: ArcSwap::default(),
            offer: ArcSwap::from_pointee(offer),
            upstreams,
            tasks: Tasks::default(),
            parking: Arc::new(Parking::new()),
            apart: Apart::default(),
            aliases: Aliases::default(),
            broadcaster,
            shown: Shown::default(),
            replaced: Notify::new(),
            gate,
        })
    }

    /// What is offered now.
    pub fn offer(&self) -> Arc<Offer> {
        self.offer.load_full()
    }

    /// Replaces what is offered and tells clients. Calls under way finish on what they began with.
    pub fn replace(&self, offer: Offer) {
        let offer = Arc::new(offer);
        let before = self.offer.swap(Arc::clone(&offer));
        self.place_workflows();
        self.replaced.notify_one();
        self.tell_of_offer(&before, &offer);
    }

    /// Puts the workflows of other graphs around calls and lists, beside those of the offer, and
    /// tells clients. Calls under way go through what they began with.
    pub fn set_workflows(&self, others: Vec<Arc<Graph>>) {
        self.others.store(Arc::new(others));
        self.place_workflows();
    }

    /// Seals what clients are given with the keys of a store, so that every process with that
    /// store opens it.
    pub fn set_seals(&self, seals: Arc<Seals>) {
        self.parking.seal().set(seals);
    }

    /// Lets the answers of clients find the process that asked, through the store that it shares
    /// with others, until the future is dropped.
    pub fn share_questions(
        &self,
        journal: Arc<Journal>,
    ) -> impl Future<Output = ()> + Send + 'static {
        self.parking.share(journal)
    }

    fn place_workflows(&self) {
        let (offer, others) = (self.offer.load(), self.others.load());
        let now = Arc::new(Workflows::of(others.iter().chain([&offer.graph])));
        let before = self.workflows.swap(Arc::clone(&now));
        // Other workflows show other names.
        self.aliases.clear();
        if !now.list_as(&before) {
            self.tell_of_workflows();
        }
    }

    /// What calls and lists go through.
    pub(crate) fn workflows(&self) -> Arc<Workflows> {
        self.workflows.load_full()
    }

    pub(crate) fn apart(&self) -> &Apart {
        &self.apart
    }

    pub(crate) fn seal(&self) -> &Seal {
        self.parking.seal()
    }

    pub(crate) fn aliases(&self) -> &Aliases {
        &self.aliases
    }

    /// What a client may see.
    fn view(&self, client: &Client) -> View {
        View { offer: self.offer.load_full(), grant: self.gate.grant(client) }
    }

    pub(crate) async fn list_tools(&self, view: &View, call: &Call) -> Raw {
        let mut tools: Vec<Raw> =
            view.own_tools().map(|tool| raw(&result::listed(tool, call.version()))).collect();
        if view.is_asked() && view.offer.graph.tool(asking::CONTINUE).is_none() {
            tools.push(asking::tool());
        }
        if view.offer.discovers {
            tools.extend(discovery::tools());
            return listing::result(Kind::Tools, &tools, &[]);
        }
        let Listed { items, left_out, .. } = self.seen(view, Kind::Tools).await;
        tools.extend(items.into_iter().map(|item| item.raw));
        listing::result(Kind::Tools, &tools, &left_out)
    }

    async fn list(&self, view: &View, kind: Kind) -> Raw {
        let Listed { items, left_out, .. } = self.seen(view, kind).await;
        let items: Vec<Raw> = items.into_iter().map(|item| item.raw).collect();
        listing::result(kind, &items, &left_out)
    }

    async fn call_tool(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let offer = &view.offer;
        let mut params = relay::params(call)?;
        let mut name = relay::text(&params, "name")?;
        if offer.discovers && offer.graph.tool(&name).is_none() {
            if name == discovery::FIND {
                about(call, &name);
                let arguments = arguments(&params)?;
                self.gate.count(&call.client, Some(&name)).await?;
                return discovery::find(&self.seen(view, Kind::Tools).await, &arguments);
            }
            if name == discovery::CALL {
                params = discovery::unwrapped(&params)?;
                name = relay::text(&params, "name")?;
            }
        }
        if name == asking::CONTINUE && offer.graph.tool(&name).is_none() && view.is_asked() {
            self.gate.count(&call.client, Some(&name)).await?;
            // Boxed, as whatever is rare and large: see [`relay::pass`].
            return Box::pin(self.continue_run(view, call, &params)).await;
        }
        about(call, &name);
        self.gate.count(&call.client, Some(&name)).await?;
        if self.workflows.load().is_empty() {
            return self.call_directly(view, call, params, None).await;
        }
        Box::pin(self.call_around(view, call, params)).await
    }

    /// Calls a tool that no workflow is put around, or none any more; `outer` is the run of the
    /// innermost that is.
    pub(crate) async fn call_directly(
        &self,
        view: &View,
        call: &Call,
        mut params: Params,
        outer: Option<&Outer>,
    ) -> Result<Raw, RpcError> {
        let offer = &view.offer;
        let name = relay::text(&params, "name")?;
        if let Some(tool) = offer.graph.tool(&name) {
            // Another tool of that name does not take the place of one that may not be seen.
            return if view.sees_own(&name) {
                let takes_time = offer.takes_time(tool) && tasks::wanted(call);
                if offer.asks(&name) || takes_time {
                    return Box::pin(self.call_asking(view, call, &params, tool, outer)).await;
                }
                let input = arguments(&params)?;
                let (graph, tool) = (Arc::clone(&offer.graph), Arc::clone(tool));
                call::run(&offer.runtime, graph, tool, input, call, outer).await
            } else {
                Err(unknown_tool(view, &name))
            };
        }
        let Some((server, inner)) = self.find(view, Kind::Tools, &name).await else {
            return Err(unknown_tool(view, &name));
        };
        let exposed = offer.exposed.iter().find(|exposed| exposed.server == server);
        if let Some(tool) = exposed.and_then(|exposed| exposed.tool(&inner))
            && !tool.arguments.is_empty()
        {
            let given = params.get("arguments").map(|arguments| &**arguments);
            let arguments = adapt::arguments(given, &tool.arguments)?;
            params.insert("arguments".to_owned(), arguments);
        }
        let names = (&*name, &*server, &*inner);
        let passage = Passage::begin(&offer.runtime, call, names, &params, outer);
        let result = self.pass_named(&server, &inner, call, params, passage).await?;
        let questions = offer.runtime().questions();
        let journal = questions.as_ref().map(Questions::journal);
        self.tasks.notice(&server, &call.client, &result, journal).await;
        Ok(result)
    }

    async fn pass_named(
        &self,
        server: &str,
        inner: &str,
        call: &Call,
        mut params: Params,
        passage: Passage,
    ) -> Result<Raw, RpcError> {
        params.insert("name".to_owned(), raw(inner));
        relay::pass(&self.parking, &self.upstreams, server, call, params, passage).await
    }

    /// What the exposed servers can do, put together with what the gateway does itself. Of a server
    /// that takes too long to begin nothing is known.
    async fn capabilities(&self, view: &View) -> Value {
        let mut all: Map = Map::from_iter([
            ("tools", Value::from(Map::from_iter([("listChanged", true)]))),
            ("logging", Map::new().into()),
        ]);
        let exposed = view.offer.exposed.iter();
        let seen = exposed.filter(|exposed| view.grant.sees_some_of(&exposed.server));
        let late = &view.offer.late;
        let connections = join_all(seen.map(|Exposed { server, .. }| async move {
            let patience = late.patience(server);
            let connected = tokio::time::timeout(patience, self.upstreams.connection(server)).await;
            // One that can be reached may be late with its lists all the same.
            if connected.is_err() {
                late.note(server, patience, true);
            }
            connected
        }))
        .await;
        for connection in connections.into_iter().flatten().flatten() {
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
        let has_tasks = view.own_tools().any(|tool| view.offer.takes_time(tool));
        if has_tasks && !all.contains_key("extensions") {
            all.insert("extensions", Map::from_iter([(tasks::EXTENSION, Value::from(Map::new()))]));
        }
        all.into()
    }
}

impl Gateway {
    async fn answer(&self, call: &Call) -> Result<Raw, RpcError> {
        let view = &self.view(&call.client);
        if call.method != "tools/call" {
            self.gate.count(&call.client, None).await?;
        }
        match call.method.as_str() {
            "tools/list" if self.workflows.load().is_empty() => {
                Ok(self.list_tools(view, call).await)
            }
            "tools/list" => self.list_around(view, call).await,
            "tools/call" => self.call_tool(view, call).await,
            "resources/list" => Ok(self.list(view, Kind::Resources).await),
            "resources/templates/list" => Ok(self.list(view, Kind::Templates).await),
            "resources/read" => self.read_resource(view, call).await,
            "resources/subscribe" => self.watch_resource(view, call).await,
            // Nobody has to have what is no longer wanted; the session forgets it.
            "resources/unsubscribe" => Ok(raw(&json!({}))),
            "prompts/list" => Ok(self.list(view, Kind::Prompts).await),
            "prompts/get" => self.get_prompt(view, call).await,
            "completion/complete" => self.complete(view, call).await,
            // The level is kept by the session and applied to what servers send.
            "logging/setLevel" => Ok(raw(&json!({}))),
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.with_task(view, call).await,
            other => Err(RpcError::method_not_found(other)),
        }
    }
}

#[async_trait]
impl Service for Gateway {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        self.answer(&call).await
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.offer.load().info)
    }

    async fn describe(&self, client: &Client) -> Description {
        let view = self.view(client);
        Description {
            capabilities: raw(&self.capabilities(&view).await),
            instructions: view.offer.graph.server.instructions.clone(),
        }
    }

    fn header_parameters(&self, client: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        let found = self.offer.load().header_parameters.get(tool).cloned()?;
        self.gate.sees_own(client, tool).then_some(found)
    }

    async fn may_watch(&self, client: &Client, uri: &str) -> bool {
        self.find_watchable(&self.view(client), uri).await.is_some()
    }
}

/// The arguments of a call; nothing stands for none.
pub(crate) fn arguments(params: &Params) -> Result<Value, RpcError> {
    let text = params.get("arguments").map_or("{}", |arguments| arguments.get());
    match Value::from_json(text) {
        Ok(Value::Null) => Ok(Value::object(Map::new())),
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err(RpcError::invalid_params("`arguments` must be an object")),
        Err(error) => Err(adapt::not_arguments(text, &error)),
    }
}

/// The answer for a tool that is not there, or not for this client.
pub(crate) fn unknown_tool(view: &View, name: &str) -> RpcError {
    let known = view.own_tools().map(|tool| &*tool.name);
    let hint = suggest::did_you_mean(name, known).map(|hint| format!("; {hint}"));
    RpcError::invalid_params(format!("Unknown tool: {name}{}", hint.unwrap_or_default()))
}
