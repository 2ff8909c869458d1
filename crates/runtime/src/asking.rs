//! Questions of runs to people.
//!
//! A question is a row of the store. The run waits until somebody has changed that row, which any
//! process may do: the one that asked, another replica, a command line.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpgraph_diagnostics::{Code, codes};
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_graph::{Ask, Schema};
use mcpgraph_journal::{
    Ending, Journal, JournalError, NewQuestion, Question, QuestionId, QuestionState, RunId,
};
use mcpgraph_value::Value;

use crate::EffectCall;

/// How often the store is looked at when nobody tells of a change: another process that shares a
/// file does not.
const LOOK: Duration = Duration::from_secs(1);

/// How long is waited before a store that fails is asked again.
const PAUSE: Duration = Duration::from_secs(2);

/// How many characters of a question are kept.
const MAX_MESSAGE: usize = 10_000;

/// Where runs ask and people answer.
#[derive(Clone)]
pub struct Questions {
    journal: Arc<Journal>,
}

/// A run that may ask.
#[derive(Clone)]
pub struct Asker {
    /// Where it asks.
    pub questions: Questions,
    /// The run.
    pub run: RunId,
    /// The tool that was called.
    pub tool: Arc<str>,
    /// Whose call it is.
    pub principal: Option<Arc<str>>,
    /// Whether this execution has asked anything.
    has_asked: Arc<AtomicBool>,
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The answer.
    Answer(Value),
    /// No.
    Decline,
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such question.
    #[error("there is no question that waits for this answer; it is not known, or long over")]
    Unknown,
    /// Somebody was first.
    #[error("the question has been answered; the first answer counts")]
    Answered,
    /// It came too late.
    #[error("the answer comes too late: the question waited for {0} ms, its node's timeoutMs")]
    Late(u128),
    /// The run has ended.
    #[error("the answer comes too late: the run no longer waits for it")]
    Withdrawn,
    /// It was asked of somebody else.
    #[error("the question was asked of another caller, or for another call")]
    Foreign,
    /// It does not fit.
    #[error("the answer does not fit the question: {0}; answer again")]
    Unfit(String),
    /// The store failed.
    #[error("the answer could not be kept: {0}; answer again")]
    Failed(String),
}

impl Questions {
    /// The questions in a store.
    pub fn new(journal: Arc<Journal>) -> Self {
        Self { journal }
    }

    /// The store.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// A question, whatever became of it.
    pub async fn find(&self, id: QuestionId) -> Result<Option<Question>, JournalError> {
        self.blocking(move |journal| journal.question(id)).await
    }

    /// The questions that wait, the oldest first: of one run, or of all.
    pub async fn pending(&self, run: Option<RunId>) -> Result<Vec<Question>, JournalError> {
        self.blocking(move |journal| journal.pending_questions(run)).await
    }

    /// Waits until a run asks; what waits for an answer then, the oldest first.
    pub async fn asked(&self, run: RunId) -> Result<Vec<Question>, JournalError> {
        let mut follower = self.journal.follow(Some(run));
        loop {
            let pending = self.pending(Some(run)).await?;
            if !pending.is_empty() {
                return Ok(pending);
            }
            drop(tokio::time::timeout(LOOK, follower.changed()).await);
        }
    }

    /// Answers a question. The first answer that fits counts.
    pub async fn answer(&self, id: QuestionId, reply: Reply) -> Result<(), Refused> {
        let question = self.find(id).await.map_err(failed)?.ok_or(Refused::Unknown)?;
        self.answer_all(vec![(question, reply)]).await
    }

    /// Answers questions that were asked together. If one answer does not fit, none is kept, so that
    /// all can be given again. A question that is over is left aside, unless all are.
    pub async fn answer_all(&self, replies: Vec<(Question, Reply)>) -> Result<(), Refused> {
        let (mut endings, mut over, mut has_kept) = (Vec::new(), None, false);
        for (question, reply) in replies {
            if let Err(why) = is_open(&question) {
                over.get_or_insert(why);
                continue;
            }
            let ending = match reply {
                Reply::Decline => Ending::Declined,
                Reply::Answer(answer) => Ending::Answered(fitting(&question.schema, &answer)?),
            };
            endings.push((question.id, ending));
        }
        for (id, ending) in endings {
            match self.keep(id, ending).await {
                Ok(()) => has_kept = true,
                Err(why @ Refused::Failed(_)) => return Err(why),
                Err(why) => {
                    over.get_or_insert(why);
                }
            }
        }
        over.filter(|_| !has_kept).map_or(Ok(()), Err)
    }

    /// Whether a question can be answered, as far as it says itself; why not.
    pub fn waits(question: &Question) -> Result<(), Refused> {
        is_open(question)
    }

    async fn keep(&self, id: QuestionId, ending: Ending) -> Result<(), Refused> {
        let ended = self.blocking(move |journal| journal.end_question(id, &ending)).await;
        if ended.map_err(failed)? {
            return Ok(());
        }
        // Somebody else was faster, or its time has come, or whoever asked is gone.
        let question = self.find(id).await.map_err(failed)?.ok_or(Refused::Unknown)?;
        is_open(&question)?;
        Err(Refused::Withdrawn)
    }

    /// Waits until a question is over; what became of it.
    pub async fn ended(&self, id: QuestionId, run: RunId) -> Result<Question, JournalError> {
        let mut follower = self.journal.follow(Some(run));
        loop {
            let question = self.find(id).await?;
            let question = question.ok_or_else(|| JournalError::NoRun(run.to_string()))?;
            if question.state != QuestionState::Pending || question.is_over() {
                return Ok(question);
            }
            // Nobody tells that the time has come either.
            drop(tokio::time::timeout(question.left.min(LOOK), follower.changed()).await);
        }
    }

