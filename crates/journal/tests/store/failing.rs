use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::Event;
use mcpgraph_journal::{Delivery, Journal, JournalOptions, RunStatus};
use mcpgraph_value::Value;
use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::support::{done, keep, new_run, noise, open, record, short_run, started};

/// Keeps everybody else from writing until it is dropped.
fn locked(dir: &std::path::Path) -> Connection {
    let connection = Connection::open(dir.join("runs.db")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

fn deliveries() -> (Delivery, mpsc::Receiver<Event>) {
    let (sender, receiver) = mpsc::channel(1000);
    (Arc::new(move |event: &Event| sender.try_send(event.clone()).unwrap()), receiver)
}

#[tokio::test]
async fn a_full_disk_costs_records_and_nothing_else() {
    let wait = Duration::from_secs(1);
    let options = JournalOptions { max_pages: Some(140), wait, ..JournalOptions::default() };
    let (_dir, journal) = open(options);
    let first = keep(&journal, new_run("t"), &short_run("t", &noise(1, 150_000))).await;
    let second = keep(&journal, new_run("t"), &short_run("t", &noise(2, 150_000))).await;

    // There is no room for this one; whoever is to hear of it hears of it all the same.
    let (deliver, mut delivered) = deliveries();
    let mut recorder = journal.begin(new_run("t")).telling(deliver);
    let lost = recorder.id();
    let events = short_run("t", &noise(3, 200_000));
    for event in &events {
        recorder.record(event.clone());
    }
    assert!(!recorder.committed().await);
    for event in &events {
        assert_eq!(delivered.recv().await.as_ref(), Some(event));
    }
    drop(recorder);
    // What is lost is counted after it is told.
    while journal.status().queued_events > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let status = journal.status();
    // What was recorded first may have found room.
    let count = status.lost_events;
    assert!((1..=4).contains(&count) && status.lost_runs == 1, "{status:?}");
    assert!(status.last_error.as_ref().unwrap().contains("full"), "{status:?}");

    // Nobody waits for a store that is known to be stuck.
    let mut later = record(&journal, new_run("t"), &short_run("t", &noise(4, 200_000)));
    assert!(!later.committed().await);
    drop(later);

    // With room again it goes on by itself, and says what it lost.
    let mut commits = journal.follow(None);
    journal.remove(&[first]).unwrap();
    assert!(commits.changed().await);
    let mut summary = journal.run(lost).unwrap();
    while summary.as_ref().is_none_or(|run| run.lost == 0) {
        assert!(commits.changed().await);
        summary = journal.run(lost).unwrap();
    }
    let summary = summary.unwrap();
    assert_eq!((summary.lost, summary.events), (count, 4));
    assert_eq!(summary.status, RunStatus::Succeeded);
    assert_eq!(journal.events(lost, 0, 10).unwrap().len() as u64, 4 - count);
    keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    assert_eq!(journal.status().last_error, None);
    assert!(journal.run(second).unwrap().is_some());
}

#[tokio::test]
async fn a_queue_that_is_full_loses_events_and_tells_of_all_in_order() {
    let options = JournalOptions { max_queued_events: 64, ..JournalOptions::default() };
    let (dir, journal) = open(options);
    let (deliver, mut delivered) = deliveries();
    let lock = locked(dir.path());
    let mut recorder = journal.begin(new_run("t")).telling(deliver);
    let events: Vec<Event> = std::iter::once(started("t", Value::Null))
        .chain((0..99).map(|step| done(step, step.into(), Some("next"))))
        .collect();
    for event in &events {
        recorder.record(event.clone());
    }
    drop(lock);
    for event in &events {
        assert_eq!(delivered.recv().await.as_ref(), Some(event));
    }
    let id = recorder.id();
    drop(recorder);
    let status = journal.status();
    assert!(status.lost_events > 0, "{status:?}");
    journal.close();

    let journal = dir.open_read();
    let summary = journal.run(id).unwrap().unwrap();
    let kept = journal.events(id, 0, 1000).unwrap();
    assert_eq!(summary.events, 100);
    assert_eq!(summary.lost, status.lost_events);
    assert_eq!(summary.lost + kept.len() as u64, 100);
    assert_eq!(summary.status, RunStatus::Interrupted);
    journal.whole_events(id, crate::support::version()).unwrap_err();
}

#[tokio::test]
async fn a_run_waits_for_a_stuck_store_no_longer_than_it_may() {
    let wait = Duration::from_millis(50);
    let (dir, journal) = open(JournalOptions { wait, ..JournalOptions::default() });
    let lock = locked(dir.path());
    let mut first = record(&journal, new_run("t"), &short_run("t", &Value::Null));
    assert!(!first.committed().await);
    assert_eq!(journal.status().late_runs, 1);
    let mut second = record(&journal, new_run("t"), &short_run("t", &Value::Null));
    assert!(!second.committed().await);
    let mut commits = journal.follow(None);
    drop(lock);
    assert!(commits.changed().await);
    keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
}

#[tokio::test]
async fn a_journal_is_closed_while_the_disk_is_full() {
    let wait = Duration::from_secs(2);
    let options = JournalOptions { max_pages: Some(140), wait, ..JournalOptions::default() };
    let (_dir, journal) = open(options);
    let mut events = vec![started("t", Value::Null)];
    events.extend((0..8).map(|step| done(step, noise(step, 200_000), None)));
    let mut recorder = record(&journal, new_run("t"), &events);
    assert!(!recorder.committed().await);
    drop(recorder);
    while journal.status().lost_runs == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // What was lost is told of; nobody waits for room once more.
    let began = std::time::Instant::now();
    journal.close();
    assert!(began.elapsed() < wait, "{:?}", began.elapsed());
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told_of() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Journal::open(&file.path().join("data"), JournalOptions::default()).err().unwrap();
    assert!(error.to_string().contains("cannot open"), "{error}");
    // Its cause is part of what it says.
    assert!(std::error::Error::source(&error).is_none());
}

/// What is written to a file that nobody finds is as lost as what a full disk does not take.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_taken_away_is_noticed() {
    let options = JournalOptions { wait: Duration::from_millis(200), ..JournalOptions::default() };
    let (dir, journal) = open(options);
    keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    assert_eq!(journal.status().last_error, None);
    let (there, away) = (dir.path().join("runs.db"), dir.path().join("elsewhere"));
    std::fs::rename(&there, &away).unwrap();
    let is_told = |journal: &Journal| {
        let error = journal.status().last_error.unwrap();
        assert!(error.contains("runs.db was deleted or replaced"), "{error}");
    };
    // Also while nothing is written.
    is_told(&journal);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let mut lost = record(&journal, new_run("t"), &short_run("t", &Value::Null));
    assert!(!lost.committed().await);
    while journal.status().queued_events > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let status = journal.status();
    assert_eq!((status.lost_events, status.lost_runs), (4, 1), "{status:?}");
    // Nor does another file in its place have what is written to this one.
    std::fs::write(&there, "").unwrap();
    is_told(&journal);
    let mut lost = record(&journal, new_run("t"), &short_run("t", &Value::Null));
    assert!(!lost.committed().await);
    std::fs::rename(&away, &there).unwrap();
    loop {
        let mut again = record(&journal, new_run("t"), &short_run("t", &Value::Null));
        if again.committed().await {
            break;
        }
    }
    assert_eq!(journal.status().last_error, None);
}
