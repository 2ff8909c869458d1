use std::time::{Duration, Instant};

use mcpgraph_journal::{
    Ending, Journal, JournalOptions, NewQuestion, Question, QuestionState, RunId, RunStatus,
    RunSummary,
};
use mcpgraph_testkit::postgres::ask;
use mcpgraph_value::Value;

use crate::support::{Home, new_run, open, raw_bytes, record, started, step};

pub(crate) fn new(run: RunId, path: &str, patience: Duration) -> NewQuestion {
    NewQuestion {
        run,
        path: path.to_owned(),
        node: "approve".to_owned(),
        tool: "send".to_owned(),
        message: "Send it to “Ada”?".to_owned(),
        schema: Value::from_json(r#"{"type":"object"}"#).unwrap(),
        principal: Some("abc".to_owned()),
        patience,
    }
}

const DAY: Duration = Duration::from_hours(24);

fn answer(text: &str) -> Ending {
    Ending::Answered(Value::from_json(&format!(r#"{{"note":"{text}"}}"#)).unwrap())
}

#[test]
fn a_question_is_read_as_it_was_asked_and_asked_once() {
    let (home, journal) = open(JournalOptions::default());
    let run = RunId::new();
    let asked = journal.ask(&new(run, "3.1.0", DAY)).unwrap();
    assert_eq!(asked.state, QuestionState::Pending);
    assert_eq!((asked.run, asked.path.as_str(), asked.node.as_str()), (run, "3.1.0", "approve"));
    assert_eq!(asked.message, "Send it to “Ada”?");
    assert_eq!(asked.principal.as_deref(), Some("abc"));
    assert_eq!(asked.patience(), DAY);
    assert!(!asked.is_over());
    // A run that is executed again, perhaps elsewhere, asks the same question.
    let other = home.open(JournalOptions::default());
    let again = other.ask(&new(run, "3.1.0", Duration::from_secs(1))).unwrap();
    assert_eq!((again.id, again.expires), (asked.id, asked.expires));
    let second = other.ask(&new(run, "3.1.1", DAY)).unwrap();
    let ids = |found: Vec<Question>| found.iter().map(|found| found.id).collect::<Vec<_>>();
    assert_eq!((asked.name().as_str(), second.name().as_str()), ("approve", "approve-2"));
    assert_eq!(ids(journal.pending_questions(Some(run)).unwrap()), [asked.id, second.id]);
    assert_eq!(ids(journal.pending_questions(None).unwrap()), [asked.id, second.id]);
    assert!(journal.pending_questions(Some(RunId::new())).unwrap().is_empty());
    assert_eq!(journal.question(asked.id).unwrap().map(|found| found.id), Some(asked.id));
    assert_eq!(home.open_read().pending_questions(None).unwrap().len(), 2);
}

#[test]
fn the_first_answer_counts_whoever_else_gives_one() {
    let (home, journal) = open(JournalOptions::default());
    let asked = journal.ask(&new(RunId::new(), "0", DAY)).unwrap();
    let accepted: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (home, id) = (&home, asked.id);
                scope.spawn(move || {
                    let journal = home.open(JournalOptions::default());
                    journal
                        .end_question(id, &answer(&number.to_string()))
                        .unwrap()
                        .then_some(number)
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    let [winner] = accepted[..] else { panic!("{accepted:?} were accepted") };
    let kept = journal.question(asked.id).unwrap().unwrap();
    let Ending::Answered(expected) = answer(&winner.to_string()) else { unreachable!() };
    assert_eq!(kept.state, QuestionState::Answered(expected));
    assert!(!journal.end_question(asked.id, &Ending::Declined).unwrap());
    assert!(journal.pending_questions(None).unwrap().is_empty());
}

#[test]
fn an_answer_after_its_time_is_none() {
    let (_home, journal) = open(JournalOptions::default());
    let asked = journal.ask(&new(RunId::new(), "0", Duration::from_millis(1))).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert!(journal.question(asked.id).unwrap().unwrap().is_over());
    assert!(!journal.end_question(asked.id, &answer("late")).unwrap());
    assert!(!journal.end_question(asked.id, &Ending::Declined).unwrap());
    assert!(journal.pending_questions(None).unwrap().is_empty());
    assert!(journal.end_question(asked.id, &Ending::Expired).unwrap());
    assert_eq!(journal.question(asked.id).unwrap().unwrap().state, QuestionState::Expired);
}

#[test]
fn an_answer_is_not_kept_in_clear() {
    let (home, journal) = open(JournalOptions::default());
    let asked = journal.ask(&new(RunId::new(), "0", DAY)).unwrap();
    assert!(journal.end_question(asked.id, &answer("a word for nobody")).unwrap());
    let kept: String = match &home {
        Home::File(folder) => std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect(),
        Home::Database(url) => ask(url, "SELECT answer FROM mcpgraph.questions"),
    };
    assert!(!kept.is_empty() && !kept.contains("for nobody"), "{kept}");
    let reading = home.open_read();
    let read = reading.question(asked.id).unwrap().unwrap();
    let QuestionState::Answered(read) = read.state else { panic!("{read:?}") };
    assert_eq!(read.to_json(), r#"{"note":"a word for nobody"}"#);
}

/// Records mask what nobody may read, and a question may have it.
#[test]
fn a_question_is_not_kept_in_clear_and_only_while_it_waits() {
    let (home, journal) = open(JournalOptions::default());
    let kept = || match &home {
        Home::File(_) => String::from_utf8_lossy(&raw_bytes(&home)).into_owned(),
        Home::Database(url) => {
            let row = "message || schema || coalesce(sealed, 'gone')";
            ask(url, &format!("SELECT string_agg({row}, ' ') FROM mcpgraph.questions"))
        }
    };
    let schema = r#"{"type":"object","properties":{"n":{"const":"key-for-nobody"}}}"#;
    let schema = Value::from_json(schema).unwrap();
    let message = "Use the key key-for-nobody?".to_owned();
    let question = |path| NewQuestion {
        message: message.clone(),
        schema: schema.clone(),
        ..new(RunId::new(), path, DAY)
    };
    let asked = journal.ask(&question("0")).unwrap();
    assert!(!kept().is_empty() && !kept().contains("key-for-nobody"), "{}", kept());
    for reading in [&journal, &home.open_read()] {
        for read in [&reading.question(asked.id).unwrap().unwrap(), &asked] {
            assert_eq!((&read.message, &read.schema), (&message, &schema));
        }
        assert_eq!(reading.pending_questions(None).unwrap()[0].message, message);
    }
    let withdrawn = journal.ask(&question("1")).unwrap();
    assert!(journal.end_question(asked.id, &answer("yes")).unwrap());
    journal.withdraw_questions(withdrawn.run).unwrap();
    for over in [asked, withdrawn] {
        let over = journal.question(over.id).unwrap().unwrap();
        assert_ne!(over.state, QuestionState::Pending);
        assert_eq!((&*over.message, over.schema), ("", Value::from(false)));
    }
    if matches!(home, Home::Database(_)) {
        assert_eq!(kept(), "falsegone falsegone");
    }
}

/// A run that somebody has begun and nobody executes.
fn interrupted(journal: &Journal) -> RunId {
    let run = new_run("send");
    let id = run.id;
    drop(record(journal, run, &[started("send", Value::Null), step(0, &[0], "approve", None)]));
    let is_interrupted =
        |run: RunSummary| run.status == RunStatus::Interrupted && run.reached.is_some();
    while !journal.run(id).unwrap().is_some_and(is_interrupted) {
        std::thread::yield_now();
    }
    id
}

#[test]
fn questions_go_with_their_run() {
    let (home, journal) = open(JournalOptions::default());
    let (run, other) = (interrupted(&journal), interrupted(&journal));
    let asked = journal.ask(&new(run, "0", DAY)).unwrap();
    let stays = journal.ask(&new(other, "0", DAY)).unwrap();
    journal.remove(&[run]).unwrap();
    assert!(journal.question(asked.id).unwrap().is_none());
    assert!(journal.question(stays.id).unwrap().is_some());
    assert_eq!(home.count("questions"), 1);
}

#[test]
fn a_question_that_no_run_waits_for_takes_no_answer() {
    let (home, journal) = open(JournalOptions::default());
    let mut recorder = journal.begin(new_run("send"));
    recorder.record(started("send", Value::Null));
    let at_work = journal.ask(&new(recorder.id(), "0", DAY)).unwrap();
    let asked = journal.ask(&new(interrupted(&journal), "0", DAY)).unwrap();
    let waiting = || {
        let waiting = journal.pending_questions(None).unwrap();
        waiting.iter().map(|question| question.id).collect::<Vec<_>>()
    };
    assert_eq!(waiting(), [at_work.id]);
    assert!(home.open_read().pending_questions(Some(asked.run)).unwrap().is_empty());
    for ending in [answer("yes"), Ending::Declined] {
        assert!(!journal.end_question(asked.id, &ending).unwrap());
    }
    // One that goes on after the next start asks the same then.
    home.has_go_on(&journal, asked.run);
    assert_eq!(waiting(), [at_work.id, asked.id]);
    for question in [at_work, asked] {
        assert!(journal.end_question(question.id, &answer("yes")).unwrap());
    }
}

/// Whoever waits for a run hears of its answer, also when another process takes it.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_told_of() {
    let (home, journal) = open(JournalOptions::default());
    let asked = journal.ask(&new(RunId::new(), "0", DAY)).unwrap();
    let mut follower = journal.follow(Some(asked.run));
    // A file tells only those of the same process.
    let elsewhere = match &home {
        Home::File(_) => None,
        Home::Database(_) => Some(home.open(JournalOptions::default())),
    };
    if elsewhere.is_some() {
        // The first word is that it listens.
        drop(tokio::time::timeout(Duration::from_secs(5), follower.changed()).await);
    }
    let answering = elsewhere.as_ref().unwrap_or(&journal);
    let began = Instant::now();
    assert!(answering.end_question(asked.id, &answer("yes")).unwrap());
    while journal.question(asked.id).unwrap().unwrap().state == QuestionState::Pending {
        assert!(follower.changed().await);
    }
    tokio::time::timeout(Duration::from_secs(10), follower.changed()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
}
