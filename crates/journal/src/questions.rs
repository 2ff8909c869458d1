//! What runs ask people, and what they are answered.
//!
//! A question outlives the process that asked it: its row is what a run waits for, and whoever may
//! change that row first has answered it. Its times are those of the store, so that the clocks of
//! several machines do not matter. What is asked and what is answered is sealed: records mask what
//! nobody may read, and either may have it. What was asked goes when the question is over.

mod kept;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use mcpgraph_value::Value;
use uuid::Uuid;

pub(crate) use self::kept::PlainQuestion;
use self::kept::{Sealed, WITHOUT_TEXT, forget, is_wanted, question, select};
use crate::common::micros;
use crate::database::{self, Access, Connection, bound};
use crate::{Journal, JournalError, RunId};

/// How many questions a list shows.
const MAX_LISTED: i64 = 1000;

/// The format of the file that first has questions.
const SINCE_FORMAT: i64 = 6;

/// Names a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(Uuid);

/// What a run asks.
#[derive(Clone, Debug, PartialEq)]
pub struct NewQuestion {
    /// The run that asks.
    pub run: RunId,
    /// Where the step stands that asks; a run asks once at each place.
    pub path: String,
    /// The node that asks.
    pub node: String,
    /// The tool that was called.
    pub tool: String,
    /// What is asked.
    pub message: String,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// Whose call it was; none where nobody has to say who they are.
    pub principal: Option<String>,
    /// How long an answer is waited for.
    pub patience: Duration,
}

/// A question as it is kept.
#[derive(Clone, Debug)]
pub struct Question {
    /// Names it.
    pub id: QuestionId,
    /// The run that asks.
    pub run: RunId,
    /// Where the step stands that asks.
    pub path: String,
    /// The node that asks.
    pub node: String,
    /// The tool that was called.
    pub tool: String,
    /// What is asked.
    pub message: String,
    /// The JSON Schema of the answer.
    pub schema: Value,
    /// Whose call it was.
    pub principal: Option<String>,
    /// When it was asked.
    pub asked: SystemTime,
    /// Until when it can be answered.
    pub expires: SystemTime,
    /// How much of that time was left when it was read.
    pub left: Duration,
    /// What became of it.
    pub state: QuestionState,
    /// How often the node has asked before, in this run.
    earlier: u64,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionState {
    /// It waits.
    Pending,
    /// It was answered.
    Answered(Value),
    /// The person declined.
    Declined,
    /// Nobody answered in time.
    Expired,
    /// The run no longer wants to know.
    Withdrawn,
}

/// How a question ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With an answer.
    Answered(Value),
    /// With a no.
    Declined,
    /// With its time.
    Expired,
    /// The run no longer wants to know.
    Withdrawn,
}

