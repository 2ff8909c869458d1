//! Several processes with one database.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use mcpgraph_journal::{Filter, JournalOptions, KeptWorkflow, RunId, RunStatus};
use mcpgraph_testkit::postgres::ask;
use mcpgraph_value::Value;

use crate::support::{Home, finished, keep, new_run, open, short_run, started};

#[test]
fn many_may_make_the_tables_at_once() {
    let home = crate::home();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| home.open(JournalOptions::default()).close());
        }
    });
    assert!(home.open_read().list(&Filter::default()).unwrap().runs.is_empty());
}

/// A reader that asks for changes while several write sees every run.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_misses_no_change_of_any_writer() {
    const WRITERS: usize = 3;
    const RUNS: usize = 60;
    let home = crate::home();
    let reader = home.open_read_or_made();
    let journals: Vec<_> = (0..WRITERS).map(|_| home.open(JournalOptions::default())).collect();
    let writers: Vec<_> = journals
        .into_iter()
        .map(|journal| {
            tokio::spawn(async move {
                let mut ids = Vec::new();
                for number in 0..RUNS {
                    let events = short_run("t", &(number as u64).into());
                    ids.push(keep(&journal, new_run("t"), &events).await);
                }
                ids
            })
        })
        .collect();
    let (mut since, mut seen) = (0, HashSet::new());
    let patience = Instant::now() + Duration::from_mins(1);
    while seen.len() < WRITERS * RUNS {
        assert!(Instant::now() < patience, "{} runs were seen", seen.len());
        let changes = reader.changes(since, 10).unwrap();
        seen.extend(changes.runs.iter().map(|run| run.id));
        since = changes.next;
        tokio::task::yield_now().await;
    }
    for writer in writers {
        assert!(writer.await.unwrap().iter().all(|id| seen.contains(id)));
    }
}

#[tokio::test]
async fn one_sees_what_another_does() {
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    let mut recorder = first.begin(new_run("long"));
    recorder.record(started("long", Value::Null));
    assert!(recorder.committed().await);
    assert_eq!(second.run(recorder.id()).unwrap().unwrap().status, RunStatus::Running);
    let kept = KeptWorkflow { id: "w".to_owned(), definition: "{}".to_owned() };
    let before = second.definitions_version().unwrap();
    first.put_workflow(&kept).unwrap();
    assert_eq!(second.workflows().unwrap(), [kept]);
    assert!(second.definitions_version().unwrap() > before);
    let id = recorder.id();
    drop(recorder);
    first.close();
    assert_eq!(second.run(id).unwrap().unwrap().status, RunStatus::Interrupted);
}

/// Whoever follows a run hears of it wherever it is executed.
#[tokio::test(flavor = "multi_thread")]
async fn one_hears_what_another_writes() {
    let (home, first) = open(JournalOptions::default());
    let Home::Database(_) = &home else { return };
    let second = home.open(JournalOptions::default());
    let mut recorder = first.begin(new_run("long"));
    let id = recorder.id();
    let mut one = second.follow(Some(id));
    let mut any = second.follow(None);
    let mut other = second.follow(Some(RunId::new()));
    // What is told first is that it may have missed something.
    tokio::time::sleep(Duration::from_millis(300)).await;
    recorder.record(started("long", Value::Null));
    assert!(recorder.committed().await);
    for follower in [&mut one, &mut any] {
        let heard = tokio::time::timeout(Duration::from_secs(10), follower.changed()).await;
        assert_eq!(heard, Ok(true));
    }
    while second.events(id, 0, 10).unwrap().is_empty() {
        assert!(one.changed().await);
    }
    drop(tokio::time::timeout(Duration::from_millis(10), other.changed()).await);
    recorder.record(finished(Value::Null));
    assert!(recorder.committed().await);
    let heard = tokio::time::timeout(Duration::from_millis(300), other.changed()).await;
    assert!(heard.is_err(), "the follower of another run heard of this one");
}

/// A process that is gone, and never said so.
#[tokio::test]
async fn the_runs_of_a_writer_that_is_not_seen_any_more_are_interrupted() {
    let (home, journal) = open(JournalOptions::default());
    let Home::Database(url) = &home else { return };
    let mut recorder = journal.begin(new_run("long"));
    recorder.record(started("long", Value::Null));
    assert!(recorder.committed().await);
    let reader = home.open_read();
    ask(url, "UPDATE mcpgraph.writers SET seen = now() - interval '1 hour'");
    assert_eq!(reader.run(recorder.id()).unwrap().unwrap().status, RunStatus::Interrupted);
}
