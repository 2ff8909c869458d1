//! The server: our three tools in front of those of another service.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use mcpgraph_diagnostics::codes;
use mcpgraph_gateway::{Gate, about};
use mcpgraph_mcp::message::{Notification, Raw, RpcError};
use mcpgraph_mcp::mirror::HeaderParameter;
use mcpgraph_mcp::server::{Broadcaster, Call, Change, Client, Description, Service, SessionKey};
use mcpgraph_runtime::Instruments;
use mcpgraph_sop::{Mode, Procedure};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use crate::answer::{self, Failure};
use crate::binding::{self, Shared, View};
use crate::noted::MAX_NOTING;
use crate::record::Records;
use crate::tools::{self, CONVERSATION, INSTRUCTIONS};
use crate::{Catalogue, Conversation, Key, Store, StoreError};

/// Where a modern client may say which conversation a request belongs to.
pub(crate) const META_CONVERSATION: &str = "mcpgraph/conversation";

/// How often conversations that rest are looked for.
const SWEEP: Duration = Duration::from_mins(1);

/// How procedures are served.
pub struct Options {
    /// Who the clients are.
    pub audience: Audience,
    /// Whether illegal moves are made all the same, in procedures that do not bind.
    pub lenient: bool,
    /// What walks are recorded in and watched by.
    pub instruments: Instruments,
    /// Which of the three tools a client may see, and how often it may call them.
    pub gate: Gate,
    /// Whether other processes serve the conversations of the store, too: then this tells all of them,
    /// and this one, that whoever walks has to look again at what it may call.
    pub elsewhere: Option<Elsewhere>,
}

/// Has every process call [`Procedures::tell_walker`] for a client that walks.
pub type Elsewhere = Arc<dyn Fn(&Client) + Send + Sync>;

/// Who the clients of a server are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// One, for as long as the process lives: stdio.
    One,
    /// Any number: HTTP. They are told apart by their sessions, or by handles where they have none.
    Many,
}

/// The server behind every transport.
pub struct Procedures {
    /// For what goes on when its caller does not wait any more.
    pub(crate) itself: Weak<Self>,
    pub(crate) inner: Arc<dyn Service>,
    /// What can be walked; none if there is nothing, and then the three tools are not there.
    catalogue: ArcSwapOption<Catalogue>,
    pub(crate) store: Arc<dyn Store>,
    broadcaster: Broadcaster,
    audience: Audience,
    pub(crate) lenient: bool,
    gate: Gate,
    pub(crate) records: Records,
    elsewhere: Option<Elsewhere>,
    pub(crate) shared: Mutex<Shared>,
    swept: Mutex<Instant>,
    /// Places for what came of calls to be noted.
    pub(crate) noting: Arc<Semaphore>,
}

/// The parameters of `tools/call`.
#[derive(serde::Deserialize)]
pub(crate) struct CallParams {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: serde_json::Value,
}

impl Procedures {
    /// Puts the three tools before those of `inner`, once there is something to walk.
    pub fn new(
        inner: Arc<dyn Service>,
        catalogue: Option<Catalogue>,
        store: Arc<dyn Store>,
        broadcaster: Broadcaster,
        options: Options,
    ) -> Arc<Self> {
        let Options { audience, lenient, instruments, gate, elsewhere } = options;
        Arc::new_cyclic(|itself| Self {
            itself: Weak::clone(itself),
            inner,
            catalogue: ArcSwapOption::from_pointee(catalogue),
            store,
            broadcaster,
            audience,
            lenient,
            gate,
            records: Records::new(instruments, elsewhere.is_some()),
            elsewhere,
            shared: Mutex::default(),
            swept: Mutex::new(Instant::now()),
            noting: Arc::new(Semaphore::new(MAX_NOTING)),
        })
    }

    /// Replaces what can be walked and tells clients. Whoever walks goes on with the procedure that
    /// was loaded.
    pub fn replace(&self, catalogue: Option<Catalogue>) {
        let catalogue = catalogue.map(Arc::new);
        let is_there = catalogue.is_some();
        let was_there = self.catalogue.swap(catalogue).is_some();
        if is_there || was_there {
            self.broadcaster.send_to(&Change::Tools, |client| {
                tools::NAMES.iter().any(|tool| self.sees(client, tool))
            });
        }
    }

