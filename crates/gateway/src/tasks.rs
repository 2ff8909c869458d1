//! Which server a task runs on, and who may ask for it. Those of our own runs are in [`own`].

mod own;

use std::sync::Arc;

use indexmap::IndexMap;
use mcpgraph_mcp::message::{Raw, RpcError, code};
use mcpgraph_mcp::server::Client;
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;

pub(crate) use self::own::created;

/// The extension that tasks are, as both sides name it among their capabilities.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How many tasks are remembered; the oldest are forgotten first.
const MAX_TASKS: usize = 10_000;

/// The tasks that were handed out.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<IndexMap<String, Known>>);

/// Where a task runs, and whose it is.
#[derive(Debug)]
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
    /// Remembers the server and the caller of a result that is a task.
    pub(crate) fn notice(&self, server: &str, client: &Client, result: &Raw) {
        // Looked for as text first: most results are no tasks.
        if !result.get().contains("taskId") {
            return;
        }
        let Ok(found) = serde_json::from_str::<TaskResult>(result.get()) else { return };
        if found.result_type.as_deref() != Some("task") {
            return;
        }
        let Some(id) = found.task_id.or_else(|| found.task.map(|task| task.task_id)) else {
            return;
        };
        let mut tasks = self.0.lock();
        if tasks.len() >= MAX_TASKS {
            tasks.shift_remove_index(0);
        }
        let principal = client.principal.clone();
        tasks.insert(id, Known { server: server.to_owned(), principal });
    }

    /// The server of a task of this client; somebody else's is none.
    pub(crate) fn server(&self, id: &str, client: &Client) -> Option<String> {
        let tasks = self.0.lock();
        let known = tasks.get(id).filter(|known| known.principal == client.principal)?;
        Some(known.server.clone())
    }
}

/// Whether a client said that it knows tasks.
pub(crate) fn knows(client: &Client) -> bool {
    let capabilities = Value::from_json(client.capabilities.get()).unwrap_or_default();
    let extensions = capabilities.get("extensions");
    matches!(extensions.and_then(|all| all.get(EXTENSION)), Some(Value::Object(_)))
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
