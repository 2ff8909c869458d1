//! What runs ask people, and what they are answered.
//!
//! A question outlives the process that asked it: its row is what a run waits for, and whoever may
//! change that row first has answered it.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use mcpgraph_value::Value;
use uuid::Uuid;

use crate::database::{self, Access, Connection, Row, bound};
use crate::read::row::time;
use crate::write::micros;
use crate::{Journal, JournalError, RunId};

/// How long a question that is over is remembered, so that a late answer is told what became of it.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);

/// How many questions a list shows.
const MAX_LISTED: i64 = 1000;

const COLUMNS: &str = "id, run, path, node, tool, message, schema, principal, asked, expires, \
     state, answer, (SELECT count(*) FROM questions AS earlier WHERE earlier.run = questions.run \
     AND earlier.node = questions.node AND earlier.id < questions.id)";

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
#[derive(Clone, Debug, PartialEq)]
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
        let now = SystemTime::now();
        let id = QuestionId(Uuid::now_v7());
        let asked = self.transact(|connection| {
            forget(connection, now)?;
            let added = connection.execute(
                "INSERT INTO questions (id, run, path, node, tool, message, schema, principal,
                     asked, expires, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending')
                 ON CONFLICT (run, path) DO NOTHING",
                bound![
                    id.0.as_bytes(),
                    &new.run,
                    &new.path,
                    &new.node,
                    &new.tool,
                    &new.message,
                    &new.schema.to_json(),
                    new.principal.as_deref(),
                    micros(now),
                    micros(now + new.patience),
                ],
            )?;
            if added > 0 {
                connection.tell([new.run].into_iter())?;
            }
            let sql = format!("SELECT {COLUMNS} FROM questions WHERE run = ?1 AND path = ?2");
            Ok(connection.first(&sql, bound![&new.run, &new.path], question)?)
        })?;
        self.shared.heard(Some(&[new.run]));
        asked.ok_or_else(|| JournalError::Damaged("a question is gone".to_owned()))?
    }

    /// A question, whatever became of it; none if it is long over.
    pub fn question(&self, id: QuestionId) -> Result<Option<Question>, JournalError> {
        self.questions("WHERE id = ?1", bound![id.0.as_bytes()])
            .map(|found| found.into_iter().next())
    }

    /// The questions that wait, the oldest first: of one run, or of all.
    pub fn pending_questions(&self, run: Option<RunId>) -> Result<Vec<Question>, JournalError> {
        let now = micros(SystemTime::now());
        match run {
            Some(run) => self.questions(
                "WHERE run = ?3 AND state = 'pending' AND expires > ?1 ORDER BY asked, id LIMIT ?2",
                bound![now, MAX_LISTED, &run],
            ),
            None => self.questions(
                "WHERE state = 'pending' AND expires > ?1 ORDER BY asked, id LIMIT ?2",
                bound![now, MAX_LISTED],
            ),
        }
    }

    /// Ends a question if it waits. False if it does not any more: whoever was first has ended it,
    /// and an answer that comes after its time is none.
    pub fn end_question(&self, id: QuestionId, how: &Ending) -> Result<bool, JournalError> {
        let now = micros(SystemTime::now());
        let answer = match how {
            Ending::Answered(answer) => Some(answer.to_json()),
            _ => None,
        };
        // What a person says has to be said in time.
        let deadline = match how {
            Ending::Answered(_) | Ending::Declined => now,
            Ending::Expired | Ending::Withdrawn => i64::MIN,
        };
        let run = self.transact(|connection| {
            let run: Option<[u8; 16]> = connection.value(
                "UPDATE questions SET state = ?2, answer = ?3, ended = ?4
                 WHERE id = ?1 AND state = 'pending' AND expires > ?5 RETURNING run",
                bound![id.0.as_bytes(), how.name(), answer.as_deref(), now, deadline],
            )?;
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
        let now = micros(SystemTime::now());
        self.transact(|connection| {
            let withdrawn = connection.execute(
                "UPDATE questions SET state = 'withdrawn', ended = ?2
                 WHERE run = ?1 AND state = 'pending'",
                bound![&run, now],
            )?;
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
        condition: &str,
        values: &[database::Bound<'_>],
    ) -> Result<Vec<Question>, JournalError> {
        self.read(|connection| {
            if connection.format()? < SINCE_FORMAT {
                return Ok(Vec::new());
            }
            let sql = format!("SELECT {COLUMNS} FROM questions {condition}");
            connection.all(&sql, values, question)?.into_iter().collect()
        })
    }
}

/// Forgets what has been over for a while.
fn forget(connection: &Connection, now: SystemTime) -> database::Result<()> {
    let before = micros(now.checked_sub(REMEMBERED).unwrap_or(now));
    connection.execute_later("DELETE FROM questions WHERE expires < ?1", bound![before])?;
    connection.execute_later("DELETE FROM questions WHERE ended < ?1", bound![before])
}

/// Reads a row; what it says may make no sense.
fn question(row: &Row<'_>) -> database::Result<Result<Question, JournalError>> {
    let json = |text: &str| {
        Value::from_json(text)
            .map_err(|error| JournalError::Damaged(format!("a question: {error}")))
    };
    let (schema, state) = (json(row.text(6)?), row.get::<String>(10)?);
    let answer: Option<String> = row.get(11)?;
    let state = match (state.as_str(), answer) {
        ("pending", _) => Ok(QuestionState::Pending),
        ("answered", Some(answer)) => json(&answer).map(QuestionState::Answered),
        ("declined", _) => Ok(QuestionState::Declined),
        ("expired", _) => Ok(QuestionState::Expired),
        ("withdrawn", _) => Ok(QuestionState::Withdrawn),
        (other, _) => Err(JournalError::Damaged(format!("a question is `{other}`"))),
    };
    let (schema, state) = match (schema, state) {
        (Ok(schema), Ok(state)) => (schema, state),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    Ok(Ok(Question {
        id: QuestionId(Uuid::from_bytes(row.get(0)?)),
        run: RunId::from_bytes(row.get(1)?),
        path: row.get(2)?,
        node: row.get(3)?,
        tool: row.get(4)?,
        message: row.get(5)?,
        schema,
        principal: row.get(7)?,
        asked: time(row.get(8)?),
        expires: time(row.get(9)?),
        state,
        earlier: row.get::<i64>(12)?.unsigned_abs(),
    }))
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

    /// Whether it is too late for an answer.
    pub fn is_over(&self) -> bool {
        self.expires <= SystemTime::now()
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
