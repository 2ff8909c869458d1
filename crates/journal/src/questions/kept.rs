//! Questions as rows: what is sealed of them, and which still wait for somebody.

use std::fmt;
use std::time::Duration;

use mcpgraph_value::{Map, Value};
use uuid::Uuid;

use super::{Question, QuestionId, QuestionState};
use crate::common::micros;
use crate::database::{self, Access, Connection, Row, Store, bound};
use crate::read::row::{Rows, time};
use crate::{Journal, JournalError, RunId};

/// How long a question that is over is remembered, so that a late answer is told what became of it.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);

/// The format of the file that first has questions whose text is sealed.
const SINCE_SEALED: i64 = 11;

/// What becomes of the text of a question that is over: nobody is asked any more.
pub(super) const WITHOUT_TEXT: &str = "message = '', schema = 'false', sealed = NULL";

/// What reads questions.
pub(super) fn select(connection: &Connection, condition: &str) -> database::Result<String> {
    let clock = connection.clock();
    let sealed = if connection.format()? < SINCE_SEALED { "NULL" } else { "sealed" };
    Ok(format!(
        "SELECT id, run, path, node, tool, message, schema, principal, asked, expires, state,
             answer, expires - {clock},
             (SELECT count(*) FROM questions AS earlier
              WHERE earlier.run = questions.run AND earlier.node = questions.node
                  AND (earlier.asked, earlier.id) < (questions.asked, questions.id)),
             {sealed}
         FROM questions {condition}"
    ))
}

/// A condition that is true of a question whose run is being executed, or will be: somebody reads
/// the answer. Of a run that has no record nobody can tell, and it is believed.
pub(super) fn is_wanted(connection: &Connection, store: &Store) -> database::Result<String> {
    let lives = Rows::new(connection, store)?.lives();
    let goes_on = connection.goes_on("questions.run")?;
    Ok(format!(
        "(NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = questions.run
              AND NOT (runs.status = 'running' AND {lives})) OR {goes_on})"
    ))
}

/// Forgets what has been over for a while.
pub(super) fn forget(connection: &Connection) -> database::Result<()> {
    let remembered = micros(REMEMBERED);
    for over in ["expires", "ended"] {
        let sql = format!("DELETE FROM questions WHERE {over} < {} - ?1", connection.clock());
        connection.execute_later(&sql, bound![remembered])?;
    }
    Ok(())
}

impl Journal {
    /// What is asked, for whoever has this store.
    pub(super) fn seal_question(
        &self,
        id: QuestionId,
        message: &str,
        schema: &Value,
    ) -> Result<String, JournalError> {
        let asked = Map::from_iter([("message", Value::from(message)), ("schema", schema.clone())]);
        self.seal(&Value::from(asked).to_json(), &about(id))
    }

    /// Seals what older versions asked, which kept it in clear.
    pub(crate) fn seal_plain_questions(
        &self,
        plain: Vec<PlainQuestion>,
    ) -> Result<(), JournalError> {
        for PlainQuestion { id, message, schema } in plain {
            // One that makes no sense is left to whoever reads it.
            let Ok(schema) = Value::from_json(&schema) else { continue };
            let sealed = self.seal_question(id, &message, &schema)?;
            self.alter(|connection| {
                let sql = "UPDATE questions SET message = '', schema = 'false', sealed = ?1
                     WHERE id = ?2 AND state = 'pending'";
                Ok(connection.transaction(Access::Write, |connection| {
                    connection.execute(sql, bound![&sealed, id.0.as_bytes()])
                })?)
            })?;
        }
        Ok(())
    }
}

/// A question whose text is not sealed.
pub(crate) struct PlainQuestion {
    id: QuestionId,
    message: String,
    schema: String,
}

impl PlainQuestion {
    /// Those that wait.
    pub(crate) fn all(connection: &Connection) -> database::Result<Vec<Self>> {
        let sql = "SELECT id, message, schema FROM questions
             WHERE state = 'pending' AND sealed IS NULL";
        connection.all(sql, &[], |row| {
            let id = QuestionId(Uuid::from_bytes(row.get(0)?));
            Ok(Self { id, message: row.get(1)?, schema: row.get(2)? })
        })
    }
}

/// What is sealed of a question as the text of it, and nothing else.
fn about(id: QuestionId) -> String {
    format!("{id} asked")
}

/// A question as it was read, with what of it is sealed.
pub(super) struct Sealed {
    question: Question,
    text: Option<String>,
    answer: Option<String>,
}

impl Sealed {
    pub(super) fn opened(self, journal: &Journal) -> Result<Question, JournalError> {
        let Self { mut question, text, answer } = self;
        if let Some(text) = text {
            let json = journal.unseal(&text, &about(question.id))?;
            let json = json.ok_or_else(|| damaged("its text cannot be opened"))?;
            let text = Value::from_json(&json).map_err(damaged)?;
            let message = text.get("message").and_then(Value::as_str);
            question.message = message.map(str::to_owned).unwrap_or_default();
            question.schema = text.get("schema").cloned().unwrap_or_default();
        }
        if let Some(answer) = answer {
            let json = journal.unseal(&answer, &question.id.to_string())?;
            let json = json.ok_or_else(|| damaged("its answer cannot be opened"))?;
            let answer = Value::from_json(&json).map_err(damaged)?;
            question.state = QuestionState::Answered(answer);
        }
        Ok(question)
    }
}

fn damaged(what: impl fmt::Display) -> JournalError {
    JournalError::Damaged(format!("a question: {what}"))
}

/// Reads a row; what it says may make no sense.
pub(super) fn question(row: &Row<'_>) -> database::Result<Result<Sealed, JournalError>> {
    let state = row.get::<String>(10)?;
    let state = match state.as_str() {
        // One that was answered is so once the answer is opened.
        "pending" | "answered" => QuestionState::Pending,
        "declined" => QuestionState::Declined,
        "expired" => QuestionState::Expired,
        "withdrawn" => QuestionState::Withdrawn,
        other => return Ok(Err(damaged(format_args!("it is `{other}`")))),
    };
    let schema = match Value::from_json(row.text(6)?) {
        Ok(schema) => schema,
        Err(error) => return Ok(Err(damaged(error))),
    };
    let question = Question {
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
        left: Duration::from_micros(u64::try_from(row.get::<i64>(12)?).unwrap_or_default()),
        earlier: row.get::<i64>(13)?.unsigned_abs(),
    };
    Ok(Ok(Sealed { question, text: row.get(14)?, answer: row.get(11)? }))
}
