//! The server: our three tools in front of those of another service.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use mcpgraph_diagnostics::{Diagnostics, codes, to_json};
use mcpgraph_engine::LogLevel;
use mcpgraph_gateway::{Gate, about, origin};
use mcpgraph_mcp::message::{Notification, Raw, RpcError};
use mcpgraph_mcp::mirror::HeaderParameter;
use mcpgraph_mcp::server::{Broadcaster, Call, Change, Client, Description, Service, SessionKey};
use mcpgraph_runtime::Instruments;
use mcpgraph_sop::{Mode, Move, Procedure, Walk};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{self, Answer, Failure};
use crate::binding::{self, Shared, View};
use crate::conversation::new_handle;
use crate::record::{Records, new_trail};
use crate::tools::{self, CONVERSATION, GotoNode, INSTRUCTIONS, LoadGraph, Todos};
use crate::trail::millis;
use crate::{Catalogue, Conversation, Key, Library, Store, StoreError};

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
    pub(crate) inner: Arc<dyn Service>,
    /// What can be walked; none if there is nothing, and then the three tools are not there.
    catalogue: ArcSwapOption<Catalogue>,
    store: Arc<dyn Store>,
    broadcaster: Broadcaster,
    audience: Audience,
    lenient: bool,
    gate: Gate,
    pub(crate) records: Records,
    elsewhere: Option<Elsewhere>,
    shared: Mutex<Shared>,
    swept: Mutex<Instant>,
}

/// The parameters of `tools/call`.
#[derive(serde::Deserialize)]
pub(crate) struct CallParams {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: serde_json::Value,
}

