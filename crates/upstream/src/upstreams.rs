//! The servers of a configuration, by name.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use mcpgraph_mcp::client::Connection;
use mcpgraph_mcp::message::{Raw, code, raw};
use mcpgraph_mcp::mirror::header_parameters;
use mcpgraph_mcp::version::Era;
use mcpgraph_value::Value;
use parking_lot::RwLock;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::catalogue::{ItemInfo, Kind, ToolInfo};
use crate::error::millis;
use crate::rounds::{MAX_ROUNDS, Questions};
use crate::server::Server;
use crate::status::{Peer, ServerStatus};
use crate::{
    CallContext, CallResult, Change, Changed, Reaper, Specs, UpstreamError, UpstreamOptions,
};

/// How many changes wait for a slow listener before the oldest are lost to it.
const CHANGES: usize = 256;
/// How many items a list may have.
const MAX_ITEMS: usize = 100_000;
/// How many pages a list may have.
const MAX_PAGES: usize = 1000;

/// The servers of a configuration.
pub struct Upstreams {
    servers: RwLock<IndexMap<String, Arc<Server>>>,
    /// The names of those that the configuration leaves alone.
    disabled: RwLock<Arc<BTreeSet<String>>>,
    options: Arc<UpstreamOptions>,
    changes: broadcast::Sender<Change>,
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: &'a Value,
}

#[derive(Serialize)]
struct PageParams<'a> {
    cursor: &'a str,
}

impl Upstreams {
    /// The servers by name. None is started before it is used.
    pub fn new(specs: impl Into<Specs>, options: UpstreamOptions) -> Self {
        let upstreams = Self {
            servers: RwLock::default(),
            disabled: RwLock::default(),
            options: Arc::new(options),
            changes: broadcast::Sender::new(CHANGES),
        };
        upstreams.replace(specs);
        upstreams
    }

    /// What ends the servers' processes after us, for others who start programs.
    pub fn reaper(&self) -> Option<&Reaper> {
        self.options.reaper.as_ref()
    }

    /// The names, in the order of the configuration.
    pub fn names(&self) -> Vec<String> {
        self.servers.read().keys().cloned().collect()
    }

