//! How a client is asked a question of a run, and what it answers.

use std::time::Instant;

use mcpgraph_journal::Question;
use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::{Questions, Refused, Reply};
use mcpgraph_value::Value;
use serde::Deserialize;
use serde_json::json;

/// How a client is asked.
pub(crate) const ELICIT: &str = "elicitation/create";

/// What a client says in the place of an answer that it does not give.
pub const DECLINE: &str = "decline";

/// How often a client is asked again whose answer does not fit.
const MAX_TRIES: usize = 5;

/// A question of a run, answered by the caller.
#[derive(Deserialize)]
struct Elicited {
    action: String,
    content: Option<Raw>,
}

/// Asks a legacy client in the middle of its call; false if it cannot be asked so, or gives no
/// answer that counts. A person elsewhere may be faster.
pub async fn elicit(questions: &Questions, call: &Call, question: &Question) -> bool {
    if call.version().era() == Era::Modern || call.peer.may_ask(ELICIT).is_err() {
        return false;
    }
    let mut problem = None;
    let until = Instant::now() + question.left;
    for _ in 0..MAX_TRIES {
        let params = raw(&elicitation(question, problem.as_deref()));
        let left = until.saturating_duration_since(Instant::now());
        let answer = tokio::select! {
            answer = call.peer.request(ELICIT, Some(params), left) => answer,
            _ = questions.ended(question.id, question.run) => return true,
        };
        let Some(reply) = answer.ok().and_then(|answer| reply(&answer)) else { return false };
        match questions.answer(question.id, reply).await {
            Err(Refused::Unfit(what)) => problem = Some(what),
            // Whatever became of it, the run goes on.
            _ => return true,
        }
    }
    false
}

/// The parameters with which a client is asked.
pub(crate) fn elicitation(question: &Question, problem: Option<&str>) -> serde_json::Value {
    let message = match problem {
        Some(problem) => format!("{}\n\nThe answer does not fit: {problem}", question.message),
        None => question.message.clone(),
    };
    json!({ "message": message, "requestedSchema": question.schema })
}

/// What a client says to a question; none if it says nothing that makes sense.
pub(crate) fn reply(answer: &Raw) -> Option<Reply> {
    let Elicited { action, content } = serde_json::from_str(answer.get()).ok()?;
    match action.as_str() {
        "accept" => {
            let content = content
                .map_or(Ok(Value::object(mcpgraph_value::Map::new())), |content| {
                    Value::from_json(content.get())
                });
            content.ok().map(Reply::Answer)
        }
        // Both mean that there will be no answer.
        "decline" | "cancel" => Some(Reply::Decline),
        _ => None,
    }
}

/// What the `answer` says that a tool was given in the place of the client; none if there is none.
pub fn spoken(answer: Option<&Value>) -> Result<Option<Reply>, Refused> {
    match answer {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) if &**word == DECLINE => Ok(Some(Reply::Decline)),
        Some(answer @ Value::Object(_)) => Ok(Some(Reply::Answer(answer.clone()))),
        Some(_) => Err(Refused::Unfit(format!("`answer` is an object, or the word `{DECLINE}`"))),
    }
}