/// The members of the answer to `load_graph` are put together from these.
struct Loaded {
    procedure: Arc<Procedure>,
    warnings: Diagnostics,
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
        Arc::new(Self {
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
        self.store.change(key, Instant::now(), &mut change).await.map_err(|error| away(&error))?;
        let Some((acted, run, events)) = done else { return Ok(None) };
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

    async fn load(
        &self,
        arguments: serde_json::Value,
        call: &Call,
        catalogue: &Catalogue,
    ) -> Answer {
        let (key, handle) = match self.key_of(call, &arguments) {
            Some(key) if !self.needs_handle(&call.client) => (key, None),
            // A handle that is not known is not taken: only ours are hard to guess.
            Some(key) if self.with(&key, |_| ()).await?.is_some() => (key, None),
            _ => {
                let handle = new_handle().ok_or_else(|| {
                    Failure::new(codes::RUN_INTERNAL, "the system gives no random numbers")
                })?;
                (Key::handle(&handle), Some(handle))
            }
        };
        let LoadGraph { sop_file } = parsed(tools::LOAD_GRAPH, arguments)?;
        let Loaded { procedure, warnings } = self.open(&sop_file, &*catalogue.library).await?;
        let mode = if catalogue.binds || procedure.front.enforce {
            Mode::Enforced
        } else if self.lenient {
            Mode::Lenient
        } else {
            Mode::Strict
        };
        // The walk that the conversation had before has ended.
        self.with(&key, |before| before.trail.end(None)).await?;
        let (walk, trail) = (Walk::new(Arc::clone(&procedure), mode), new_trail());
        let begun = Conversation { walk, trail: trail.clone() };
        let put = self.store.put(&key, begun, Instant::now()).await;
        put.map_err(|error| match error {
            StoreError::Full { .. } => Failure::new(codes::CONVERSATION_LIMIT, error.to_string()),
            StoreError::Away(_) => away(&error),
        })?;
        self.records.begin(&key, &trail, (&procedure, mode), &sop_file, origin(call)).await;
        self.tell_of_tools(mode, &call.client);
        let mut answer = answer::loaded(&procedure, mode, &warnings);
        if let Some(handle) = handle {
            answer[CONVERSATION] = handle.into();
        }
        Ok(answer)
    }

    /// Finds and reads a procedure.
    async fn open(&self, file: &str, library: &dyn Library) -> Result<Loaded, Failure> {
        let source = library.open(file).await.map_err(|problem| {
            Failure::new(problem.code, problem.message).with("sop_file", file)
        })?;
        // A large file takes a while, which others must not wait for.
        let read = tokio::task::spawn_blocking(move || mcpgraph_sop::read(&source)).await;
        let (procedure, diagnostics) =
            read.map_err(|error| Failure::new(codes::RUN_INTERNAL, error.to_string()))?;
        let Some(procedure) = procedure else {
            let problems = to_json(&diagnostics)["diagnostics"].take();
            let first = diagnostics.iter().find(|problem| problem.is_error());
            let code = first.map_or(codes::PROCEDURE_REFUSED, |problem| problem.code);
            let message = format!("{file} has errors: {}", summary(&diagnostics));
            return Err(Failure::new(code, message)
                .with("sop_file", file)
                .with("diagnostics", problems));
        };
        let procedure = self.shared.lock().share(procedure);
        Ok(Loaded { procedure, warnings: diagnostics })
    }

    async fn plan(&self, arguments: serde_json::Value, call: &Call) -> Answer {
        let key = self.known(call, &arguments)?;
        let todos: Todos = parsed(tools::TODO, arguments)?;
        let drafts =
            todos.drafts().map_err(|(position, why)| answer::wrong_todo(position, &why))?;
        let planned = self.with(&key, |Conversation { walk, trail }| {
            walk.plan(drafts.clone()).map_err(|problem| answer::not_accepted(&problem))?;
            let answer = answer::planned(walk);
            let told = |value: serde_json::Value| Value::from_json(&value.to_string());
            let todos = told(json!({ "todos": answer["todos"] })).unwrap_or_default();
            trail.planned(todos, told(answer::summary(walk)).unwrap_or_default());
            Ok(answer)
        });
        planned.await?.ok_or_else(|| self.lost(call))?
    }

    async fn go(&self, arguments: serde_json::Value, call: &Call) -> Answer {
        let key = self.known(call, &arguments)?;
        let GotoNode { node_id } = parsed(tools::GOTO_NODE, arguments)?;
        let now = millis(SystemTime::now());
        let moved = self.with(&key, |Conversation { walk, trail }| {
            let before: Vec<_> = walk.allowed().collect();
            let made = walk.go(&node_id, now);
            let answer = answer::moved(walk, &node_id, &made, now);
            let is_there = !matches!(made, Move::Refused(_));
            if is_there {
                trail.arrived(walk);
            }
            if !matches!(made, Move::Legal(_)) {
                trail.note(LogLevel::Warn, answer["error"].as_str().unwrap_or_default());
            }
            let changed = !walk.allowed().eq(before);
            (answer, changed.then_some(walk.mode()))
        });
        let (answer, changed) = moved.await?.ok_or_else(|| self.lost(call))?;
        if let Some(mode) = changed {
            self.tell_of_tools(mode, &call.client);
        }
        Ok(answer)
    }

    /// The conversation of a call that needs one.
    fn known(&self, call: &Call, arguments: &serde_json::Value) -> Result<Key, Failure> {
        self.key_of(call, arguments).ok_or_else(|| self.lost(call))
    }

    /// Why there is no walk.
    pub(crate) fn lost(&self, call: &Call) -> Failure {
        if self.needs_handle(&call.client) {
            let message = "The conversation is not known. Call load_graph first and give the \
                           `conversation` it returns to every later call.";
            return Failure::new(codes::CONVERSATION_UNKNOWN, message);
        }
        Failure::nothing_loaded()
    }

    /// Whoever walks looks again at what it may call; nobody else hears of that. A client without a
    /// session is known by its token only.
    fn tell_of_tools(&self, mode: Mode, walks: &Client) {
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
fn away(error: &StoreError) -> Failure {
    Failure::new(codes::STORE_AWAY, error.to_string())
}

fn parsed<T: DeserializeOwned>(tool: &str, arguments: serde_json::Value) -> Result<T, Failure> {
    serde_json::from_value(arguments).map_err(|error| {
        let message = format!("the arguments do not fit `{tool}`: {error}");
        Failure::new(codes::RUN_INVALID_INPUT, message)
    })
}

/// The first problems of a file, a line each.
fn summary(diagnostics: &Diagnostics) -> String {
    const SHOWN: usize = 5;
    let errors = diagnostics.iter().filter(|problem| problem.is_error());
    let lines = errors.take(SHOWN).map(|problem| match &problem.primary {
        Some(label) => {
            let start = label.start();
            format!("{}:{}: {}", start.line, start.column, problem.message)
        }
        None => problem.message.clone(),
    });
    lines.collect::<Vec<_>>().join("; ")
}