    /// The procedures the operator named.
    pub fn named(&self) -> Vec<Arc<Procedure>> {
        self.catalogue.load().as_ref().map_or_else(Vec::new, |now| now.procedures.clone())
    }

    /// Ends the records of the walks that are under way and end with this process.
    pub async fn close(&self) {
        for key in self.records.keys() {
            self.end(&key).await;
        }
    }

    /// The conversation a request belongs to, if it says so.
    pub(crate) fn key_of(&self, call: &Call, arguments: &serde_json::Value) -> Option<Key> {
        match (self.audience, &call.client.session) {
            (Audience::One, _) => Some(Key::process()),
            (Audience::Many, Some(session)) => Some(Key::session(session)),
            (Audience::Many, None) => {
                let handle = call.meta.get_str(META_CONVERSATION);
                let argument = || arguments.get(CONVERSATION)?.as_str().map(str::to_owned);
                Some(Key::handle(&handle.or_else(argument)?))
            }
        }
    }

    /// Whether a client has to name its conversation.
    pub(crate) fn needs_handle(&self, client: &Client) -> bool {
        self.audience == Audience::Many && client.session.is_none()
    }

    /// Does something with a conversation, and records what happened; none if there is no such
    /// conversation.
    pub(crate) async fn with<T: Send>(
        &self,
        key: &Key,
        mut act: impl FnMut(&mut Conversation) -> T + Send,
    ) -> Result<Option<T>, Failure> {
        let mut done = None;
        let mut change = |conversation: &mut Conversation| {
            let acted = act(conversation);
            done = Some((acted, conversation.trail.run, conversation.trail.take()));
        };
        let changed = self.store.change(key, Instant::now(), &mut change).await;
        // It may have been forgotten after a change that somebody else was faster than.
        let is_there = changed.map_err(|error| away(&error))?;
        let Some((acted, run, events)) = done.filter(|_| is_there) else { return Ok(None) };
        self.records.tell(key, run, events).await;
        Ok(Some(acted))
    }

    async fn list_tools(&self, call: Call, catalogue: &Catalogue) -> Result<Raw, RpcError> {
        let mut own = tools::listed(self.needs_handle(&call.client));
        own.retain(|tool| tool["name"].as_str().is_some_and(|name| self.sees(&call.client, name)));
        let view = self.view(&call, catalogue).await.map_err(Failure::into_error)?;
        let listed = self.inner.call(call).await?;
        binding::listing(&listed, &own, &view)
    }

    /// Whether one of the three tools is there for a client. They belong to the graph.
    fn sees(&self, client: &Client, tool: &str) -> bool {
        self.gate.sees_own(client, tool)
    }

    /// Which of the other tools a client sees.
    async fn view(&self, call: &Call, catalogue: &Catalogue) -> Result<View, Failure> {
        let key = self.key_of(call, &serde_json::Value::Null);
        let allowed = match &key {
            Some(key) => {
                self.with(key, |Conversation { walk, .. }| {
                    (walk.mode() == Mode::Enforced).then(|| walk.allowed().collect())
                })
                .await?
            }
            None => None,
        };
        Ok(match allowed {
            Some(Some(allowed)) => View::Only(allowed),
            Some(None) => View::All,
            None if !catalogue.binds => View::All,
            None if key.is_none() => View::Named(binding::named(&catalogue.procedures)),
            None => View::Only(binding::named(&[])),
        })
    }

    async fn call_tool(&self, call: Call, catalogue: &Catalogue) -> Result<Raw, RpcError> {
        let text = call.params.as_deref().map_or("{}", RawValue::get);
        let params: CallParams = serde_json::from_str(text)
            .map_err(|error| RpcError::invalid_params(format!("the parameters: {error}")))?;
        // One that may not be seen is answered as one that does not exist.
        if !binding::is_own(&params.name) || !self.sees(&call.client, &params.name) {
            return self.call_other(params, call, catalogue.binds).await;
        }
        about(&call, &params.name);
        self.gate.count(&call.client, Some(&params.name)).await?;
        self.sweep().await;
        let answer = match params.name.as_str() {
            tools::LOAD_GRAPH => self.load(params.arguments, &call, catalogue).await,
            tools::TODO => self.plan(params.arguments, &call).await,
            _ => self.go(params.arguments, &call).await,
        };
        Ok(answer::result(answer))
    }

