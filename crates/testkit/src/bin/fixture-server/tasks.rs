//! The tools of the tasks extension: a call becomes a task where the client knows tasks.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        CreateTaskResult, InputRequiredResult,
    },
    service::RequestContext,
    task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    handler::{Shared, argument, typed},
    rounds::{accepted, elicitation},
};

/// How long a job that fails pretends to work.
const BEFORE_FAILURE: Duration = Duration::from_secs(1);

/// How often clients are asked to look at a task.
const POLL_INTERVAL_MS: u64 = 100;

/// The answer of the tool, if it is one of these.
pub(crate) async fn call(
    shared: &Shared,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let arguments = request.arguments.as_ref();
    let knows_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
    let spawn = |run: fn(TaskContext, String) -> TaskFuture, input: String| {
        if !knows_tasks {
            let needed = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        let options = TaskOptions::new().with_poll_interval_ms(POLL_INTERVAL_MS);
        let task = shared.tasks.spawn(options, |task| run(task, input));
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    };
    let response = match request.name.as_ref() {
        "greet" => Ok(text(format!("Hello, {}!", argument(arguments, "name")?)).into()),
        "slow_compute" => {
            let seconds = arguments.and_then(|arguments| arguments.get("seconds")?.as_f64());
            let duration = Duration::try_from_secs_f64(seconds.unwrap_or_default())
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
            if knows_tasks {
                spawn(compute_as_task, duration.as_secs_f64().to_string())
            } else {
                sleep(duration).await;
                Ok(computed().into())
            }
        }
        "failing_job" => spawn(fail, String::new()),
        "protocol_error_job" => spawn(fail_by_protocol, String::new()),
        "confirm_delete" => spawn(confirm_delete, argument(arguments, "filename")?),
        "multi_input" => spawn(ask_for_two, String::new()),
        "test_tool_with_task" => {
            match accepted(request.input_responses.as_ref(), "user_name", "name") {
                Some(name) => spawn(greet_as_task, name),
                None => {
                    let question = elicitation("What is your name?", "name", "string");
                    typed(json!({"user_name": question})).map(|requests| {
                        let state = Some(shared.states.seal(b"name"));
                        InputRequiredResult::new(Some(requests), state).into()
                    })
                }
            }
        }
        _ => return Ok(None),
    };
    response.map(Some)
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn computed() -> CallToolResult {
    text("The computation is done")
}

fn compute_as_task(task: TaskContext, seconds: String) -> TaskFuture {
    Box::pin(async move {
        let duration = Duration::from_secs_f64(seconds.parse().unwrap_or_default());
        tokio::select! {
            () = task.cancelled() => Err(TaskExit::Cancelled),
            () = sleep(duration) => Ok(computed()),
        }
    })
}

fn fail(_: TaskContext, _: String) -> TaskFuture {
    Box::pin(async {
        sleep(BEFORE_FAILURE).await;
        Ok(CallToolResult::error(vec![ContentBlock::text("The job failed")]))
    })
}

fn fail_by_protocol(_: TaskContext, _: String) -> TaskFuture {
    Box::pin(async { Err(ErrorData::internal_error("the job broke the server", None).into()) })
}

fn confirm_delete(task: TaskContext, filename: String) -> TaskFuture {
    Box::pin(async move {
        let question = format!("Delete {filename}?");
        let answer = ask(&task, "confirm", &question, "confirm", "boolean").await?;
        let confirmed = answer["content"]["confirm"] == true;
        Ok(text(if confirmed { "Deleted" } else { "Kept" }))
    })
}

fn ask_for_two(task: TaskContext, _: String) -> TaskFuture {
    Box::pin(async move {
        let (first, second) = tokio::join!(
            ask(&task, "first", "What is your name?", "name", "string"),
            ask(&task, "second", "Are you sure?", "confirm", "boolean"),
        );
        Ok(text(format!("{} {}", first?, second?)))
    })
}

fn greet_as_task(_: TaskContext, name: String) -> TaskFuture {
    Box::pin(async move { Ok(text(format!("Hello, {name}!"))) })
}

async fn ask(
    task: &TaskContext,
    key: &str,
    question: &str,
    field: &str,
    kind: &str,
) -> Result<Value, TaskExit> {
    let request = typed(elicitation(question, field, kind)).map_err(TaskExit::Error)?;
    task.request_input(key, request).await
}
