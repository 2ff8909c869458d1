//! Calls of tools that are not ours: whether a procedure allows them, and what came of them.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mcpgraph_engine::LogLevel;
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::server::Call;
use mcpgraph_sop::{Denied, Permit, ToolUse, digest};
use mcpgraph_upstream::{NodeOutput, output_of};
use mcpgraph_value::Value;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{self, Failure};
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
        let permit = match &key {
            Some(key) => match self.permit(key, &params.name).await {
                Ok(permit) => permit,
                // Where nobody knows what may be called, nothing may.
                Err(away) => return Ok(answer::result(Err(away))),
            },
            None => None,
        };
        let permit = match permit {
            Some(Ok(permit)) => Some(permit),
            Some(Err(refused)) => return Ok(answer::result(Err(refused))),
            None if binds => {
                return Ok(answer::result(Err(self.lost(&call))));
            }
            None => None,
        };
        if self.needs_handle(&call.client)
            && call.meta.get(META_CONVERSATION).is_none()
            && let Some(stripped) = call.params.as_deref().and_then(binding::without_conversation)
        {
            call.params = Some(stripped);
            params.arguments = binding::stripped(params.arguments);
        }
        let began = Instant::now();
        let outcome = self.inner.call(call).await;
        if let (Some(key), Some(permit), Ok(result)) = (&key, permit, &outcome) {
            self.used(key, permit, params, result, began.elapsed()).await;
        }
        outcome
    }

    /// Whether a conversation may call a tool now; none if it walks no procedure.
    async fn permit(
        &self,
        key: &Key,
        tool: &str,
    ) -> Result<Option<Result<Permit, Failure>>, Failure> {
        let now = millis(SystemTime::now());
        let permit = self.with(key, |Conversation { walk, trail }| {
            let permit = walk.permit(tool);
            if permit.is_err() {
                trail.note(LogLevel::Warn, &format!("{tool} may not be called here"));
            }
            permit.map_err(|denied| match denied {
                Denied::NotHere => answer::not_here(walk, tool, now),
                Denied::TooMany => answer::too_many_calls(),
            })
        });
        permit.await
    }

    /// Notes what came of a call.
    async fn used(
        &self,
        key: &Key,
        permit: Permit,
        params: CallParams,
        result: &RawValue,
        took: Duration,
    ) {
        let arguments = match params.arguments {
            serde_json::Value::Null => json!({}),
            given => given,
        };
        let output = output_of(&Value::from_json(result.get()).unwrap_or_default());
        let value = match &output {
            NodeOutput::Value(value) => Some(value.clone()),
            NodeOutput::Error { .. } => None,
        };
        let done = ToolUse {
            tool: params.name.as_str().into(),
            arguments: digest(arguments.to_string()),
            result: digest(result.get()),
            failed: value.is_none(),
        };
        let tool = Arc::clone(&done.tool);
        let arguments = Value::from_json(&arguments.to_string()).unwrap_or_default();
        let noted = self.with(key, |Conversation { walk, trail }| {
            walk.used(permit, done.clone(), value.clone());
            trail.used(&tool, arguments.clone(), took, &output);
        });
        if noted.await.is_err() {
            tracing::warn!(tool = &*tool, "what a tool gave is not known to its walk");
        }
    }
}
