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
use crate::record::millis;
use crate::{Key, Procedures, binding};

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
            Some(key) => self.permit(key, &params.name).await,
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
    async fn permit(&self, key: &Key, tool: &str) -> Option<Result<Permit, Failure>> {
        let now = millis(SystemTime::now());
        let permit = self.with_walk(key, |walk| {
            walk.permit(tool).map_err(|denied| match denied {
                Denied::NotHere => answer::not_here(walk, tool, now),
                Denied::TooMany => answer::too_many_calls(),
            })
        });
        let permit = permit.await;
        if let Some(Err(_)) = &permit {
            self.records.note(key, LogLevel::Warn, &format!("{tool} may not be called here"));
        }
        permit
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
        self.with_walk(key, |walk| walk.used(permit, done.clone(), value.clone())).await;
        let arguments = Value::from_json(&arguments.to_string()).unwrap_or_default();
        self.records.used(key, &tool, arguments, took, &output);
        self.records.committed(key).await;
    }
}