    /// Whoever walks looks again at what it may call; nobody else hears of that. A client without a
    /// session is known by its token only.
    pub(crate) fn tell_of_tools(&self, mode: Mode, walks: &Client) {
        match &self.elsewhere {
            _ if mode != Mode::Enforced => {}
            Some(tell) => tell(walks),
            None => {
                let session = walks.session.as_ref().map(SessionKey::as_str);
                self.tell_walker(session, walks.principal.as_deref());
            }
        }
    }

    /// Tells a client that walks, by its session if it has one, to look again at what it may call.
    pub fn tell_walker(&self, session: Option<&str>, principal: Option<&str>) {
        self.broadcaster.send_to(&Change::Tools, |client| {
            let own = client.session.as_ref().map(SessionKey::as_str);
            client.principal.as_deref() == principal && (session.is_none() || own == session)
        });
    }

    /// Forgets the conversations that rest, now and then.
    async fn sweep(&self) {
        let now = Instant::now();
        {
            let mut swept = self.swept.lock();
            if now.saturating_duration_since(*swept) < SWEEP {
                return;
            }
            *swept = now;
        }
        match self.store.expire(now).await {
            Ok(expired) => {
                for (key, Conversation { mut trail, .. }) in expired {
                    trail.end(None);
                    self.records.tell(&key, trail.run, trail.take()).await;
                }
            }
            Err(error) => tracing::debug!(%error, "conversations that rest are not forgotten"),
        }
    }

    /// A conversation is over.
    async fn end(&self, key: &Key) {
        let ended = self.with(key, |Conversation { walk, trail }| {
            let path: Vec<Value> = walk.path().map(|id| Arc::clone(id).into()).collect();
            let todos = Value::from_json(&answer::summary(walk).to_string()).unwrap_or_default();
            let result = mcpgraph_value::Map::from_iter([("path", path.into()), ("todos", todos)]);
            trail.end(Some(result.into()));
        });
        // What cannot be ended now is forgotten when it has rested for long.
        if ended.await.is_ok()
            && let Err(error) = self.store.remove(key).await
        {
            tracing::debug!(%error, "a conversation is not forgotten");
        }
    }
}

#[async_trait]
impl Service for Procedures {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        let Some(catalogue) = self.catalogue.load_full() else {
            return self.inner.call(call).await;
        };
        match call.method.as_str() {
            "tools/list" => self.list_tools(call, &catalogue).await,
            "tools/call" => self.call_tool(call, &catalogue).await,
            _ => self.inner.call(call).await,
        }
    }

    fn info(&self) -> Arc<RawValue> {
        self.inner.info()
    }

    async fn describe(&self, client: &Client) -> Description {
        let mut description = self.inner.describe(client).await;
        let Some(catalogue) = self.catalogue.load_full() else { return description };
        if !self.sees(client, tools::LOAD_GRAPH) {
            return description;
        }
        let named: Vec<String> = catalogue
            .procedures
            .iter()
            .map(|procedure| format!("{} ({})", procedure.source.name(), procedure.agent()))
            .collect();
        let mut text = String::from(INSTRUCTIONS);
        if !named.is_empty() {
            text.push_str(" Files for load_graph: ");
            text.push_str(&named.join(", "));
            text.push('.');
        }
        if let Some(more) = description.instructions {
            text = format!("{more}\n\n{text}");
        }
        description.instructions = Some(text);
        description
    }

    async fn notified(&self, client: &Arc<Client>, notification: Notification) {
        self.inner.notified(client, notification).await;
    }

    async fn closed(&self, client: &Arc<Client>) {
        // Over stdio the conversation ends with the process.
        if let (Audience::Many, Some(session)) = (self.audience, &client.session) {
            self.end(&Key::session(session)).await;
        }
        self.inner.closed(client).await;
    }

    fn header_parameters(&self, client: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        let is_own = binding::is_own(tool) && self.catalogue.load().is_some();
        if is_own { None } else { self.inner.header_parameters(client, tool) }
    }

    async fn may_watch(&self, client: &Client, uri: &str) -> bool {
        self.inner.may_watch(client, uri).await
    }
}

/// The store of conversations does not do what it was asked for.
pub(crate) fn away(error: &StoreError) -> Failure {
    Failure::new(codes::STORE_AWAY, error.to_string())
}