impl Journal {
    /// Asks, unless the run has asked at this place before: then it is that question. Two processes
    /// that execute one run ask once.
    pub fn ask(&self, new: &NewQuestion) -> Result<Question, JournalError> {
        let id = QuestionId(Uuid::now_v7());
        let sealed = self.seal_question(id, &new.message, &new.schema)?;
        let asked = self.transact(|connection| {
            forget(connection)?;
            let sql = format!(
                "INSERT INTO questions (id, run, path, node, tool, message, schema, sealed, principal,
                     asked, expires, state)
                 SELECT ?1, ?2, ?3, ?4, ?5, '', 'false', ?6, ?7, now, now + ?8, 'pending'
                 FROM (SELECT {} AS now) AS clock WHERE true
                 ON CONFLICT (run, path) DO NOTHING",
                connection.clock()
            );
            let added = connection.execute(
                &sql,
                bound![
                    id.0.as_bytes(),
                    &new.run,
                    &new.path,
                    &new.node,
                    &new.tool,
                    &sealed,
                    new.principal.as_deref(),
                    micros(new.patience),
                ],
            )?;
            if added > 0 {
                connection.tell([new.run].into_iter())?;
            }
            let sql = select(connection, "WHERE run = ?1 AND path = ?2")?;
            Ok(connection.first(&sql, bound![&new.run, &new.path], question)?)
        })?;
        self.shared.heard(Some(&[new.run]));
        let asked = asked.ok_or_else(|| JournalError::Damaged("a question is gone".to_owned()))?;
        asked?.opened(self)
    }

    /// A question, whatever became of it; none if it is long over.
    pub fn question(&self, id: QuestionId) -> Result<Option<Question>, JournalError> {
        let found = self.questions(|_| Ok("WHERE id = ?1".to_owned()), bound![id.0.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// The questions that wait for an answer, the oldest first: of one run, or of all. One whose run
    /// was interrupted and does not go on waits for nothing.
    pub fn pending_questions(&self, run: Option<RunId>) -> Result<Vec<Question>, JournalError> {
        let waiting = |connection: &Connection| {
            let of_run = if run.is_some() { "run = ?2 AND" } else { "" };
            let (clock, wanted) = (connection.clock(), is_wanted(connection, &self.store)?);
            Ok(format!(
                "WHERE {of_run} state = 'pending' AND expires > {clock} AND {wanted}
                 ORDER BY asked, id LIMIT ?1"
            ))
        };
        match run {
            Some(run) => self.questions(waiting, bound![MAX_LISTED, &run]),
            None => self.questions(waiting, bound![MAX_LISTED]),
        }
    }

    /// Ends a question if it waits. False if it does not any more: whoever was first has ended it,
    /// and an answer that comes after its time, or that no run will read, is none.
    pub fn end_question(&self, id: QuestionId, how: &Ending) -> Result<bool, JournalError> {
        let answer = match how {
            Ending::Answered(answer) => Some(self.seal(&answer.to_json(), &id.to_string())?),
            _ => None,
        };
        let run = self.transact(|connection| {
            let clock = connection.clock();
            // What a person says has to be said in time, and to somebody.
            let in_time = match how {
                Ending::Answered(_) | Ending::Declined => {
                    format!("AND expires > {clock} AND {}", is_wanted(connection, &self.store)?)
                }
                Ending::Expired | Ending::Withdrawn => String::new(),
            };
            let sql = format!(
                "UPDATE questions SET state = ?2, answer = ?3, ended = {clock}, {WITHOUT_TEXT}
                 WHERE id = ?1 AND state = 'pending' {in_time} RETURNING run"
            );
            let run: Option<[u8; 16]> =
                connection.value(&sql, bound![id.0.as_bytes(), how.name(), answer.as_deref()])?;
            let run = run.map(RunId::from_bytes);
            if let Some(run) = run {
                connection.tell([run].into_iter())?;
            }
            Ok(run)
        })?;
        if let Some(run) = run {
            self.shared.heard(Some(&[run]));
        }
        Ok(run.is_some())
    }

    /// Takes back what a run that has ended still asks.
    pub fn withdraw_questions(&self, run: RunId) -> Result<(), JournalError> {
        self.transact(|connection| {
            let sql = format!(
                "UPDATE questions SET state = 'withdrawn', ended = {}, {WITHOUT_TEXT}
                 WHERE run = ?1 AND state = 'pending'",
                connection.clock()
            );
            let withdrawn = connection.execute(&sql, bound![&run])?;
            if withdrawn > 0 {
                connection.tell([run].into_iter())?;
            }
            Ok(())
        })?;
        self.shared.heard(Some(&[run]));
        Ok(())
    }

    fn transact<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.alter(|connection| connection.transaction(Access::Write, body))
    }

    fn questions(
        &self,
        condition: impl FnOnce(&Connection) -> database::Result<String>,
        values: &[database::Bound<'_>],
    ) -> Result<Vec<Question>, JournalError> {
        let found: Vec<Sealed> = self.read(|connection| {
            if connection.format()? < SINCE_FORMAT {
                return Ok(Vec::new());
            }
            let sql = select(connection, &condition(connection)?)?;
            connection.all(&sql, values, question)?.into_iter().collect()
        })?;
        found.into_iter().map(|found| found.opened(self)).collect()
    }
}

// === impl Question ===

impl Question {
    /// Its name among the questions of its run: that of the node, with a number if the node asks
    /// again.
    pub fn name(&self) -> String {
        match self.earlier {
            0 => self.node.clone(),
            earlier => format!("{}-{}", self.node, earlier + 1),
        }
    }

    /// How long an answer is waited for, in all.
    pub fn patience(&self) -> Duration {
        self.expires.duration_since(self.asked).unwrap_or_default()
    }

    /// Whether it was too late for an answer when it was read.
    pub fn is_over(&self) -> bool {
        self.left.is_zero()
    }
}

// === impl Ending ===

impl Ending {
    fn name(&self) -> &'static str {
        match self {
            Self::Answered(_) => "answered",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

// === impl QuestionId ===

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for QuestionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