    /// How each server stands, in the order of the configuration. None is started for that.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.read().values().map(|server| server.status()).collect()
    }

    /// Where a server is, and what is spoken with it. It is not started for that.
    pub fn peer(&self, server: &str) -> Option<Peer> {
        let server = self.servers.read().get(server).cloned()?;
        Some(server.peer())
    }

    /// How many calls wait for each server because `maxConcurrent` of them are under way.
    pub fn waiting(&self) -> Vec<(Arc<str>, usize)> {
        let servers = self.servers.read();
        servers.values().map(|server| (server.name.clone(), server.waiting())).collect()
    }

    /// The servers as they are now, whatever [`Upstreams::replace`] does later: for those who must
    /// end with the configuration they began with.
    #[must_use]
    pub fn pinned(&self) -> Self {
        Self {
            servers: RwLock::new(self.servers.read().clone()),
            disabled: RwLock::new(self.disabled.read().clone()),
            options: self.options.clone(),
            changes: self.changes.clone(),
        }
    }

    /// Takes another configuration. A server whose definition did not change keeps running; one
    /// that is gone or changed ends when nobody has it pinned and the calls under way are done.
    pub fn replace(&self, specs: impl Into<Specs>) {
        let Specs { usable, disabled } = specs.into();
        *self.disabled.write() = Arc::new(disabled);
        let mut servers = self.servers.write();
        let old = std::mem::take(&mut *servers);
        let mut replaced = Vec::new();
        for (name, spec) in usable {
            let server = match old.get(&name) {
                Some(server) if server.spec == spec => server.clone(),
                before => {
                    replaced.extend(before.map(|server| server.name.clone()));
                    Server::new(&name, spec, self.options.clone(), self.changes.clone())
                }
            };
            servers.insert(name, server);
        }
        drop(servers);
        for server in replaced {
            // Nobody may be listening.
            drop(self.changes.send(Change { server, what: Changed::Replaced }));
        }
        // The last reference to a server ends it, which must not happen under the lock.
        drop(old);
    }

    /// Calls a tool. A tool that fails is an `Ok`; [`CallResult::into_output`] tells.
    ///
    /// All events are in the context's channel before the result is given back, and the channel is
    /// closed by then.
    pub async fn call_tool(
        &self,
        server: &str,
        tool: &str,
        args: Value,
        context: CallContext,
    ) -> Result<CallResult, UpstreamError> {
        let server = self.server(server)?;
        let params = raw(&CallParams { name: tool, arguments: &args });
        let result = self.in_rounds(&server, "tools/call", tool, params, context).await?;
        called(&server, tool, &result)
    }

    /// Passes a request on. What a modern server asks before it answers goes to the context's
    /// channel, as a legacy server's questions do, and the request is made again with the answers.
    pub async fn converse(
        &self,
        server: &str,
        method: &str,
        params: Raw,
        context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        self.in_rounds(&self.server(server)?, method, method, params, context).await
    }

    async fn in_rounds(
        &self,
        server: &Arc<Server>,
        method: &str,
        what: &str,
        mut params: Raw,
        context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        let start = Instant::now();
        for _ in 0..MAX_ROUNDS {
            let remaining = context.timeout.map(|total| total.saturating_sub(start.elapsed()));
            let round = CallContext { timeout: remaining, ..context.clone() };
            let result = match self.send(server, method, what, Some(params.clone()), round).await {
                Ok(result) => result,
                Err(UpstreamError::Timeout { server, what, ms }) => {
                    let ms = context.timeout.map_or(ms, millis);
                    return Err(UpstreamError::Timeout { server, what, ms });
                }
                Err(error) => return Err(error),
            };
            let (Some(questions), Some(events)) = (Questions::of(&result), &context.events) else {
                return Ok(result);
            };
            let bounds = Bounds::new(server, what, &context, start);
            let answered = bounds.hold(questions.answer(&params, events)).await?;
            params = answered.map_err(|error| UpstreamError::Protocol {
                server: server.name.clone(),
                what: what.to_owned(),
                error,
            })?;
        }
        Err(UpstreamError::Broken {
            server: server.name.clone(),
            reason: format!("`{what}` asked more than {MAX_ROUNDS} times and was not done"),
        })
    }

    /// Passes a request on as it is.
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<Raw>,
        context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        self.send(&self.server(server)?, method, method, params, context).await
    }

    /// Sends a request; once more if the server wants arguments repeated in headers, which its list
    /// of tools tells.
    async fn send(
        &self,
        server: &Arc<Server>,
        method: &str,
        what: &str,
        params: Option<Raw>,
        context: CallContext,
    ) -> Result<Raw, UpstreamError> {
        // Only over HTTP are there headers, and only calls have arguments.
        let again = (server.spec.target.is_http() && method == "tools/call")
            .then(|| (params.clone(), context.clone()));
        match (server.request(method, params, what, context).await, again) {
            (Err(UpstreamError::Protocol { error, .. }), Some((params, context)))
                if error.code == code::HEADER_MISMATCH =>
            {
                server.catalogue.listing(Kind::Tools).forget();
                self.list(server, Kind::Tools).await?;
                server.request(method, params, what, context).await
            }
            (answer, _) => answer,
        }
    }

    /// The connection to a server, made if there is none: its version, capabilities, instructions.
    pub async fn connection(&self, server: &str) -> Result<Connection, UpstreamError> {
        self.server(server)?.reach().await
    }

    /// The tools of a server. Over modern HTTP, tools whose header annotations are invalid are
    /// left out, as the protocol wants.
    pub async fn list_tools(&self, server: &str) -> Result<Arc<Vec<ToolInfo>>, UpstreamError> {
        self.list(&self.server(server)?, Kind::Tools).await
    }

    /// The resources of a server.
    pub async fn list_resources(&self, server: &str) -> Result<Arc<Vec<ItemInfo>>, UpstreamError> {
        self.list(&self.server(server)?, Kind::Resources).await
    }

    /// The resource templates of a server.
    pub async fn list_templates(&self, server: &str) -> Result<Arc<Vec<ItemInfo>>, UpstreamError> {
        self.list(&self.server(server)?, Kind::Templates).await
    }

    /// The prompts of a server.
    pub async fn list_prompts(&self, server: &str) -> Result<Arc<Vec<ItemInfo>>, UpstreamError> {
        self.list(&self.server(server)?, Kind::Prompts).await
    }

    /// Has a server tell of changes of exactly these resources, as [`Changed::Resource`](crate::Changed::Resource), also
    /// after it was started again. If there are any, a server that does not run is started; that
    /// is not waited for.
    pub fn watch_resources(
        &self,
        server: &str,
        uris: BTreeSet<String>,
    ) -> Result<(), UpstreamError> {
        self.server(server)?.watch(uris)
    }

    /// What changes from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Ends all servers, at the same time and in bounded time; calls under way fail.
    pub async fn shutdown(&self) {
        let servers: Vec<_> = self.servers.read().values().cloned().collect();
        let endings: Vec<_> = servers
            .into_iter()
            .map(|server| tokio::spawn(async move { server.shutdown().await }))
            .collect();
        for ending in endings {
            if let Err(error) = ending.await {
                tracing::warn!(%error, "a server was not ended in good order");
            }
        }
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, UpstreamError> {
        let servers = self.servers.read();
        servers.get(name).cloned().ok_or_else(|| {
            if self.disabled.read().contains(name) {
                return UpstreamError::Disabled { server: name.into() };
            }
            let nearest = nearest(name, servers.keys());
            UpstreamError::UnknownServer { server: name.to_owned(), nearest }
        })
    }

    /// A list: the kept one if it is fresh, otherwise all pages.
    async fn list(
        &self,
        server: &Arc<Server>,
        kind: Kind,
    ) -> Result<Arc<Vec<ItemInfo>>, UpstreamError> {
        let listing = server.catalogue.listing(kind);
        if let Some(items) = listing.fresh() {
            return Ok(items);
        }
        // Whoever reads is bounded by its requests' deadlines, so nobody waits for ever here.
        let _reading = listing.reading.lock().await;
        if let Some(items) = listing.fresh() {
            return Ok(items);
        }
        let connection = server.reach().await?;
        let changes = listing.changes();
        if kind != Kind::Tools && Server::capability(&connection, kind.capability()).is_none() {
            // It says that it has none. Asked all the same it would refuse, as if it had failed.
            let none = Arc::default();
            listing.keep(Arc::clone(&none), None, changes);
            return Ok(none);
        }
        // A list is for all who ask, and why there is none is logged.
        let (mut items, ttl) = match read_pages(server, kind).await {
            // Servers with resources need not have templates, and there is no capability for them.
            Err(UpstreamError::Protocol { error, .. })
                if kind == Kind::Templates && error.code == code::METHOD_NOT_FOUND =>
            {
                (Vec::new(), None)
            }
            read => read.map_err(|error| error.hidden(|text| connection.hide(text)))?,
        };
        if kind == Kind::Tools && connection.is_http() && connection.era() == Era::Modern {
            items.retain(|tool| has_valid_headers(tool, &connection));
        }
        let items = Arc::new(items);
        let ttl = if Server::tells_changes(&connection, kind.capability()) { None } else { ttl };
        listing.keep(items.clone(), ttl, changes);
        Ok(items)
    }
}

