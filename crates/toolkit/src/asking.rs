//! Runs that ask people on the way: the client in the middle of its call where it can be asked, or
//! else whoever answers what the call was answered with.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::codes;
use mcpgraph_gateway::{attend, elicit, spoken};
use mcpgraph_journal::{Question, QuestionId, RunId};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{DebugState, Debugger, Execution, Finished, Questions, Refused, Runtime};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::attended::Attended;
use crate::debug::stands;
use crate::records::{explain, not_recorded};
use crate::run::{Runnable, told};
use crate::steps::Steps;
use crate::toolkit::Toolkit;

/// How long it is waited for a run that stands still to take an answer.
const TAKING: Duration = Duration::from_secs(2);

/// Executes a run for a call. One that may ask goes on by itself, because its answer may come after
/// the call.
pub(crate) async fn executed<R>(
    toolkit: &Toolkit,
    call: &Call,
    (runnable, execution): (&Runnable, Execution),
    logs: bool,
    run: impl FnOnce(Arc<Runtime>, Execution) -> R + Send,
) -> Answer
where
    R: Future<Output = Finished> + Send + 'static,
{
    let (steps, id) = (Steps::default(), execution.id);
    let runtime = Arc::clone(&toolkit.runtime);
    let watch = Some(steps.watch());
    let may_ask = runnable.tool.body.asks(&runnable.graph);
    let Some(questions) = runtime.questions().filter(|_| may_ask) else {
        let finished = attend(call, execution, watch, |execution| run(runtime, execution)).await;
        return told(&finished, &steps, &runnable.definitions, logs);
    };
    let runs = &toolkit.attended;
    let cancel = runs.asking.child_token();
    let attended = Attended::new(&runtime, runnable, steps, cancel.clone());
    attend(call, execution, watch, |execution| async move {
        let running = run(runtime, Execution { cancel, ..execution });
        let attended = runs.begin(id, attended, running)?;
        follow(&questions, call, id, &attended, logs).await
    })
    .await
}

/// Goes on for a call until the run has ended, or asks what this client cannot be asked now. A
/// client that takes its call back ends the run.
async fn follow(
    questions: &Questions,
    call: &Call,
    run: RunId,
    attended: &Attended,
    logs: bool,
) -> Answer {
    let followed = async {
        loop {
            let asked = tokio::select! {
                biased;
                finished = attended.finished() => {
                    let finished = finished.ok_or_else(|| fault(run))?;
                    return told(&finished, &attended.steps, &attended.definitions, logs);
                }
                asked = questions.asked(run) => asked.map_err(|error| explain(&error))?,
            };
            let Some(first) = asked.first() else { continue };
            if !elicit(questions, call, first).await {
                return Ok(json!({ "run": run.to_string(), "question": first.to_value() }));
            }
        }
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => {
            attended.cancel.cancel();
            Err(Failure::new(codes::RUN_CANCELLED, "the call was taken back, which ends its run"))
        }
        answer = followed => answer,
    }
}

/// `answerQuestion`.
pub(crate) async fn answer(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let questions = toolkit.runtime.questions().ok_or_else(not_recorded)?;
    let id: Result<QuestionId, _> = arguments.required("questionId").parse();
    let id = id.map_err(|_| refused(&Refused::Unknown))?;
    let question = questions.find(id).await.map_err(|error| explain(&error))?;
    let question = question.ok_or_else(|| refused(&Refused::Unknown))?;
    let run = question.run;
    let attended = toolkit.attended.get(run).ok_or_else(|| refused(&Refused::Foreign))?;
    let reply = spoken(arguments.get("answer")).map_err(|why| refused(&why))?;
    let debugger = toolkit.attended.sessions.get(run);
    let before = debugger.as_ref().map(Debugger::state);
    if let Some(reply) = reply {
        questions.answer(id, reply).await.map_err(|why| refused(&why))?;
        // A run that stands still takes the answer all the same, and something else comes next.
        if let (Some(debugger), Some(before @ DebugState::Paused { .. })) = (&debugger, &before) {
            tokio::time::timeout(TAKING, debugger.changed_from(before)).await.ok();
        }
    }
    match debugger {
        Some(debugger) => stands(toolkit, run, debugger, arguments, call).await,
        None => follow(&questions, call, run, &attended, arguments.flag("logging")).await,
    }
}

/// What a run waits for an answer to, the oldest first; nothing where that cannot be found out.
pub(crate) async fn pending(attended: Option<&Attended>, run: RunId) -> Option<Question> {
    let questions = attended?.questions.as_ref()?;
    questions.pending(Some(run)).await.ok()?.into_iter().next()
}

/// Waits until a run asks; for ever where it does not.
pub(crate) async fn asked(attended: Option<&Attended>, run: RunId) {
    let questions = attended.and_then(|attended| attended.questions.as_ref());
    match questions {
        // Where the record cannot be read, the run is told to be running, which it is.
        Some(questions) => drop(questions.asked(run).await),
        None => std::future::pending().await,
    }
}

fn refused(why: &Refused) -> Failure {
    let suggestion = match why {
        Refused::Unknown | Refused::Failed(_) => "the `question` of a run has its `id`",
        Refused::Foreign => {
            "only questions of runs that this toolkit started are answered here; a person answers \
             others: `mcpgraph questions answer`, or the studio"
        }
        Refused::Unfit(_) => "the `schema` of the question tells what fits",
        Refused::Answered | Refused::Late(_) | Refused::Withdrawn => {
            "leave out `answer` to see how the run stands"
        }
    };
    Failure::new(why.code(), why.to_string()).with("suggestion", suggestion)
}

/// A run that went away without an end.
fn fault(run: RunId) -> Failure {
    Failure::new(codes::RUN_INTERNAL, format!("run {run} failed by a fault of mcpgraph"))
}
