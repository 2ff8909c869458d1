//! Calls of tools that ask people on the way.
//!
//! The run goes on by itself, and what it asks is a row in the store. How the caller is asked
//! depends on what it can: a modern client gets a result of type `input_required` and comes back
//! with the answer, a legacy client is asked in the middle of its call, and any other is given a
//! handle to call [`CONTINUE`] with.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mcpgraph_engine::RunError;
use mcpgraph_graph::Tool;
use mcpgraph_journal::{JournalError, Question, QuestionId, RunId};
use mcpgraph_mcp::message::{Raw, RpcError, code, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::{Execution, Finished, Questions, Refused, Reply, Runtime};
use mcpgraph_value::Value;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::apart::{Apart, Next};
use crate::around::{Outer, inside};
use crate::call::attend;
use crate::elicit::{DECLINE, ELICIT, elicit, elicitation, reply, spoken};
use crate::gateway::{Gateway, arguments};
use crate::relay::{self, Params};
use crate::result::Called;
use crate::seal::{Bound, RESPONSES, STATE, Seal};
use crate::view::View;
use crate::{about, requests, result, tasks};

/// The tool with which a client goes on that cannot be asked.
pub(crate) const CONTINUE: &str = "continue_run";

/// What a client is given to come back with. It is sealed, so that only we write it.
#[derive(Serialize, Deserialize)]
struct Ticket {
    questions: Vec<String>,
    /// The caller who was asked.
    principal: Option<String>,
    /// Names the request that has to come again with the answer; none for a handle.
    request: Option<String>,
}

/// What it takes to ask the caller of a request.
struct Room<'a> {
    runtime: &'a Runtime,
    apart: &'a Apart,
    questions: Questions,
    seal: &'a Seal,
    call: &'a Call,
}

impl Gateway {
    /// Calls a tool whose run goes on by itself: it may ask, or becomes a task. Or goes on with a run whose question the call answers.
    pub(crate) async fn call_asking(
        &self,
        view: &View,
        call: &Call,
        params: &Params,
        tool: &Arc<Tool>,
        outer: Option<&Outer>,
    ) -> Result<Raw, RpcError> {
        let Some(room) = self.room(view, call) else {
            return Err(RpcError::internal("there is no store for questions"));
        };
        let called = Called::from(&**tool);
        let mut responses = responses(params)?;
        if params.contains_key(STATE) {
            let taken = room.take_rounds(params, &responses).await;
            let run = taken.map_err(|refused| refusal(&refused))?;
            requests::becomes(call, run);
            return room.follow(run, called, &mut Params::new()).await;
        }
        room.apart.room()?;
        let input = arguments(params)?;
        let mut execution = Execution::new(Arc::clone(&view.offer.graph), Arc::clone(tool), input);
        execution.origin = inside(execution.origin, outer);
        let run = execution.id;
        let begin = |execution| self.apart().begin(Arc::clone(&view.offer), execution);
        if tasks::wanted(call) {
            attend(call, execution, None, |execution| async { begin(execution) }).await;
            room.apart.in_store(&room.questions, run).await;
            return Ok(tasks::created(run, SystemTime::now()));
        }
        attend(call, execution, None, |execution| {
            begin(execution);
            room.follow(run, called, &mut responses)
        })
        .await
    }

    /// [`CONTINUE`]: answers a question by its handle, and gives what the run comes to next.
    pub(crate) async fn continue_run(
        &self,
        view: &View,
        call: &Call,
        params: &Params,
    ) -> Result<Raw, RpcError> {
        let arguments = arguments(params)?;
        let handle = arguments.get("handle").and_then(Value::as_str);
        let handle = handle
            .ok_or_else(|| RpcError::invalid_params("`handle` must be there and be a string"))?;
        let room = self.room(view, call).ok_or_else(|| refusal(&Refused::Unknown))?;
        match room.take_handle(view, handle, arguments.get("answer")).await {
            Ok(question) => {
                requests::becomes(call, question.run);
                about(call, &question.tool);
                let tool = Called::of(&view.offer.graph, &question.tool);
                room.follow(question.run, tool, &mut Params::new()).await
            }
            Err(refused) => Ok(raw(&result::refused(&refused.to_string(), refused.code()))),
        }
    }

