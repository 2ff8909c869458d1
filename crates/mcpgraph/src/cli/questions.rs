//! What runs ask people, and answers from the command line.

use std::sync::Arc;

use mcpgraph_diagnostics::{printable, shortened};
use mcpgraph_graph::Schema;
use mcpgraph_journal::{Question, QuestionId, rfc3339};
use mcpgraph_runtime::{Questions, Refused, Reply};
use mcpgraph_value::{Map, Value};

use super::args::HistoryArgs;
use super::args::questions::{AnswerArgs, QuestionsArgs, QuestionsCommand};
use super::runs::text::{Side, table};
use super::runs::{Runs, print};
use super::{Exit, Threads, block_on, output, run, usage};

/// How much of a question a line shows.
const SHOWN: usize = 80;

/// Dispatches `mcpgraph questions`.
pub(super) fn questions(args: QuestionsArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let store = Runs::open_for("questions", history)?;
    match args.command {
        QuestionsCommand::Ls => list(&store, args.json),
        QuestionsCommand::Answer(answer) => give(store, &answer, args.json),
    }
}

fn list(store: &Runs, json: bool) -> anyhow::Result<Exit> {
    let questions = store.journal.pending_questions(None)?;
    if json {
        let all: Vec<Value> = questions.iter().map(Question::to_value).collect();
        print(&Map::from_iter([("questions", all)]).into())?;
        return Ok(Exit::Success);
    }
    if questions.is_empty() {
        output::say(&format!("nothing in {} waits for an answer\n", store.journal.place()));
        return Ok(Exit::Success);
    }
    let heading = [
        ("QUESTION", Side::Left),
        ("TOOL", Side::Left),
        ("NODE", Side::Left),
        ("ASKED", Side::Left),
        ("UNTIL", Side::Left),
        ("MESSAGE", Side::Left),
    ];
    let rows: Vec<_> = questions.iter().map(row).collect();
    output::data(&table(heading, &rows))?;
    Ok(Exit::Success)
}

fn row(question: &Question) -> [String; 6] {
    [
        question.id.to_string(),
        question.tool.clone(),
        question.node.clone(),
        rfc3339(question.asked),
        rfc3339(question.expires),
        shortened(&printable(&question.message), SHOWN),
    ]
}

fn give(store: Runs, args: &AnswerArgs, json: bool) -> anyhow::Result<Exit> {
    let questions = Questions::new(Arc::new(store.journal));
    let given = block_on(Threads::One, async {
        let found = resolve(&questions, &args.question).await?;
        let Some(id) = found else { return Ok(Err(Refused::Unknown)) };
        let Some(question) = questions.find(id).await? else { return Ok(Err(Refused::Unknown)) };
        let reply = if args.decline {
            if !args.answer.is_empty() {
                return Err(usage("--decline gives no answer: leave out KEY=VALUE"));
            }
            Reply::Decline
        } else {
            // Of one that is over the schema is gone, and anything would be said not to fit.
            if let Err(refused) = Questions::waits(&question) {
                return Ok(Err(refused));
            }
            let schema = Schema::compile(&question.schema)
                .map_err(|error| anyhow::anyhow!("its schema cannot be used: {}", error.message))?;
            let answer = run::typed(&args.answer, &schema, Map::new())?;
            // Of a name that was mistyped, a default would decide in the place of what was meant.
            let asked = question.schema.get("properties");
            let is_asked = |name: &str| asked.is_some_and(|asked| asked.get(name).is_some());
            if let Some(name) = answer.keys().find(|name| !is_asked(name)) {
                return Ok(Err(Refused::Unfit(format!("`{name}` is not asked for"))));
            }
            Reply::Answer(answer.into())
        };
        Ok(questions.answer(id, reply).await.map(|()| id))
    })?;
    match given {
        Ok(id) if json => print(&Map::from_iter([("answered", id.to_string())]).into())?,
        Ok(_) => output::say("the run goes on\n"),
        Err(refused) => {
            output::error(&format!("{refused} [{}]", refused.code().id()));
            return Ok(Exit::Failure);
        }
    }
    Ok(Exit::Success)
}

/// The question with this id, or the only one that waits whose id begins so.
async fn resolve(questions: &Questions, id: &str) -> anyhow::Result<Option<QuestionId>> {
    if let Ok(id) = id.parse() {
        return Ok(Some(id));
    }
    let digits = |id: &str| id.replace('-', "").to_ascii_lowercase();
    let wanted = digits(id);
    if wanted.is_empty() {
        return Ok(None);
    }
    let waiting = questions.pending(None).await?;
    let ids = waiting.iter().map(|question| question.id);
    let meant: Vec<_> = ids.filter(|id| digits(&id.to_string()).starts_with(&wanted)).collect();
    match &*meant {
        [] => Ok(None),
        [id] => Ok(Some(*id)),
        [first, second, ..] => Err(usage(format!(
            "{} questions that wait have ids that begin with `{}`, {first} and {second} among \
             them: give more of it",
            meant.len(),
            printable(id)
        ))),
    }
}
