//! Workflows and their modules over HTTP: the same that `mcpgraph workflows` does.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post, put};
use http::StatusCode;
use mcpgraph_config::model::Version;
use mcpgraph_diagnostics::codes;
use mcpgraph_value::{Map, Value};
use mcpgraph_workflows::{
    Library, LibraryError, TEMPLATES, Workflow, check_module, module, problems,
};
use serde_json::json;

use crate::api::{Shared, body};
use crate::extract::Path;
use crate::problem::{Problem, answer, json as json_answer};
use crate::rename::renamed;
use crate::report::report;
use crate::view;

/// The paths.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/workflows", get(list).post(import))
        .route("/api/workflows/check", post(check))
        .route("/api/workflows/draft", post(draft))
        .route("/api/workflows/{id}", get(show).delete(remove))
        .route("/api/workflows/{id}/{change}", post(enable))
        .route("/api/workflow-templates", get(templates))
        .route("/api/hook-modules", get(modules))
        .route("/api/hook-modules/check", post(check_script))
        .route("/api/hook-modules/{id}", put(put_module).delete(remove_module))
}

impl Shared {
    /// Does something with the workflows on a thread that may block.
    async fn library<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, Problem> {
        let library = Library::new(self.journal()?);
        tokio::task::spawn_blocking(move || work(&library))
            .await
            .map_err(|_| {
                Problem::internal("the workflows could not be read by a fault of mcpgraph")
            })?
            .map_err(Problem::from)
    }

    /// Changes something, and puts what is in use then around what is served at once.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, Problem> {
        let (done, graphs) = self
            .library(move |library| {
                let done = work(library)?;
                Ok((done, library.in_use()?))
            })
            .await?;
        self.studio.gateway.set_workflows(graphs);
        Ok(done)
    }
}

async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let all = shared.library(Library::list).await?;
    let all: Vec<Value> = all.iter().map(Workflow::summary).collect();
    Ok(json_answer(&Map::from_iter([("workflows", all)]).into()))
}

async fn show(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    Ok(json_answer(&shared.library(move |library| library.find(&id)).await?.definition))
}

async fn import(State(shared): State<Arc<Shared>>, sent: Body) -> Result<Response, Problem> {
    let definition = body(sent).await?;
    let imported = shared.change(move |library| library.import(definition)).await?;
    let answer = Map::from_iter([
        ("workflow", imported.workflow.summary()),
        ("diagnostics", problems(&imported.diagnostics)),
    ]);
    let status = if imported.replaced { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, json_answer(&answer.into())).into_response())
}

async fn check(State(shared): State<Arc<Shared>>, sent: Body) -> Result<Response, Problem> {
    let definition = body(sent).await?;
    let found = shared.library(move |library| library.check(&Workflow::new(definition)?)).await?;
    Ok(json_answer(&Map::from_iter([("diagnostics", problems(&found))]).into()))
}

/// A definition that is not kept, as text, after a node of it was renamed where that is asked
/// for: what it says, what is wrong with it, and where its nodes stand.
async fn draft(State(shared): State<Arc<Shared>>, sent: Body) -> Result<Response, Problem> {
    let sent = body(sent).await?;
    let text = sent.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| Problem::invalid("`text` must be the workflow as JSON"))?;
    let mut definition = match Value::from_json(text) {
        Ok(definition) => definition,
        Err(error) => return Ok(answer(StatusCode::OK, &unreadable(text, &error))),
    };
    let mut text = text.to_owned();
    if let Some(rename) = sent.get("rename").filter(|rename| !matches!(rename, Value::Null)) {
        let name = |key: &str| {
            let name = rename.get(key).and_then(Value::as_str);
            name.ok_or_else(|| Problem::invalid(format!("`rename.{key}` must be text")))
        };
        definition = renamed(&definition, Version::Two, name("node")?, name("to")?)?;
        text = definition.to_json_pretty();
    }
    let workflow = Workflow::new(definition)?;
    let id = workflow.id.clone();
    let told = workflow.definition.clone();
    let checked = shared.library(move |library| library.draft(&workflow)).await?;
    let file = checked.file.as_ref();
    let shown = json!({
        "text": text,
        "readable": true,
        "definition": told,
        "report": report(file, &checked.diagnostics),
        "view": file.and_then(|file| view::workflow(file, &id)),
    });
    Ok(answer(StatusCode::OK, &shown))
}

