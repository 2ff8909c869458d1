use mcpgraph_journal::{Filter, Journal, JournalError, JournalOptions, Reached, RunStatus};
use mcpgraph_value::Value;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{keep, new_run, open, record, short_run, started, step, version};

#[test]
fn several_writers_share_a_file() {
    const RUNS: u64 = 60;
    let dir = TempDir::new().unwrap();
    let written: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3_u64)
            .map(|writer| {
                let path = dir.path();
                scope.spawn(move || {
                    let journal = Journal::open(path, JournalOptions::default()).unwrap();
                    let mut ids = Vec::new();
                    for number in 0..RUNS {
                        let run = new_run("t");
                        let output = Value::from(format!("{writer}-{number}").repeat(300));
                        ids.push((run.id, output.clone()));
                        drop(record(&journal, run, &short_run("t", &output)));
                    }
                    journal.close();
                    ids
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let journal = Journal::open_read(dir.path()).unwrap();
    assert_eq!(written.len() as u64, 3 * RUNS);
    for (id, output) in written {
        assert_eq!(journal.whole_events(id, version()).unwrap(), short_run("t", &output));
    }
}

#[tokio::test]
async fn a_run_of_a_living_process_is_running_and_one_of_a_dead_process_interrupted() {
    let (dir, journal) = open(JournalOptions::default());
    let mut recorder = record(
        &journal,
        new_run("t"),
        &[started("t", Value::Null), step(0, &[0], "a", None), step(1, &[1], "b", None)],
    );
    assert!(recorder.committed().await);
    let reader = dir.open_read();
    let run = reader.run(recorder.id()).unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Running);
    assert_eq!(run.reached, Some(Reached { step: 1, node: "b".into() }));
    assert!(matches!(reader.remove(&[run.id]), Err(JournalError::StillRunning(_))));
    let running = Filter { status: Some(RunStatus::Running), ..Filter::default() };
    let interrupted = Filter { status: Some(RunStatus::Interrupted), ..Filter::default() };
    assert_eq!(reader.list(&running).unwrap().runs.len(), 1);
    assert_eq!(reader.list(&interrupted).unwrap().runs.len(), 0);

    // A process that was killed leaves its name behind, and a lock that nobody holds.
    let raw = Connection::open(dir.path().join("runs.db")).unwrap();
    raw.execute("UPDATE writers SET name = 'gone'", []).unwrap();
    std::fs::write(dir.path().join("writer-gone.lock"), "").unwrap();
    let run = reader.run(run.id).unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Interrupted);
    assert_eq!(run.reached, Some(Reached { step: 1, node: "b".into() }));
    assert_eq!(reader.list(&running).unwrap().runs.len(), 0);
    assert_eq!(reader.list(&interrupted).unwrap().runs, std::slice::from_ref(&run));

    // The next process that writes settles it for good.
    let next = Journal::open(dir.path(), JournalOptions::default()).unwrap();
    let status: String = raw.query_row("SELECT status FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(status, "interrupted");
    assert!(!dir.path().join("writer-gone.lock").exists());
    keep(&next, new_run("t"), &short_run("t", &Value::Null)).await;
}

#[tokio::test]
async fn a_recorder_that_is_dropped_leaves_its_run_interrupted() {
    let (dir, journal) = open(JournalOptions::default());
    let recorder = record(&journal, new_run("t"), &[started("t", Value::Null)]);
    let id = recorder.id();
    drop(recorder);
    journal.close();
    let reader = dir.open_read();
    assert_eq!(reader.run(id).unwrap().unwrap().status, RunStatus::Interrupted);
    // Nothing of a writer that ended is left.
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with("lock"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_second_run_with_the_same_id_is_not_kept_and_hurts_nobody() {
    let (_dir, journal) = open(JournalOptions::default());
    let run = new_run("t");
    let first = short_run("t", &Value::from(1));
    keep(&journal, run.clone(), &first).await;
    let mut again = record(&journal, run.clone(), &short_run("t", &Value::from(2)));
    let mut other = record(&journal, new_run("t"), &short_run("t", &Value::from(3)));
    assert!(!again.committed().await);
    assert!(other.committed().await);
    assert_eq!(journal.whole_events(run.id, version()).unwrap(), first);
}
