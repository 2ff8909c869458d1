//! Nodes of an EdgeLake network, asked over their REST interface.

use async_trait::async_trait;
use mcpgraph_command::{Answer, Request};
use mcpgraph_outbound::{self as outbound, Client, Hosts, Response};
use mcpgraph_value::Value;

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// A node takes commands only from callers with a name like this.
const USER_AGENT: &str = "AnyLog/1.23";

/// How large an error of a node may be; what is larger is an answer.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// How much of a node's own text is told.
const MAX_TOLD: usize = 2000;

pub(crate) struct EdgeLake {
    node: outbound::Request,
    client: Client,
}

impl EdgeLake {
    pub(crate) fn new(url: &str) -> Result<Self, CommandError> {
        let mut node = outbound::Request::get(url)?;
        node.header("user-agent", USER_AGENT)?;
        // The author of the file named the node, wherever it stands; it redirects nowhere.
        let hosts = Hosts::public().and_host_of(&node.url);
        let limits = outbound::Limits { redirects: 0, ..outbound::Limits::default() };
        Ok(Self { node, client: Client::new(hosts, limits)? })
    }
}

#[async_trait]
impl Carrier for EdgeLake {
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError> {
        let Request::EdgeLake { command, destination } = request else {
            return Err(not_for("EdgeLake"));
        };
        let mut asked = self.node.clone();
        asked.header("command", &command)?;
        if let Some(destination) = &destination {
            asked.header("destination", destination)?;
        }
        let limits = outbound::Limits { time: limits.time, bytes: limits.bytes, redirects: 0 };
        read(self.client.within(limits).send(asked).await?)
    }
}

/// What a node answered. It says in four ways that it failed: in the words after the status, in the
/// body with or without such a status, and by breaking off.
fn read(response: Response) -> Result<Answer, CommandError> {
    let body = String::from_utf8_lossy(&response.body).into_owned();
    let in_reason = response.reason.as_deref().and_then(error_in);
    let in_body = || (body.len() <= MAX_ERROR_BYTES).then(|| error_in(&body)).flatten();
    if let Some(error) = in_reason.or_else(in_body) {
        return Err(told(error));
    }
    let words = |text: &str| text.trim().chars().take(MAX_TOLD).collect::<String>();
    if !response.status.is_success() {
        let said = response.reason.as_deref().filter(|_| body.trim().is_empty()).unwrap_or(&body);
        let message = format!("the node answered {}: {}", response.status.as_u16(), words(said));
        return Err(CommandError::new(ErrorKind::Failed, message));
    }
    if !response.is_complete {
        let message = match words(&body) {
            said if said.is_empty() => "the node broke off without an answer".to_owned(),
            said => format!("the node broke off its answer: {said}"),
        };
        return Err(CommandError::new(ErrorKind::Failed, message));
    }
    Ok(Answer::Printed(body))
}

/// The error of a node, if a text is one.
fn error_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let value = text.starts_with('{').then(|| Value::from_json(text).ok())??;
    value.get("err_code").is_some().then_some(value)
}

/// A node's error in its own words.
fn told(error: Value) -> CommandError {
    let part = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let code = error.get("err_code").map(Value::to_json).unwrap_or_default();
    let mut message = part("err_text").unwrap_or("the node failed").to_owned();
    if let Some(more) = part("local_msg").or_else(|| part("message")) {
        message = format!("{message}: {more}");
    }
    CommandError::new(ErrorKind::Failed, format!("{message} (err_code {code})")).with_data(error)
}
