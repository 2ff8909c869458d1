//! The graph file: shown, tried with changes, saved.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::IF_MATCH;
use http::{HeaderMap, StatusCode};
use mcpgraph_config::edit;
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::Source;
use mcpgraph_files::unified_diff;
use mcpgraph_toolkit::{Documents, Loaded, NotSaved, definitions, nodes};
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::api::{self, Shared, run_id};
use crate::extract::Path;
use crate::problem::{Problem, answer};
use crate::rename::renamed;
use crate::report::report;
use crate::view;

type Answer = Result<Response, Problem>;

/// `GET /api/graphs`: the file with its tools and problems.
pub(crate) async fn show(State(shared): State<Arc<Shared>>) -> Answer {
    with_documents(&shared, |documents| {
        let source = read(documents)?;
        let loaded = documents.with_text(source.text());
        Ok(answer(StatusCode::OK, &view::document(&loaded, &source)))
    })
    .await
}

/// `GET /api/graphs/version`: only what tells whether the file changed.
pub(crate) async fn version(State(shared): State<Arc<Shared>>) -> Answer {
    with_documents(&shared, |documents| {
        let source = read(documents)?;
        Ok(answer(StatusCode::OK, &json!({ "etag": view::etag(source.text()) })))
    })
    .await
}

/// `GET /api/graphs/TOOL`: one tool with the places of its nodes.
pub(crate) async fn tool(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Answer {
    with_documents(&shared, move |documents| {
        let loaded = documents.with_text(read(documents)?.text());
        let tool = view::tool(&loaded, &name);
        let tool = tool.ok_or_else(|| Problem::not_found(format!("there is no tool `{name}`")))?;
        Ok(answer(StatusCode::OK, &tool))
    })
    .await
}

/// `GET /api/runs/ID/edited`: the nodes of the tool that are not what they were in the run.
pub(crate) async fn edited_since(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer {
    let id = run_id(&id)?;
    let recorded = shared
        .read(move |journal| {
            let Some(run) = journal.run(id)? else { return Ok(None) };
            Ok(journal.definition_of(&run)?.map(|text| (run.tool, text)))
        })
        .await?;
    let Some((tool, text)) = recorded else {
        return Ok(answer(StatusCode::OK, &json!({ "edited": [] })));
    };
    with_documents(&shared, move |documents| {
        let then = mcpgraph_config::read_graph(&Source::new("", &*text), &|_| None).0;
        let now = documents.with_text(read(documents)?.text()).file;
        let tool_of = |file: Option<GraphFile>| -> Vec<Value> {
            let all = file.map(|file| definitions(&file)).unwrap_or_default();
            let is_wanted = |it: &Value| it.get("name").and_then(Value::as_str) == Some(&*tool);
            all.into_iter().filter(is_wanted).collect()
        };
        let (then, now) = (tool_of(then), tool_of(now));
        let then: Vec<Value> = nodes(&then).into_iter().map(unplaced).collect();
        let id = |node: &Value| node.get("id").and_then(Value::as_str).map(str::to_owned);
        let is_other = |node: &&Value| !then.is_empty() && !then.contains(&unplaced(node));
        let edited: Vec<String> = nodes(&now).into_iter().filter(is_other).filter_map(id).collect();
        Ok(answer(StatusCode::OK, &json!({ "edited": edited })))
    })
    .await
}

/// A node without the place where it is drawn, which changes nothing of what it does.
fn unplaced(node: &Value) -> Value {
    let members = node.as_object().into_iter().flat_map(|members| members.iter());
    let kept = members.filter(|(key, _)| &***key != "position");
    kept.map(|(key, value)| (key.clone(), value.clone())).collect::<Map>().into()
}

/// `POST /api/draft`: a text that is not saved, with a change made on it, as the file would be.
pub(crate) async fn draft(State(shared): State<Arc<Shared>>, body: Body) -> Answer {
    let body = api::body(body).await?;
    let text = text_of(&body)?.to_owned();
    with_documents(&shared, move |documents| {
        let name = documents.source().map_or_else(|_| String::new(), |it| it.name().to_owned());
        let source = Source::new(name, text);
        let source = match body.get("edit") {
            None | Some(Value::Null) => source,
            Some(change) => Source::new(source.name(), edited(documents, &source, change)?),
        };
        let loaded = documents.with_text(source.text());
        let mut shown = view::document(&loaded, &source);
        let asked = |key: &str| body.get(key).and_then(Value::as_str);
        if let Some(name) = asked("tool") {
            shown["view"] = view::tool(&loaded, name).unwrap_or_default();
        } else if let (Some(id), Some(file)) = (asked("workflow"), &loaded.file) {
            shown["view"] = view::workflow(file, id).unwrap_or_default();
        }
        Ok(answer(StatusCode::OK, &shown))
    })
    .await
}

/// The text after a change, made by the same code as the changes of agents.
fn edited(
    documents: &dyn Documents,
    source: &Arc<Source>,
    change: &Value,
) -> Result<String, Problem> {
    let text = |key: &str| {
        let text = change.get(key).and_then(Value::as_str);
        text.ok_or_else(|| Problem::invalid(format!("`edit.{key}` must be text")))
    };
    let definition = || {
        let definition = change.get("definition");
        definition.ok_or_else(|| Problem::invalid("`edit.definition` must be the tool"))
    };
    // An edit is about a tool, or about a workflow of the file.
    let is_workflow = change.get("workflow").is_some();
    let subject = if is_workflow { "workflow" } else { "tool" };
    let update = |name: &str, definition: &Value| {
        if is_workflow {
            edit::update_workflow(source, name, definition)
        } else {
            edit::update_tool(source, name, definition)
        }
    };
    let done = match text("op")? {
        "add" => edit::add_tool(source, definition()?),
        "set" => update(text(subject)?, definition()?),
        "delete" if is_workflow => edit::delete_workflow(source, text(subject)?),
        "delete" => edit::delete_tool(source, text(subject)?),
        "rename" => {
            let (name, from, to) = (text(subject)?, text("node")?, text("to")?);
            let file = documents.with_text(source.text()).file;
            let file = file.ok_or_else(|| Problem::conflict("the file cannot be read"))?;
            let is_wanted = |item: &Value| item.get("name").and_then(Value::as_str) == Some(name);
            let all = if is_workflow { workflows(&file) } else { definitions(&file) };
            let old = all.into_iter().find(is_wanted);
            let old =
                old.ok_or_else(|| Problem::not_found(format!("there is no {subject} `{name}`")))?;
            update(name, &renamed(&old, file.version, from, to)?)
        }
        other => {
            let message = format!("there is no edit `{other}`; there are add, set, delete, rename");
            return Err(Problem::invalid(message));
        }
    };
    done.map_err(|error| Problem::conflict(error.to_string()))
}

/// The definitions of a file's workflows, as they are written.
fn workflows(file: &GraphFile) -> Vec<Value> {
    let items = file.tree.get("workflows").map_or(&[][..], |member| member.value.items());
    items.iter().map(|item| item.to_value()).collect()
}

/// `PUT /api/graphs`: saves a text in the place of the one that `If-Match` names.
pub(crate) async fn save(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let seen = headers.get(IF_MATCH).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
    let seen = seen.ok_or_else(|| Problem::invalid("`If-Match` must name the text it replaces"))?;
    let body = api::body(body).await?;
    let text = text_of(&body)?.to_owned();
    let serving = Arc::clone(&shared);
    with_documents(&shared, move |documents| {
        let old = read(documents)?;
        if view::etag(old.text()) != seen.trim_matches('"') {
            return Ok(changed(&old, &text));
        }
        let loaded = documents.with_text(&text);
        let Loaded { file: Some(file), graph: Some(graph), .. } = &loaded else {
            let report = report(loaded.file.as_ref(), &loaded.diagnostics);
            let message = "the file has errors, and nothing was saved";
            let error = json!({ "code": "invalid", "message": message, "report": report });
            return Ok(answer(StatusCode::UNPROCESSABLE_ENTITY, &json!({ "error": error })));
        };
        let mut replace = |now: &Arc<Source>| (now.text() == old.text()).then(|| text.clone());
        match documents.save(&old, &mut replace) {
            Ok(()) => {}
            Err(NotSaved::Declined) => {
                let now = read(documents)?;
                return Ok(changed(&now, &text));
            }
            Err(NotSaved::Failed(why)) => {
                return Err(Problem::internal(format!("the file was not saved: {why}")));
            }
        }
        (serving.workshop()?.serve)(file, Arc::clone(graph));
        Ok(answer(StatusCode::OK, &view::document(&loaded, &Source::new(old.name(), text))))
    })
    .await
}

/// The answer to somebody who had not seen what the file says now.
fn changed(now: &Source, wanted: &str) -> Response {
    let error = json!({
        "code": "changed",
        "message": "the file was changed by somebody else, and nothing was saved",
        "etag": view::etag(now.text()),
        "text": now.text(),
        "diff": unified_diff(now.text(), wanted, now.name()),
    });
    answer(StatusCode::PRECONDITION_FAILED, &json!({ "error": error }))
}

fn text_of(body: &Value) -> Result<&str, Problem> {
    let text = body.get("text").and_then(Value::as_str);
    text.ok_or_else(|| Problem::invalid("`text` must be the text of the file"))
}

fn read(documents: &dyn Documents) -> Result<Arc<Source>, Problem> {
    documents.source().map_err(Problem::internal)
}

/// Works with the files on a thread that may block.
async fn with_documents<T: Send + 'static>(
    shared: &Shared,
    work: impl FnOnce(&dyn Documents) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let documents = Arc::clone(&shared.workshop()?.documents);
    tokio::task::spawn_blocking(move || work(&*documents))
        .await
        .map_err(|_| Problem::internal("reading the files failed by a fault of mcpgraph"))?
}
