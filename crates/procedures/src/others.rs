//! Calls of tools that are not ours: whether a procedure allows them, and what came of them.

use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::{ErrorKind, LogLevel, RunError};
use mcpgraph_gateway::about;
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::server::Call;
use mcpgraph_sop::{Answer, Denied, digest};
use mcpgraph_upstream::{NodeOutput, output_of};
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{self, Failure};
use crate::noted::{Came, Noted, to_its_end};
use crate::procedures::{CallParams, META_CONVERSATION};
use crate::trail::millis;
use crate::{Conversation, Key, Procedures, binding};

impl Procedures {
    /// Calls a tool that is not ours, if the procedure allows it. Where every procedure `binds`,
    /// nothing can be called before one is loaded.
    pub(crate) async fn call_other(
        &self,
        mut params: CallParams,
        mut call: Call,
        binds: bool,
    ) -> Result<Raw, RpcError> {
        let key = self.key_of(&call, &params.arguments);
        if self.needs_handle(&call.client)
            && call.meta.get(META_CONVERSATION).is_none()
            && let Some(stripped) = call.params.as_deref().and_then(binding::without_conversation)
        {
            call.params = Some(stripped);
            params.arguments = binding::stripped(params.arguments);
        }
        let name = params.name.clone();
        // Nobody else gets to know of it, and who looks at the log wants to find it.
        let refused = |call: &Call, why| {
            about(call, &name);
            Ok(answer::result(Err(why)))
        };
        let noted = match key {
            Some(key) => match self.note(key, params).await {
                Ok(noted) => noted,
                // Where nobody knows what may be called, nothing may.
                Err(why) => return refused(&call, why),
            },
            None => None,
        };
        let Some(noted) = noted else {
            if binds {
                return refused(&call, self.lost(&call));
            }
            return self.inner.call(call).await;
        };
        let cancel = call.cancel.clone();
        let outcome = self.inner.call(call).await;
        noted.answered(came(&outcome, cancel.is_cancelled())).await;
        outcome
    }

    /// Notes a call before it is made, if it may be made; none if the conversation walks no
    /// procedure. What is begun is done, also when the caller goes away meanwhile.
    async fn note(&self, key: Key, params: CallParams) -> Result<Option<Noted>, Failure> {
        let Some(procedures) = self.itself.upgrade() else {
            return Err(Failure::internal(&"the server ends"));
        };
        let noted = to_its_end(procedures.permit(key, params)).await;
        noted.unwrap_or_else(|error| Err(Failure::internal(&error)))
    }

    /// The same, done here.
    pub(crate) async fn permit(
        self: Arc<Self>,
        key: Key,
        params: CallParams,
    ) -> Result<Option<Noted>, Failure> {
        let arguments = match params.arguments {
            serde_json::Value::Null => json!({}).to_string(),
            given => given.to_string(),
        };
        let (tool, now) = (Arc::<str>::from(params.name), millis(SystemTime::now()));
        let (sum, arguments) =
            (digest(&arguments), Value::from_json(&arguments).unwrap_or_default());
        let noted =
            self.with(&key, |Conversation { walk, trail }| match walk.permit(&tool, &sum) {
                Ok(permit) => Ok((permit, trail.run, trail.called(&tool, arguments.clone()))),
                Err(denied) => {
                    trail.note(LogLevel::Warn, &format!("{tool} may not be called here"));
                    Err(match denied {
                        Denied::NotHere => answer::not_here(walk, &tool, now),
                        Denied::TooMany => answer::too_many_calls(),
                    })
                }
            });
        let Some(noted) = noted.await? else { return Ok(None) };
        let (permit, run, step) = noted?;
        Ok(Some(Noted::new(&self, key, run, permit, step)))
    }
}

/// What came of a call that ended.
fn came(outcome: &Result<Raw, RpcError>, was_cancelled: bool) -> Came {
    let failed =
        |result, error| Came { answer: Some(Answer { result, value: None }), output: Err(error) };
    match outcome {
        Ok(result) => {
            let output = output_of(&Value::from_json(result.get()).unwrap_or_default());
            let sum = Some(digest(result.get()));
            match output {
                NodeOutput::Value(value) => Came {
                    answer: Some(Answer { result: sum, value: Some(value.clone()) }),
                    output: Ok(value),
                },
                // It may be about the cancelling only.
                NodeOutput::Error { .. } if was_cancelled => Came::unanswered(),
                NodeOutput::Error { text, .. } => {
                    failed(sum, RunError::new(ErrorKind::ToolError, text))
                }
            }
        }
        Err(_) if was_cancelled => Came::unanswered(),
        Err(error) => {
            let kind = ErrorKind::ProtocolError { code: error.code };
            failed(None, RunError::new(kind, error.message.as_str()))
        }
    }
}
