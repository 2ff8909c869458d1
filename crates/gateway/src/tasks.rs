//! Which server a task runs on, and who may ask for it. Those of our own runs are in [`own`].

mod own;

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use mcpgraph_journal::{Journal, JournalError, Shelf, Shelved};
use mcpgraph_mcp::message::{Raw, RpcError, code};
use mcpgraph_mcp::server::{Call, Client};
use mcpgraph_mcp::version::Era;
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) use self::own::created;

/// The extension that tasks are, as both sides name it among their capabilities.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How many tasks are remembered; the oldest are forgotten first.
const MAX_TASKS: usize = 10_000;

/// How many tasks the store has, for all processes together, and how long one is kept that nobody
/// asks for.
const MAX_KEPT: usize = 100_000;
const KEPT: Duration = Duration::from_hours(7 * 24);

/// The tasks that were handed out.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<IndexMap<String, Known>>);

/// Where a task runs, and whose it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    server: String,
    principal: Option<Arc<str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskResult {
    result_type: Option<String>,
    task_id: Option<String>,
    task: Option<Task>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    task_id: String,
}

impl Tasks {
    /// Remembers the server and the caller of a result that is a task, also for other processes if
    /// there is a store.
    pub(crate) async fn notice(
        &self,
        server: &str,
        client: &Client,
        result: &Raw,
        journal: Option<&Arc<Journal>>,
    ) {
        let Some(id) = task_of(result) else { return };
        let known = Known { server: server.to_owned(), principal: client.principal.clone() };
        if let (Some(journal), Ok(text)) = (journal, serde_json::to_string(&known)) {
            keep(Arc::clone(journal), id.clone(), text).await;
        }
        self.remember(id, known);
    }

    fn remember(&self, id: String, known: Known) {
        let mut tasks = self.0.lock();
        if tasks.len() >= MAX_TASKS {
            tasks.shift_remove_index(0);
        }
        tasks.insert(id, known);
    }

    /// The server of a task of this client; somebody else's is none.
    pub(crate) async fn server(
        &self,
        id: &str,
        client: &Client,
        journal: Option<&Arc<Journal>>,
    ) -> Option<String> {
        let here = self.0.lock().get(id).cloned();
        let known = match (here, journal) {
            (Some(known), _) => known,
            (None, Some(journal)) => kept(journal, id).await?,
            (None, None) => return None,
        };
        (known.principal == client.principal).then_some(known.server)
    }
}

/// The id of a result that is a task.
fn task_of(result: &Raw) -> Option<String> {
    // Looked for as text first: most results are no tasks.
    if !result.get().contains("taskId") {
        return None;
    }
    let found = serde_json::from_str::<TaskResult>(result.get()).ok()?;
    if found.result_type.as_deref() != Some("task") {
        return None;
    }
    found.task_id.or_else(|| found.task.map(|task| task.task_id))
}

/// Puts a task where other processes find it. One that is not there is known to this one alone.
async fn keep(journal: Arc<Journal>, id: String, text: String) {
    let kept = tokio::task::spawn_blocking(move || {
        let put = || journal.shelve(Shelf::Tasks, &id, ("", &text), MAX_KEPT);
        if put()? == Shelved::Full {
            journal.unshelve_idle(Shelf::Tasks, KEPT)?;
            put()?;
        }
        Ok::<_, JournalError>(())
    });
    match kept.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "other processes do not know of a task"),
        Err(error) => tracing::warn!(%error, "other processes do not know of a task"),
    }
}

/// What another process knows of a task.
async fn kept(journal: &Arc<Journal>, id: &str) -> Option<Known> {
    let (journal, id) = (Arc::clone(journal), id.to_owned());
    let found = tokio::task::spawn_blocking(move || journal.shelved(Shelf::Tasks, &id));
    let found = found.await.ok()?.inspect_err(|error| tracing::warn!(%error, "tasks"));
    serde_json::from_str(&found.ok()??.state).ok()
}

/// Whether a client said that it knows tasks.
pub(crate) fn knows(client: &Client) -> bool {
    let capabilities = Value::from_json(client.capabilities.get()).unwrap_or_default();
    let extensions = capabilities.get("extensions");
    matches!(extensions.and_then(|all| all.get(EXTENSION)), Some(Value::Object(_)))
}

/// Whether a call that takes its time is to be a task: its client can take one, in the era that has
/// them.
pub(crate) fn wanted(call: &Call) -> bool {
    call.version().era() == Era::Modern && knows(&call.client)
}

/// Refuses a client that did not.
pub(crate) fn require(client: &Client) -> Result<(), RpcError> {
    if knows(client) {
        return Ok(());
    }
    Err(RpcError::new(
        code::MISSING_CLIENT_CAPABILITY,
        format!("the client did not declare the extension `{EXTENSION}`, which tasks need"),
    )
    .with_data(&json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } })))
}