    /// Does something with the store, which blocks as files do.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let journal = Arc::clone(&self.journal);
        let done = tokio::task::spawn_blocking(move || work(&journal)).await;
        done.unwrap_or_else(|error| Err(JournalError::Damaged(error.to_string())))
    }
}

/// Asks for a run and waits for the answer. A store that fails meanwhile is asked again: the
/// question is still there when it comes back.
pub(crate) async fn ask(call: EffectCall, ask: &Ask) -> Result<Value, RunError> {
    let Some(asker) = &call.asker else { return Err(nowhere()) };
    let limit = call.call.timeout.unwrap_or_default();
    let message = Ask::message(&call.call.args);
    let question = NewQuestion {
        run: asker.run,
        path: call.call.path.to_string(),
        node: call.call.node.to_string(),
        tool: asker.tool.to_string(),
        message: message.chars().take(MAX_MESSAGE).collect(),
        schema: ask.schema.clone(),
        principal: asker.principal.as_deref().map(str::to_owned),
        patience: limit,
    };
    let asked = tokio::select! {
        biased;
        () = call.cancel.cancelled() => return Err(no_longer_wanted()),
        asked = asker.asked(question) => asked,
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => {
            let questions = asker.questions.clone();
            tokio::spawn(async move { questions.end(asked.id, Ending::Withdrawn).await });
            Err(no_longer_wanted())
        }
        answer = asker.answered(&asked) => answer,
    }
}

impl Asker {
    /// A run that may ask.
    pub(crate) fn new(
        journal: &Arc<Journal>,
        run: RunId,
        tool: &Arc<str>,
        principal: Option<Arc<str>>,
    ) -> Self {
        Self {
            questions: Questions::new(Arc::clone(journal)),
            run,
            tool: Arc::clone(tool),
            principal,
            has_asked: Arc::default(),
        }
    }

    /// The run has ended: what it asked and nobody answered is taken back.
    pub(crate) async fn ended(&self) {
        if !self.has_asked.load(Ordering::Relaxed) {
            return;
        }
        let run = self.run;
        let done = self.questions.blocking(move |journal| journal.withdraw_questions(run)).await;
        if let Err(error) = done {
            tracing::warn!(%run, "the questions of a run could not be taken back: {error}");
        }
    }

    async fn asked(&self, question: NewQuestion) -> Question {
        self.has_asked.store(true, Ordering::Relaxed);
        loop {
            let new = question.clone();
            match self.questions.blocking(move |journal| journal.ask(&new)).await {
                Ok(asked) => return asked,
                Err(error) => self.rest(&error).await,
            }
        }
    }

    async fn answered(&self, asked: &Question) -> Result<Value, RunError> {
        loop {
            match self.questions.ended(asked.id, asked.run).await.map(|question| question.state) {
                Ok(QuestionState::Answered(answer)) => return Ok(answer),
                Ok(QuestionState::Declined) => return Err(RunError::declined()),
                Ok(QuestionState::Withdrawn) => return Err(no_longer_wanted()),
                Ok(QuestionState::Expired) => return Err(RunError::unanswered(asked.patience())),
                // An answer may have come in the same moment: then this one is not the first.
                Ok(QuestionState::Pending) => self.questions.end(asked.id, Ending::Expired).await,
                Err(error) => self.rest(&error).await,
            }
        }
    }

    async fn rest(&self, error: &JournalError) {
        tracing::warn!(run = %self.run, "a question waits for the store: {error}");
        tokio::time::sleep(PAUSE).await;
    }
}

impl Questions {
    /// Ends a question if it waits.
    async fn end(&self, id: QuestionId, how: Ending) {
        if let Err(error) = self.blocking(move |journal| journal.end_question(id, &how)).await {
            tracing::warn!(question = %id, "a question could not be ended: {error}");
        }
    }
}

/// Whether a question can be answered.
fn is_open(question: &Question) -> Result<(), Refused> {
    match question.state {
        QuestionState::Answered(_) | QuestionState::Declined => Err(Refused::Answered),
        QuestionState::Withdrawn => Err(Refused::Withdrawn),
        QuestionState::Expired => Err(Refused::Late(question.patience().as_millis())),
        QuestionState::Pending if question.is_over() => {
            Err(Refused::Late(question.patience().as_millis()))
        }
        QuestionState::Pending => Ok(()),
    }
}

fn failed(error: JournalError) -> Refused {
    Refused::Failed(error.to_string())
}

/// The answer with defaults filled in, if it fits.
fn fitting(schema: &Value, answer: &Value) -> Result<Value, Refused> {
    let schema = Schema::compile(schema).map_err(|error| Refused::Failed(error.message))?;
    let answer = schema.with_defaults(answer);
    let violations = schema.violations(&answer);
    if violations.is_empty() {
        return Ok(answer);
    }
    let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
    Err(Refused::Unfit(violations.join("; ")))
}

fn nowhere() -> RunError {
    RunError::new(
        ErrorKind::Unavailable,
        "nobody can be asked: questions are kept in the store of runs, and there is none; record \
         runs",
    )
}

fn no_longer_wanted() -> RunError {
    RunError::new(ErrorKind::Cancelled, "the question is no longer wanted")
}

// === impl Refused ===

impl Refused {
    /// The code under which the documentation explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Unknown => codes::QUESTION_UNKNOWN,
            Self::Answered => codes::QUESTION_ANSWERED,
            Self::Late(_) | Self::Withdrawn => codes::QUESTION_OVER,
            Self::Foreign => codes::QUESTION_FOREIGN,
            Self::Unfit(_) => codes::ANSWER_UNFIT,
            Self::Failed(_) => codes::STORE_AWAY,
        }
    }
}
