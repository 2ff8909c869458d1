//! Upstream tools that answer what a case says.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_runtime::{EffectCall, Effects, failed_call};
use mcpgraph_upstream::{NodeOutput, UpstreamError, output_of};
use mcpgraph_value::Value;

/// Answers by `server.tool`, in order; the last one is given again and again.
///
/// An answer is a result of `tools/call`; `{"echo": true}` gives the arguments back, `{"delayMs":
/// n, "then": answer}` takes its time, and `{"unavailable": text}`, `{"longerThan": bytes}` and
/// `{"protocol": {code, message, data}}` are failures. A person, asked as `a person`, gives an `{"output": answer}`, has
/// `declined`, is `unanswered`, or `never` answers.
pub(crate) struct Scripted(Mutex<HashMap<String, Vec<Value>>>);

impl Scripted {
    pub(crate) fn new(answers: &str) -> Result<Self, String> {
        let answers = Value::from_json(answers).map_err(|error| error.to_string())?;
        let answers = answers.as_object().ok_or("answers are an object")?;
        let list = |answer: &Value| match answer {
            Value::Array(items) => items.to_vec(),
            single => vec![single.clone()],
        };
        Ok(Self(Mutex::new(
            answers.iter().map(|(tool, answer)| (tool.to_string(), list(answer))).collect(),
        )))
    }

    fn next(&self, tool: &str) -> Option<Value> {
        let mut answers = self.0.lock().unwrap();
        let queue = answers.get_mut(tool)?;
        if queue.len() > 1 { Some(queue.remove(0)) } else { queue.first().cloned() }
    }
}

#[async_trait::async_trait]
impl Effects for Scripted {
    async fn call(&self, call: EffectCall) -> Result<Value, RunError> {
        let call = call.call;
        let mut answer = self
            .next(&call.target.to_string())
            .ok_or_else(|| RunError::new(ErrorKind::Unavailable, "the case has no answer"))?;
        while let Some(delay) = answer.get("delayMs").and_then(Value::as_i64) {
            tokio::time::sleep(Duration::from_millis(delay.unsigned_abs())).await;
            answer = answer.get("then").cloned().unwrap_or_default();
        }
        if answer.get("echo").is_some() {
            return Ok(call.args);
        }
        if let Some(text) = answer.get("unavailable").and_then(Value::as_str) {
            return Err(RunError::new(ErrorKind::Unavailable, text));
        }
        if let Some(limit) = answer.get("longerThan").and_then(Value::as_i64) {
            let limit = usize::try_from(limit).unwrap_or_default();
            let (server, what) = ("s".into(), call.target.to_string());
            return Err(failed_call(&UpstreamError::TooLarge { server, what, limit }));
        }
        if let Some(error) = answer.get("protocol") {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            let data = error.get("data").cloned();
            let kind = ErrorKind::ProtocolError { code };
            return Err(RunError { data, ..RunError::new(kind, message) });
        }
        if let Some(output) = answer.get("output") {
            return Ok(output.clone());
        }
        if answer.get("declined").is_some() {
            return Err(RunError::declined());
        }
        if answer.get("unanswered").is_some() {
            return Err(RunError::unanswered(Duration::from_hours(24)));
        }
        if answer.get("never").is_some() {
            return std::future::pending().await;
        }
        match output_of(&answer) {
            NodeOutput::Value(value) => Ok(value),
            NodeOutput::Error { text, result } => {
                Err(RunError::new(ErrorKind::ToolError, text).with_data(result))
            }
        }
    }
}
