use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpgraph_engine::Event;
use mcpgraph_journal::{Delivery, JournalOptions, RunStatus};
use mcpgraph_value::Value;
use parking_lot::Mutex;

use crate::support::{finished, keep, new_run, open, short_run, started, step};

#[tokio::test]
async fn what_is_delivered_is_in_the_file() {
    let (dir, journal) = open(JournalOptions::default());
    let recorder = journal.begin(new_run("t"));
    let id = recorder.id();
    let reader = Arc::new(Mutex::new(None));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let deliver = Arc::new(move |event: &Event| {
        let mut reader = reader.lock();
        let journal = reader.get_or_insert_with(|| dir.open_read());
        log.lock().push((event.clone(), journal.events(id, 0, 100).unwrap().len()));
    });
    let mut recorder = recorder.telling(deliver);
    let events = short_run("t", &Value::from(1));
    for event in &events {
        recorder.record(event.clone());
    }
    assert!(recorder.committed().await);
    let seen = seen.lock();
    assert_eq!(seen.len(), events.len());
    for (index, (event, in_file)) in seen.iter().enumerate() {
        assert_eq!(event, &events[index]);
        assert!(*in_file > index, "event {index} of {in_file}");
    }
}

#[tokio::test]
async fn a_reader_follows_one_run_and_loses_nothing() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut recorder = journal.begin(new_run("t"));
    let id = recorder.id();
    let mut follower = journal.follow(Some(id));
    recorder.record(started("t", Value::Null));
    recorder.hand_over();
    assert!(follower.changed().await);
    for number in 0..20 {
        recorder.record(step(number, &[number as u32], "n", None));
        if number % 5 == 0 {
            assert!(recorder.committed().await);
        }
    }
    recorder.record(finished(Value::Null));
    recorder.hand_over();
    let mut next = 0;
    while next < 22 {
        for (seq, _) in journal.events(id, next, 4).unwrap() {
            assert_eq!(seq, next);
            next += 1;
        }
        if next < 22 && journal.events(id, next, 1).unwrap().is_empty() {
            assert!(follower.changed().await);
        }
    }
    drop(recorder);
    let mut idle = journal.follow(None);
    journal.close();
    while idle.changed().await {}
}

#[tokio::test]
async fn changes_tell_of_every_run_that_is_new_or_different() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(keep(&journal, new_run("t"), &short_run("t", &number.into())).await);
    }
    let (mut since, mut seen) = (0, Vec::new());
    loop {
        let changes = journal.changes(since, 2).unwrap();
        assert!(changes.next > since || changes.runs.is_empty());
        seen.extend(changes.runs.iter().map(|run| run.id));
        since = changes.next;
        if !changes.more {
            break;
        }
    }
    assert_eq!(seen, ids);
    assert!(journal.changes(since, 10).unwrap().runs.is_empty());

    let mut recorder = journal.begin(new_run("long"));
    recorder.record(started("long", Value::Null));
    assert!(recorder.committed().await);
    let changes = journal.changes(since, 10).unwrap();
    assert_eq!(changes.runs.len(), 1);
    assert_eq!(changes.runs[0].status, RunStatus::Running);
    recorder.record(finished(Value::Null));
    assert!(recorder.committed().await);
    let changes = journal.changes(changes.next, 10).unwrap();
    assert_eq!(changes.runs.len(), 1);
    assert_eq!(changes.runs[0].status, RunStatus::Succeeded);
}

#[tokio::test]
async fn a_run_that_is_in_the_file_has_told_everything() {
    let (_dir, journal) = open(JournalOptions::default());
    let events = short_run("t", &1.into());
    for _ in 0..200 {
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let deliver: Delivery = Arc::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let mut recorder = journal.begin(new_run("t")).telling(deliver);
        for event in &events {
            recorder.record(event.clone());
        }
        assert!(recorder.committed().await);
        assert_eq!(told.load(Ordering::SeqCst), events.len());
    }
}
