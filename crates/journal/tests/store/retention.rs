use std::time::{Duration, SystemTime};

use mcpgraph_journal::{Filter, Journal, JournalOptions, Retention, RunId};
use mcpgraph_value::Value;
use tempfile::TempDir;

use crate::support::{keep, new_run, noise, record, short_run};

/// Runs the store with a retention until it has so many runs left.
async fn keep_until(dir: &TempDir, retention: Retention, left: usize) -> Vec<RunId> {
    let options = JournalOptions { retention, ..JournalOptions::default() };
    let journal = Journal::open(dir.path(), options).unwrap();
    keep(&journal, new_run("last"), &short_run("last", &Value::Null)).await;
    loop {
        let runs = journal.list(&Filter { limit: 1000, ..Filter::default() }).unwrap().runs;
        assert!(runs.len() >= left, "{} runs are left", runs.len());
        if runs.len() == left {
            return runs.into_iter().map(|run| run.id).collect();
        }
        std::thread::yield_now();
    }
}

const NOTHING: Retention =
    Retention { max_age: None, max_runs: None, max_requests: None, max_bytes: None };

fn filled(count: u32, age: impl Fn(u32) -> Duration, bytes: usize) -> (TempDir, Vec<RunId>) {
    let dir = TempDir::new().unwrap();
    let options = JournalOptions { retention: NOTHING, ..JournalOptions::default() };
    let journal = Journal::open(dir.path(), options).unwrap();
    let mut ids = Vec::new();
    for number in 0..count {
        let mut run = new_run("t");
        run.started = SystemTime::now() - age(number);
        ids.push(run.id);
        let output = noise(u64::from(number), bytes);
        drop(record(&journal, run, &short_run("t", &output)));
    }
    journal.close();
    (dir, ids)
}

#[tokio::test]
async fn the_oldest_go_when_there_are_too_many() {
    let (dir, ids) = filled(700, |_| Duration::ZERO, 1);
    let left = keep_until(&dir, Retention { max_runs: Some(10), ..NOTHING }, 10).await;
    assert_eq!(left[1..], ids.iter().rev().take(9).copied().collect::<Vec<_>>());
}

#[tokio::test]
async fn the_oldest_go_when_they_are_too_old() {
    let hours = |number| Duration::from_hours(u64::from(20 - number));
    let (dir, ids) = filled(20, hours, 1);
    let max_age = Some(Duration::from_mins(5 * 60 + 30));
    let left = keep_until(&dir, Retention { max_age, ..NOTHING }, 6).await;
    assert_eq!(left[1..], ids.iter().rev().take(5).copied().collect::<Vec<_>>());
}

#[tokio::test]
async fn the_oldest_go_when_the_file_is_too_large() {
    let (dir, ids) = filled(40, |_| Duration::ZERO, 20_000);
    let size = |dir: &TempDir| std::fs::metadata(dir.path().join("runs.db")).unwrap().len();
    let before = size(&dir);
    let options = JournalOptions {
        retention: Retention { max_bytes: Some(before / 2), ..NOTHING },
        ..JournalOptions::default()
    };
    let journal = Journal::open(dir.path(), options).unwrap();
    keep(&journal, new_run("last"), &short_run("last", &Value::Null)).await;
    // What is forgotten goes back to the disk as well, when there is nothing else to do.
    while size(&dir) > before * 2 / 3 {
        std::thread::yield_now();
    }
    let left = journal.list(&Filter { limit: 1000, ..Filter::default() }).unwrap().runs;
    assert!(left.len() > 5 && left.len() < 35, "{} runs are left", left.len());
    assert!(left.iter().skip(1).zip(ids.iter().rev()).all(|(run, id)| run.id == *id));
}