    fn room<'a>(&'a self, view: &'a View, call: &'a Call) -> Option<Room<'a>> {
        let runtime = view.offer.runtime();
        let (apart, questions, seal) = (self.apart(), runtime.questions()?, self.seal());
        Some(Room { runtime, apart, questions, seal, call })
    }
}

impl Room<'_> {
    /// Goes on for a request until the run has ended or the client has to do something. What the
    /// client answered before it was asked is taken when it is.
    async fn follow(
        &self,
        run: RunId,
        tool: Called<'_>,
        ahead: &mut Params,
    ) -> Result<Raw, RpcError> {
        loop {
            let next = tokio::select! {
                next = self.apart.next(self.runtime, &self.questions, run) => {
                    next.map_err(|error| failed(&error))?
                }
                error = self.left(run) => {
                    let finished = Finished { run, outcome: Err(error), failed: None, place: None };
                    return result::answer(&finished, tool, self.call.version());
                }
                () = self.call.cancel.cancelled() => {
                    self.apart.cancel(self.runtime, run).await;
                    return Err(RpcError::internal("the caller cancelled the call"));
                }
            };
            let asked = match next {
                Next::Finished(finished) => {
                    return result::answer(&finished, tool, self.call.version());
                }
                Next::Asked(asked) => asked,
            };
            if self.answer_ahead(&asked, ahead).await {
                continue;
            }
            let Some(first) = asked.first() else { continue };
            let is_modern = self.call.version().era() == Era::Modern;
            if is_modern && self.call.peer.may_ask(ELICIT).is_ok() {
                return self.round(&asked);
            }
            if !elicit(&self.questions, self.call, first).await {
                let handle = self.ticket(&asked[..1], None)?;
                return Ok(raw(&result::asked(first, &handle, tool)));
            }
        }
    }

    /// Waits until the run goes on without this process, if it can.
    async fn left(&self, run: RunId) -> RunError {
        match self.runtime.durable() {
            Some(durable) => durable.left(run).await,
            None => std::future::pending().await,
        }
    }

    /// Answers what the client has answered already; false if that is nothing that counts.
    async fn answer_ahead(&self, asked: &[Question], ahead: &mut Params) -> bool {
        let mut has_answered = false;
        for question in asked {
            let Some(response) = ahead.shift_remove(&question.name()) else { continue };
            let Some(reply) = reply(&response) else { continue };
            has_answered |= self.questions.answer(question.id, reply).await.is_ok();
        }
        has_answered
    }

    /// The result that asks a modern client.
    fn round(&self, asked: &[Question]) -> Result<Raw, RpcError> {
        let request = Bound::of("", self.call)?.name();
        Ok(raw(&json!({
            "resultType": "input_required",
            "inputRequests": input_requests(asked),
            "requestState": self.ticket(asked, Some(request))?,
        })))
    }

    fn ticket(&self, asked: &[Question], request: Option<String>) -> Result<String, RpcError> {
        let ticket = Ticket {
            questions: asked.iter().map(|question| question.id.to_string()).collect(),
            principal: self.call.client.principal.as_deref().map(str::to_owned),
            request,
        };
        self.seal.close(&raw(&ticket), &Bound::ticket(), Instant::now())
    }

    /// Takes the answers of a modern client; the run that asked. Without any it is only looked how
    /// the run stands; what is missing is asked again.
    async fn take_rounds(&self, params: &Params, responses: &Params) -> Result<RunId, Refused> {
        let state = relay::text(params, STATE).map_err(|_| Refused::Unknown)?;
        let ticket = self.open(&state)?;
        let request = Bound::of("", self.call).map_err(|_| Refused::Foreign)?;
        let asked = self.asked(&ticket).await?;
        if ticket.request != Some(request.name()) {
            return Err(Refused::Foreign);
        }
        let run = asked.first().map(|question| question.run).ok_or(Refused::Unknown)?;
        self.questions.answer_all(replies(asked, responses)?).await?;
        Ok(run)
    }

    /// Takes the answer that came with a handle; without one it is only looked how the run stands.
    async fn take_handle(
        &self,
        view: &View,
        handle: &str,
        answer: Option<&Value>,
    ) -> Result<Question, Refused> {
        let ticket = self.open(handle)?;
        let question = self.asked(&ticket).await?.into_iter().next().ok_or(Refused::Unknown)?;
        if ticket.request.is_some() || !view.sees_own(&question.tool) {
            return Err(Refused::Foreign);
        }
        let Some(reply) = spoken(answer)? else { return Ok(question) };
        self.questions.answer(question.id, reply).await?;
        Ok(question)
    }

    fn open(&self, text: &str) -> Result<Ticket, Refused> {
        // How long it is good for, the question itself knows.
        let opened = self.seal.open_within(text, &Bound::ticket(), Instant::now(), Duration::MAX);
        let opened = opened.map_err(|_| Refused::Unknown)?;
        serde_json::from_str(opened.get()).map_err(|_| Refused::Unknown)
    }

    /// The questions of a ticket, which were asked of this caller.
    async fn asked(&self, ticket: &Ticket) -> Result<Vec<Question>, Refused> {
        let caller = self.call.client.principal.as_deref();
        let mut asked = Vec::with_capacity(ticket.questions.len());
        for id in &ticket.questions {
            let id: QuestionId = id.parse().map_err(|_| Refused::Unknown)?;
            let found = self.questions.find(id).await;
            let found = found.map_err(|error| Refused::Failed(error.to_string()))?;
            let question = found.ok_or(Refused::Unknown)?;
            if ticket.principal.as_deref() != caller || question.principal.as_deref() != caller {
                return Err(Refused::Foreign);
            }
            asked.push(question);
        }
        Ok(asked)
    }
}

