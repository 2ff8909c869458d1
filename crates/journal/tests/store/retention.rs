use std::time::{Duration, SystemTime};

use mcpgraph_journal::{Filter, JournalError, JournalOptions, Removed, Retention, RunId};
use mcpgraph_value::Value;

use crate::support::{Home, keep, new_run, noise, record, short_run};

/// Runs the store with a retention until it has so many runs left.
async fn keep_until(dir: &Home, retention: Retention, left: usize) -> Vec<RunId> {
    let options = JournalOptions { retention, ..JournalOptions::default() };
    let journal = dir.open(options);
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

pub(crate) const NOTHING: Retention =
    Retention { max_age: None, max_runs: None, max_requests: None, max_bytes: None };

pub(crate) fn filled(
    count: u32,
    age: impl Fn(u32) -> Duration,
    bytes: usize,
) -> (Home, Vec<RunId>) {
    let dir = crate::home();
    let options = JournalOptions { retention: NOTHING, ..JournalOptions::default() };
    let journal = dir.open(options);
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

/// A durable run that has not ended is executed sooner or later, and somebody has to see that.
#[tokio::test]
async fn what_will_go_on_stays() {
    let (dir, ids) = filled(5, |_| Duration::ZERO, 1);
    let journal = dir.open(JournalOptions { retention: NOTHING, ..JournalOptions::default() });
    assert!(!journal.goes_on(ids[1]).unwrap());
    dir.has_go_on(&journal, ids[1]);
    assert!(journal.goes_on(ids[1]).unwrap() && !journal.goes_on(ids[0]).unwrap());
    assert!(matches!(journal.remove(&ids[..2]), Err(JournalError::GoesOn(run)) if run == ids[1]));
    let removed = journal.remove_ended(&ids[..2]).unwrap();
    assert_eq!(removed, Removed { removed: 1, running: 0, going_on: 1 });
    journal.close();
    let left = keep_until(&dir, Retention { max_runs: Some(2), ..NOTHING }, 2).await;
    assert_eq!(left[1], ids[1]);
}

/// Those next to each other go together, and nothing goes of one in between.
#[tokio::test]
async fn what_stands_between_those_that_go_stays_whole() {
    let (dir, ids) = filled(60, |_| Duration::ZERO, 8 * 1024);
    let journal = dir.open(JournalOptions { retention: NOTHING, ..JournalOptions::default() });
    let whole = |id: RunId| journal.events(id, 0, 1000).unwrap();
    let before: Vec<_> = ids.iter().map(|id| whole(*id)).collect();
    let goes = |place: usize| place < 20 && place.is_multiple_of(2) || place > 30 && place < 58;
    let gone: Vec<RunId> =
        ids.iter().enumerate().filter(|(place, _)| goes(*place)).map(|(_, id)| *id).collect();
    assert_eq!(journal.remove(&gone).unwrap(), gone.len());
    let left = journal.list(&Filter { limit: 1000, ..Filter::default() }).unwrap().runs;
    assert_eq!(left.len(), ids.len() - gone.len());
    for (place, id) in ids.iter().enumerate() {
        if goes(place) {
            assert!(journal.run(*id).unwrap().is_none(), "{place}");
        } else {
            assert_eq!(whole(*id), before[place], "{place}");
        }
    }
}

#[tokio::test]
async fn the_oldest_go_when_they_are_too_old() {
    let hours = |number| Duration::from_hours(u64::from(20 - number));
    let (dir, ids) = filled(20, hours, 1);
    let max_age = Some(Duration::from_mins(5 * 60 + 30));
    let left = keep_until(&dir, Retention { max_age, ..NOTHING }, 6).await;
    assert_eq!(left[1..], ids.iter().rev().take(5).copied().collect::<Vec<_>>());
}
