//! Requests about what exposed servers have besides tools: prompts, resources, completions and
//! tasks go to whose they are.

use mcpgraph_mcp::message::{Raw, RpcError, code, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::Questions;
use mcpgraph_value::Value;
use serde_json::json;

use super::Gateway;
use crate::listing::Kind;
use crate::passage::Passage;
use crate::relay::{self, Params};
use crate::view::View;
use crate::{about, tasks};

impl Gateway {
    async fn pass(&self, server: &str, call: &Call, params: Params) -> Result<Raw, RpcError> {
        let unseen = Passage::default();
        relay::pass(&self.parking, &self.upstreams, server, call, params, unseen).await
    }

    pub(super) async fn get_prompt(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let params = relay::params(call)?;
        let name = relay::text(&params, "name")?;
        about(call, &name);
        let (server, inner) = self
            .find(view, Kind::Prompts, &name)
            .await
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: {name}")))?;
        self.pass_named(&server, &inner, call, params, Passage::default()).await
    }

    pub(super) async fn read_resource(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let params = relay::params(call)?;
        let uri = relay::text(&params, "uri")?;
        about(call, &uri);
        let found = self.find_readable(view, &uri).await;
        let server = found.ok_or_else(|| resource_not_found(call, &uri))?;
        self.pass(&server, call, params).await
    }

    /// `resources/subscribe`. The session knows what its client watches, and
    /// [`Self::follow_watched`] tells the servers; here is only seen to it that somebody has it.
    pub(super) async fn watch_resource(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let uri = relay::text(&relay::params(call)?, "uri")?;
        about(call, &uri);
        let found = self.find_watchable(view, &uri).await;
        found.map(|_| raw(&json!({}))).ok_or_else(|| resource_not_found(call, &uri))
    }

    /// Completion of an argument: the reference says of whose prompt or resource.
    pub(super) async fn complete(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let mut params = relay::params(call)?;
        let reference = params
            .get("ref")
            .and_then(|reference| Value::from_json(reference.get()).ok())
            .ok_or_else(|| RpcError::invalid_params("`ref` must be an object"))?;
        let text = |key: &str| reference.get(key).and_then(Value::as_str);
        if let Some(name) = text("name").or_else(|| text("uri")) {
            about(call, name);
        }
        let found = match (text("name"), text("uri")) {
            (Some(name), _) => self.find(view, Kind::Prompts, name).await,
            (None, Some(uri)) => {
                self.find_readable(view, uri).await.map(|server| (server, String::new()))
            }
            (None, None) => None,
        };
        let Some((server, inner)) = found else {
            return Ok(raw(&json!({ "completion": { "values": [], "hasMore": false } })));
        };
        if text("name").is_some()
            && let Some(reference) = params.get_mut("ref")
        {
            *reference = relay::with_text(reference, "name", &inner);
        }
        self.pass(&server, call, params).await
    }

    /// Requests about a task go to the server that runs it.
    pub(super) async fn with_task(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        tasks::require(&call.client)?;
        let params = relay::params(call)?;
        let id = relay::text(&params, "taskId")?;
        if let Some(answer) = self.with_own_task(view, call, &id, &params).await {
            return answer;
        }
        about(call, &id);
        let questions = view.offer.runtime().questions();
        let server = self
            .tasks
            .server(&id, &call.client, questions.as_ref().map(Questions::journal))
            .await
            .filter(|server| view.grant.sees_some_of(server))
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown task: {id}")))?;
        self.pass(&server, call, params).await
    }
}

fn resource_not_found(call: &Call, uri: &str) -> RpcError {
    let code = match call.version().era() {
        Era::Modern => code::INVALID_PARAMS,
        Era::Legacy => code::RESOURCE_NOT_FOUND,
    };
    RpcError::new(code, "Resource not found").with_data(&json!({ "uri": uri }))
}
