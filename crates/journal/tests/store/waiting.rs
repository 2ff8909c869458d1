//! Runs that wait: for what they call, and for their record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_journal::JournalOptions;
use mcpgraph_value::Value;
use tokio::task::JoinSet;

use crate::support::{done, finished, new_run, open, record, short_run, started, step};

#[tokio::test]
async fn what_a_run_that_waits_has_recorded_can_soon_be_read() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut recorder = journal.begin(new_run("t"));
    let id = recorder.id();
    assert_eq!(recorder.pause(), None, "there is nothing to hand over");
    recorder.record(started("t", Value::Null));
    recorder.record(step(0, &[0], "work", None));
    let mut follower = journal.follow(Some(id));
    let pause = recorder.pause().unwrap();
    tokio::time::sleep(pause / 2).await;
    // What happens meanwhile does not keep it for longer.
    recorder.record(done(0, Value::Null, None));
    if let Some(rest) = recorder.pause() {
        assert!(rest <= pause / 2, "{rest:?} of {pause:?}");
        assert!(journal.events(id, 0, 10).is_err(), "nothing was handed over yet");
        tokio::time::sleep(rest).await;
        assert_eq!(recorder.pause(), None);
    }
    assert!(follower.changed().await);
    assert_eq!(journal.events(id, 0, 10).unwrap().len(), 3);
}

#[tokio::test]
async fn a_run_that_waited_for_a_moment_is_written_at_once() {
    let (_dir, journal) = open(JournalOptions::default());
    let [first, second, third, last] = <[_; 4]>::try_from(short_run("t", &1.into())).unwrap();
    // On a busy machine a moment may be longer than one.
    for _ in 0..100 {
        let before = journal.status().commits;
        let mut recorder = journal.begin(new_run("t"));
        let began = Instant::now();
        recorder.record_all(&mut vec![first.clone(), second.clone()]);
        let pause = recorder.pause().unwrap();
        recorder.record_all(&mut vec![third.clone(), last.clone()]);
        assert!(recorder.committed().await);
        if began.elapsed() < pause {
            assert_eq!(journal.status().commits - before, 1);
            return;
        }
    }
    panic!("no commit was quick enough");
}

/// A task that is never dropped may have the journal, too, when its process ends.
#[test]
fn what_is_queued_is_written_whoever_else_has_the_journal() {
    let (dir, journal) = open(JournalOptions::default());
    let journal = Arc::new(journal);
    let another = Arc::clone(&journal);
    let id = record(&journal, new_run("t"), &short_run("t", &Value::Null)).id();
    journal.end();
    let events = dir.open_read().events(id, 0, 10).unwrap();
    assert_eq!(events.len(), 4);
    // What comes after the end is counted, and nobody waits for it.
    drop(record(&another, new_run("t"), &short_run("t", &Value::Null)));
    assert_eq!((another.status().lost_events, another.status().lost_runs), (4, 1));
    another.end();
}

/// One of those whose runs are in the file is woken and wakes the others. It may be one that went away
/// in that moment, or that has waited for something before and went on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sleeps_on_because_another_went_away() {
    // Whoever sleeps on is late; nobody is because the machine is busy.
    let wait = Duration::from_secs(15);
    let (_dir, journal) = open(JournalOptions { wait, ..JournalOptions::default() });
    for round in 0..40_u64 {
        let mut waiting = JoinSet::new();
        let mut leaving = Vec::new();
        for number in 0..40_u64 {
            let mut recorder = record(&journal, new_run("t"), &[started("t", Value::Null)]);
            let committing = recorder.committed();
            if (round + number) % 3 == 0 {
                leaving.push((tokio::spawn(committing), recorder, number));
                continue;
            }
            waiting.spawn(async move {
                assert!(committing.await);
                recorder.record(finished(number.into()));
                recorder.committed().await
            });
        }
        for (commit, recorder, number) in leaving {
            if number % 2 == 0 {
                tokio::task::yield_now().await;
            }
            commit.abort();
            drop(recorder);
        }
        let all = tokio::time::timeout(Duration::from_secs(30), waiting.join_all()).await;
        assert!(all.unwrap().into_iter().all(|kept| kept), "{:?}", journal.status());
    }
    // None of them came too late.
    assert_eq!(journal.status().late_runs, 0);
}
