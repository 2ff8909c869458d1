//! What runs ask people, and what is answered in the studio.
//!
//! Whoever may use the studio may answer for others: the guard and the tokens in front of it say
//! who that is.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_journal::Question;
use mcpgraph_runtime::{Questions, Refused, Reply};
use mcpgraph_value::{Map, Value};

use crate::api::{Shared, fields};
use crate::extract::Path;
use crate::problem::{Problem, json};

/// The questions that wait, the oldest first.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let pending = shared.read(|journal| journal.pending_questions(None)).await?;
    let questions: Vec<Value> = pending.iter().map(Question::to_value).collect();
    Ok(json(&Map::from_iter([("questions", questions)]).into()))
}

/// Answers one: `{"answer": {…}}`, or `{"decline": true}`.
pub(crate) async fn answer(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    content: Body,
) -> Result<Response, Problem> {
    let content = fields(content, &["answer", "decline"]).await?;
    let id = id.parse().map_err(|_| refused(&Refused::Unknown))?;
    let reply = match (content.get("answer"), content.get("decline")) {
        (Some(answer @ Value::Object(_)), None) => Reply::Answer(answer.clone()),
        (None, Some(Value::Bool(true))) => Reply::Decline,
        _ => {
            let message = "the body is {\"answer\": {…}} or {\"decline\": true}";
            return Err(Problem::invalid(message));
        }
    };
    let questions = Questions::new(shared.journal()?);
    questions.answer(id, reply).await.map_err(|error| refused(&error))?;
    Ok(json(&Map::new().into()))
}

fn refused(refused: &Refused) -> Problem {
    let status = match refused {
        Refused::Unknown => StatusCode::NOT_FOUND,
        Refused::Answered | Refused::Late(_) | Refused::Withdrawn | Refused::Foreign => {
            StatusCode::CONFLICT
        }
        Refused::Unfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Refused::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Problem::new(status, refused.code().id(), refused.to_string())
}