/// Reads a list to its end, and how long it may be kept.
async fn read_pages(
    server: &Arc<Server>,
    kind: Kind,
) -> Result<(Vec<ItemInfo>, Option<Duration>), UpstreamError> {
    let broken = |reason: String| UpstreamError::Broken { server: server.name.clone(), reason };
    let mut items = Vec::new();
    let mut left_out = 0;
    let mut ttl: Option<Duration> = None;
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.as_deref().map(|cursor| raw(&PageParams { cursor }));
        let method = kind.method();
        let result = server.look_up(method, params).await?;
        let page = kind.page(&result).map_err(broken)?;
        items.extend(page.items);
        left_out += page.left_out;
        ttl = match (ttl, page.ttl) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if items.len() > MAX_ITEMS {
            return Err(broken(format!("`{method}` lists more than {MAX_ITEMS} items")));
        }
        match page.next {
            None => {
                if left_out > 0 {
                    tracing::warn!(
                        server = &*server.name,
                        count = left_out,
                        "left out of `{method}`: entries without a readable `{}`",
                        kind.name_key()
                    );
                }
                return Ok((items, ttl));
            }
            next if next == cursor => {
                return Err(broken(format!("`{method}` names the same next page twice")));
            }
            next => cursor = next,
        }
    }
    Err(broken(format!("`{}` has more than {MAX_PAGES} pages", kind.method())))
}

fn has_valid_headers(tool: &ToolInfo, connection: &Connection) -> bool {
    let Some(schema) = tool.value.get("inputSchema") else { return true };
    match header_parameters(&raw(schema)) {
        Ok(_) => true,
        Err(reason) => {
            let (tool, reason) = (connection.hide(&tool.name), connection.hide(&reason));
            tracing::warn!(tool, reason, "left out: invalid header annotations");
            false
        }
    }
}

fn called(server: &Server, tool: &str, result: &Raw) -> Result<CallResult, UpstreamError> {
    let broken = |reason| UpstreamError::Broken { server: server.name.clone(), reason };
    let value = Value::from_json(result.get())
        .map_err(|error| broken(format!("the result of `{tool}` cannot be read: {error}")))?;
    if value.as_object().is_none() {
        return Err(broken(format!("the result of `{tool}` is no object")));
    }
    Ok(CallResult { server: server.name.clone(), tool: tool.into(), result: value })
}

/// The name most like the one asked for, if one is.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    const ALIKE: f64 = 0.75;
    names
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known.clone())
}