/// The tool itself, as clients see it.
pub(crate) fn tool() -> Raw {
    raw(&json!({
        "name": CONTINUE,
        "title": "Continue a run",
        "description": "Answers a question that a tool asked instead of giving its result, and gives the result, or the next question. Ask the user; do not make answers up.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "The handle that came with the question" },
                "answer": {
                    "description": "What the user answers, as the question's schema says; or \"decline\". Leave it out to see how the run stands.",
                    "anyOf": [{ "type": "object" }, { "const": DECLINE }]
                }
            },
            "required": ["handle"]
        },
        "annotations": { "openWorldHint": true }
    }))
}

/// Questions as a modern client is asked them, by their names.
pub(crate) fn input_requests(asked: &[Question]) -> serde_json::Map<String, serde_json::Value> {
    let request = |question| json!({ "method": ELICIT, "params": elicitation(question, None) });
    asked.iter().map(|question| (question.name(), request(question))).collect()
}

/// What a client answers, by the names of the questions.
fn responses(params: &Params) -> Result<Params, RpcError> {
    let Some(responses) = params.get(RESPONSES) else { return Ok(Params::new()) };
    serde_json::from_str(responses.get())
        .map_err(|error| RpcError::invalid_params(format!("`{RESPONSES}`: {error}")))
}

/// What a client says to these questions, by their names.
pub(crate) fn replies(
    asked: Vec<Question>,
    responses: &Params,
) -> Result<Vec<(Question, Reply)>, Refused> {
    let mut replies = Vec::with_capacity(asked.len());
    for question in asked {
        let Some(response) = responses.get(&question.name()) else { continue };
        let senseless = || Refused::Unfit(format!("`{}` says nothing", question.name()));
        let reply = reply(response).ok_or_else(senseless)?;
        replies.push((question, reply));
    }
    Ok(replies)
}

/// A refusal as a protocol error; the client may send the same state again where it was only the
/// answer that does not fit, or the store that was away.
pub(crate) fn refusal(refused: &Refused) -> RpcError {
    let code = match refused {
        Refused::Failed(_) => code::UNAVAILABLE,
        _ => code::INVALID_PARAMS,
    };
    RpcError::new(code, refused.to_string()).with_data(&json!({ "code": refused.code().id() }))
}

pub(crate) fn failed(error: &JournalError) -> RpcError {
    RpcError::internal(format!("the run cannot be followed: {error}"))
}
