//! Tasks that are runs of our own graphs. What is told of them is what the store says, so that any
//! process that shares it can be asked.

use std::time::SystemTime;

use mcpgraph_engine::ErrorKind;
use mcpgraph_journal::{RunId, RunSummary, rfc3339};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::Questions;
use serde_json::{Map, Value, json};

use crate::apart::Next;
use crate::asking::{self, failed, refusal};
use crate::gateway::Gateway;
use crate::relay::Params;
use crate::result::Called;
use crate::seal::RESPONSES;
use crate::view::View;
use crate::{about, result};

/// How often clients are asked to look at a task.
const POLL_INTERVAL_MS: u64 = 500;

/// A task that has just begun, as the result of the call that it is.
pub(crate) fn created(run: RunId, at: SystemTime) -> Raw {
    let mut task = described(run, "working", at, at);
    task.insert("resultType".to_owned(), json!("task"));
    raw(&task)
}

fn described(
    run: RunId,
    status: &str,
    began: SystemTime,
    changed: SystemTime,
) -> Map<String, Value> {
    let members = json!({
        "taskId": run.to_string(),
        "status": status,
        "createdAt": rfc3339(began),
        "lastUpdatedAt": rfc3339(changed),
        "ttlMs": null,
        "pollIntervalMs": POLL_INTERVAL_MS,
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

impl Gateway {
    /// Answers a request about a task that is one of our runs; none if it is not, or not this
    /// client's.
    pub(crate) async fn with_own_task(
        &self,
        view: &View,
        call: &Call,
        id: &str,
        params: &Params,
    ) -> Option<Result<Raw, RpcError>> {
        let questions = view.offer.runtime().questions()?;
        let run: RunId = id.parse().ok()?;
        let journal = std::sync::Arc::clone(questions.journal());
        let read = tokio::task::spawn_blocking(move || journal.run(run)).await.ok()?;
        let summary = match read {
            Ok(summary) => summary?,
            Err(error) => return Some(Err(failed(&error))),
        };
        // Somebody else's task is none.
        if summary.origin.principal != call.client.principal || !view.sees_own(&summary.tool) {
            return None;
        }
        about(call, &summary.tool);
        Some(match call.method.as_str() {
            "tasks/get" => self.task(view, call, &questions, &summary).await,
            "tasks/update" => update(&questions, run, params).await,
            _ => {
                self.apart().cancel(view.offer.runtime(), run).await;
                Ok(raw(&json!({})))
            }
        })
    }

    async fn task(
        &self,
        view: &View,
        call: &Call,
        questions: &Questions,
        summary: &RunSummary,
    ) -> Result<Raw, RpcError> {
        let runtime = view.offer.runtime();
        let next = self.apart().look(runtime, questions, summary.id).await;
        let next = next.map_err(|error| failed(&error))?;
        let ended = summary.started + summary.duration;
        let described = |status, changed| described(summary.id, status, summary.started, changed);
        Ok(raw(&match next {
            None => described("working", ended),
            Some(Next::Asked(all)) => {
                let asked = all.first().map_or(ended, |question| question.asked);
                let mut task = described("input_required", asked);
                task.insert("inputRequests".to_owned(), asking::input_requests(&all).into());
                task
            }
            Some(Next::Finished(finished)) => {
                let is_cancelled = matches!(
                    &finished.outcome,
                    Err(error) if error.kind == ErrorKind::Cancelled
                );
                if is_cancelled {
                    return Ok(raw(&described("cancelled", ended)));
                }
                let tool = Called::of(&view.offer.graph, &summary.tool);
                match result::answer(&finished, tool, call.version()) {
                    Ok(result) => {
                        let mut task = described("completed", ended);
                        task.insert("result".to_owned(), complete(&result));
                        task
                    }
                    Err(error) => {
                        let mut task = described("failed", ended);
                        task.insert("statusMessage".to_owned(), json!(error.message));
                        task.insert("error".to_owned(), json!(error));
                        task
                    }
                }
            }
        }))
    }
}

/// The result of the call, as it would have been without the task.
fn complete(result: &Raw) -> Value {
    let mut result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    result["resultType"] = json!("complete");
    result
}

/// `tasks/update`: gives what was asked for. What nobody asks is left aside, as the extension says.
async fn update(questions: &Questions, run: RunId, params: &Params) -> Result<Raw, RpcError> {
    let responses = params.get(RESPONSES).map_or("{}", |responses| responses.get());
    let responses: Params = serde_json::from_str(responses)
        .map_err(|error| RpcError::invalid_params(format!("`{RESPONSES}`: {error}")))?;
    let pending = questions.pending(Some(run)).await.map_err(|error| failed(&error))?;
    let replies = asking::replies(pending, &responses).map_err(|refused| refusal(&refused))?;
    questions.answer_all(replies).await.map_err(|refused| refusal(&refused))?;
    Ok(raw(&json!({})))
}
