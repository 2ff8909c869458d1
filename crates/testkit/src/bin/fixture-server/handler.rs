//! The server itself: which request goes where.
#![expect(
    deprecated,
    reason = "the older era's logging and subscriptions are what is to be tested"
)]

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CompletionInfo, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
        GetTaskResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerCapabilities,
        ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
    task_manager::TaskManager,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::{asking, catalogue::Catalogue, content, prompts, resources, rounds, tasks};

/// What an argument of a prompt can be completed to.
const COMPLETIONS: [&str; 3] = ["test", "testing", "tested"];

/// How many changes a listener may fall behind before it misses some.
const CHANGES_KEPT: usize = 16;

/// What happened to a list.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Tools,
    Prompts,
}

/// What all connections have in common.
pub(crate) struct Shared {
    catalogue: Catalogue,
    pub(crate) tasks: TaskManager,
    pub(crate) states: RequestStateCodec,
    pub(crate) changes: broadcast::Sender<Change>,
}

impl Shared {
    pub(crate) fn new(without: &[String]) -> anyhow::Result<Self> {
        let mut catalogue = Catalogue::read()?;
        catalogue.tools.retain(|tool| !without.iter().any(|name| *name == tool.name));
        Ok(Self {
            catalogue,
            tasks: TaskManager::new(),
            states: RequestStateCodec::try_new(b"only tests are signed with this key".as_slice())?,
            changes: broadcast::Sender::new(CHANGES_KEPT),
        })
    }
}

/// The server as one connection sees it.
pub(crate) struct Fixture {
    pub(crate) shared: Arc<Shared>,
    /// The least severe message a client of the older era wants.
    level: AtomicU8,
}

impl Fixture {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, level: AtomicU8::new(LoggingLevel::Debug as u8) }
    }

    /// Whether the client of this request wants a message this severe.
    pub(crate) fn wants(&self, level: LoggingLevel, context: &RequestContext<RoleServer>) -> bool {
        if is_modern(context) {
            context.meta.log_level().is_some_and(|least| level as u8 >= least as u8)
        } else {
            level as u8 >= self.level.load(Ordering::Relaxed)
        }
    }
}

/// Whether the request stands alone, without a session.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some()
}

/// A value of the SDK's from the JSON it stands for.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A finished result; the SDK takes the mark away again for clients of the older era.
pub(crate) fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = "complete".into();
    typed(result)
}

/// A string argument, or the error of a client that did not send it.
pub(crate) fn argument(
    arguments: Option<&serde_json::Map<String, Value>>,
    name: &str,
) -> Result<String, ErrorData> {
    arguments
        .and_then(|arguments| arguments.get(name))
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| ErrorData::invalid_params(format!("`{name}` must be a string"), None))
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("fixture-server", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.catalogue.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.catalogue.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if let Some(response) = rounds::call(&self.shared.states, &request, &context)? {
            return Ok(response);
        }
        if let Some(response) = tasks::call(&self.shared, &request, &context).await? {
            return Ok(response);
        }
        if let Some(response) = asking::call(&request, &context).await? {
            return Ok(response);
        }
        if let Some(response) = content::call(self, name, &context).await? {
            return Ok(response);
        }
        Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.shared.catalogue.prompts.clone()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values = COMPLETIONS.into_iter().filter(|word| word.starts_with(&begun));
        CompletionInfo::with_all_values(values.map(str::to_owned).collect())
            .map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.shared.catalogue.resources.clone()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.shared.catalogue.templates.clone()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri)
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.level.store(request.level as u8, Ordering::Relaxed);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            let sent = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            // The sink refuses what this listener did not ask for; that is no fault.
            drop(sent);
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.shared.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.cancel_task(&request.task_id)
    }
}