/// The answer to a text that is not JSON.
fn unreadable(text: &str, error: &serde_json::Error) -> serde_json::Value {
    json!({
        "text": text,
        "readable": false,
        "definition": null,
        "report": {
            "diagnostics": [{
                "code": codes::YAML_SYNTAX.id(),
                "severity": "error",
                "message": format!("the text is not JSON: {error}"),
                "line": error.line().max(1),
                "column": error.column().max(1),
            }],
            "errors": 1,
            "warnings": 0,
        },
        "view": null,
    })
}

async fn enable(
    State(shared): State<Arc<Shared>>,
    Path((id, change)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let enabled = match &*change {
        "enable" => true,
        "disable" => false,
        other => return Err(Problem::not_found(format!("there is nothing at `{other}`"))),
    };
    let changed = shared.change(move |library| library.set_enabled(&id, enabled)).await?;
    Ok(json_answer(&changed.summary()))
}

async fn remove(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    Ok(json_answer(&shared.change(move |library| library.remove(&id)).await?.summary()))
}

async fn templates() -> Response {
    let all: Result<Vec<Value>, LibraryError> = TEMPLATES
        .iter()
        .map(|template| {
            let mut told = match template.summary() {
                Value::Object(members) => (*members).clone(),
                _ => Map::new(),
            };
            told.insert("definition", template.definition(template.name)?);
            Ok(told.into())
        })
        .collect();
    match all {
        Ok(all) => json_answer(&Map::from_iter([("templates", all)]).into()),
        Err(error) => Problem::from(error).into_response(),
    }
}

async fn modules(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let all = shared
        .library(|library| {
            let modules = library.modules()?;
            let shown = modules.iter().map(|kept| Ok(module(kept, &library.users_of(kept)?)));
            shown.collect::<Result<Vec<Value>, LibraryError>>()
        })
        .await?;
    Ok(json_answer(&Map::from_iter([("hookModules", all)]).into()))
}

/// What is wrong with a script that is not kept, as a report of problems at their places in it.
async fn check_script(sent: Body) -> Result<Response, Problem> {
    let sent = body(sent).await?;
    let script = sent.get("script").and_then(Value::as_str).map(str::to_owned);
    let script = script.ok_or_else(|| Problem::invalid("`script` must be text"))?;
    let found = tokio::task::spawn_blocking(move || check_module(&script)).await;
    let found = found
        .map_err(|_| Problem::internal("the script could not be checked by a fault of mcpgraph"))?;
    Ok(json_answer(&problems(&found)))
}

async fn put_module(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    sent: Body,
) -> Result<Response, Problem> {
    let sent = body(sent).await?;
    let text = |key: &str| sent.get(key).and_then(Value::as_str).map(str::to_owned);
    let (Some(name), Some(script)) = (text("name"), text("script")) else {
        return Err(Problem::invalid("a hook module has a `name` and a `script`, both text"));
    };
    let kept = shared.change(move |library| library.put_module(Some(&id), &name, &script)).await?;
    Ok(json_answer(&module(&kept, &[])))
}

async fn remove_module(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let removed = shared.change(move |library| library.remove_module(&id)).await?;
    Ok(json_answer(&module(&removed, &[])))
}

impl From<LibraryError> for Problem {
    fn from(error: LibraryError) -> Self {
        let code = error.code().map(|code| format!(" ({code})")).unwrap_or_default();
        let message = format!("{error}{code}");
        match error {
            LibraryError::NoWorkflow(_) | LibraryError::NoModule(_) => Self::not_found(message),
            LibraryError::InUse { .. } => Self::conflict(message),
            LibraryError::Invalid { diagnostics, .. } => {
                Self::invalid(message).with("diagnostics", problems(&diagnostics))
            }
            LibraryError::Ambiguous { .. }
            | LibraryError::NotAWorkflow(_)
            | LibraryError::BadModule(_) => Self::invalid(message),
            LibraryError::Store(error) => error.into(),
        }
    }
}
