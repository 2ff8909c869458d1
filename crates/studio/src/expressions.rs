//! Expressions tried on what a step saw.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_engine::StepPath;
use mcpgraph_journal::{Journal, JournalError, Payload, RunId, StoredEvent};
use mcpgraph_toolkit::{try_jsonata, try_logic};
use mcpgraph_value::{Map, Value};

use crate::api::{self, Shared, run_id};
use crate::problem::{Problem, answer};

/// How many events of a run are read for the history that an expression sees.
const MAX_EVENTS: usize = 20_000;

/// `POST /api/expr/test`: `{language, expression}` on `{context, history}`, or on what a step of a
/// run saw: `{run, step}`. An expression that fails is an answer too.
pub(crate) async fn test(
    State(shared): State<Arc<Shared>>,
    body: Body,
) -> Result<Response, Problem> {
    let mut body = api::body(body).await?;
    let Some(expression) = body.get("expression").cloned() else {
        return Err(Problem::invalid("`expression` must be the expression"));
    };
    if let Some(run) = body.get("run").and_then(Value::as_str) {
        let run = run_id(run)?;
        let step = body.get("step").and_then(Value::as_i64).and_then(|it| u64::try_from(it).ok());
        let step = step.ok_or_else(|| Problem::invalid("`step` must be a number"))?;
        let (context, history) = shared
            .read(move |journal| Ok((journal.context_at(run, step)?, history(journal, run, step)?)))
            .await?;
        let language = body.get("language").cloned().unwrap_or_default();
        body = Map::from_iter([
            ("language", language),
            ("expression", expression),
            ("context", context),
            ("history", history),
        ])
        .into();
    }
    let tried = match body.get("language").and_then(Value::as_str) {
        Some("jsonata") if body.get("expression").is_some_and(|it| it.as_str().is_some()) => {
            try_jsonata(body).await
        }
        Some("jsonata") => return Err(Problem::invalid("`expression` must be text")),
        Some("jsonlogic") => try_logic(body).await,
        _ => return Err(Problem::invalid("`language` must be jsonata or jsonlogic")),
    };
    Ok(answer(StatusCode::OK, &tried.unwrap_or_else(|failure| failure)))
}

/// The outputs before a step in the same body, in their order.
fn history(journal: &Journal, run: RunId, step: u64) -> Result<Value, JournalError> {
    let path = journal.step(run, step)?.path;
    let scope = |path: &StepPath| path.positions().split_last().map(|(_, rest)| rest.to_vec());
    let wanted = scope(&path);
    let mut nodes: Vec<(u64, Arc<str>)> = Vec::new();
    let mut outputs = Vec::new();
    for (_, event) in journal.events(run, 0, MAX_EVENTS)? {
        match event {
            StoredEvent::StepStarted { step: began, .. } if began == step => break,
            StoredEvent::StepStarted { step, path, node, .. } if scope(&path) == wanted => {
                nodes.push((step, node));
            }
            StoredEvent::StepFinished { step, output: Payload::Whole(output), .. } => {
                if let Some((_, node)) = nodes.iter().rev().find(|(began, _)| *began == step) {
                    let entry = [("node", Value::from(Arc::clone(node))), ("output", output)];
                    outputs.push(Value::object(Map::from_iter(entry)));
                }
            }
            _ => {}
        }
    }
    Ok(outputs.into())
}
