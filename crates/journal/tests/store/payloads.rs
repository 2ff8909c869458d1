use mcpgraph_journal::{
    Filter, Journal, JournalError, JournalOptions, KeptWorkflow, MissingPart, Payload,
    RequestFilter, StoredEvent,
};
use mcpgraph_value::Value;
use rusqlite::Connection;

use crate::support::{keep, new_run, open, short_run, version};

fn count(dir: &std::path::Path, table: &str) -> i64 {
    let connection = Connection::open(dir.join("runs.db")).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn large(letter: &str, bytes: usize) -> Value {
    Value::array(vec![letter.repeat(bytes).into()])
}

#[tokio::test]
async fn equal_payloads_are_kept_once_and_go_with_their_last_run() {
    let (dir, journal) = open(JournalOptions::default());
    let a = large("a", 40_000);
    let first = keep(&journal, new_run("t"), &short_run("t", &a)).await;
    let second = keep(&journal, new_run("t"), &short_run("t", &large("a", 40_000))).await;
    let third = keep(&journal, new_run("t"), &short_run("t", &large("b", 6_000))).await;
    assert_eq!(count(dir.path(), "payloads"), 2);
    assert_eq!(count(dir.path(), "uses"), 3);
    assert_eq!(count(dir.path(), "definitions"), 1);

    assert_eq!(journal.remove(&[first, third]).unwrap(), 2);
    assert_eq!(count(dir.path(), "payloads"), 1);
    let events = journal.whole_events(second, version()).unwrap();
    assert_eq!(events, short_run("t", &a));
    assert!(journal.run(first).unwrap().is_none());

    assert_eq!(journal.remove(&[second, second]).unwrap(), 1);
    for table in ["payloads", "uses", "chunks", "runs"] {
        assert_eq!(count(dir.path(), table), 0, "{table}");
    }
}

#[tokio::test]
async fn a_payload_over_the_limit_leaves_a_preview() {
    let options =
        JournalOptions { max_payload_bytes: 5000, preview_bytes: 10, ..JournalOptions::default() };
    let (_dir, journal) = open(options);
    let output = Value::from("é".repeat(4000));
    let id = keep(&journal, new_run("t"), &short_run("t", &output)).await;
    let events = journal.events(id, 0, 100).unwrap();
    assert_eq!(events.len(), 4);
    let (2, StoredEvent::StepFinished { output: Payload::Truncated(left), .. }) = &events[2] else {
        panic!("{events:?}");
    };
    assert_eq!(&*left.preview, "\"éééé");
    assert_eq!(left.size, 8002);
    let Err(JournalError::Missing(missing)) = journal.whole_events(id, version()) else {
        panic!("it is not whole");
    };
    assert_eq!((missing.seq, missing.step), (2, Some(0)));
    assert_eq!(missing.what, MissingPart::Payload { field: "output", size: 8002 });
}

#[tokio::test]
async fn the_events_of_a_short_run_are_one_row() {
    let (dir, journal) = open(JournalOptions::default());
    let mut recorders: Vec<_> = (0..10)
        .map(|number| {
            crate::support::record(&journal, new_run("t"), &short_run("t", &number.into()))
        })
        .collect();
    for recorder in &mut recorders {
        assert!(recorder.committed().await);
    }
    drop(recorders);
    journal.close();
    // A run may have been cut in two by a commit, but not all of them.
    assert!(count(dir.path(), "chunks") < 20);
    assert_eq!(count(dir.path(), "runs"), 10);
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let dir = tempfile::TempDir::new().unwrap();
    Journal::open(dir.path(), JournalOptions::default()).unwrap().close();
    let connection = Connection::open(dir.path().join("runs.db")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    for opened in
        [Journal::open(dir.path(), JournalOptions::default()), Journal::open_read(dir.path())]
    {
        let error = opened.err().unwrap();
        assert!(matches!(error, JournalError::Newer { found: 99, known: 4, .. }), "{error}");
        assert!(error.to_string().contains("use a newer mcpgraph"), "{error}");
    }
}

/// The first format had no workflows and no requests: it is read as it is, and gets them when it is
/// written to.
#[tokio::test]
async fn an_older_file_gets_what_it_lacks() {
    let (dir, journal) = open(JournalOptions::default());
    let id = keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    journal.close();
    let connection = Connection::open(dir.path().join("runs.db")).unwrap();
    let older = "ALTER TABLE chunks DROP COLUMN packed;
                 DROP INDEX runs_by_change; CREATE INDEX runs_by_change ON runs (change);
                 UPDATE runs SET change = 1; UPDATE counters SET value = 1;
                 INSERT INTO counters VALUES ('run', 1);
                 DROP TABLE requests; DROP INDEX runs_by_around;
                 ALTER TABLE runs DROP COLUMN around;
                 DROP TABLE workflows; DROP TABLE hook_modules;
                 DELETE FROM counters WHERE name = 'definitions'; PRAGMA user_version = 1;";
    connection.execute_batch(older).unwrap();
    drop(connection);
    let read = Journal::open_read(dir.path()).unwrap();
    assert!(read.workflows().unwrap().is_empty() && read.hook_modules().unwrap().is_empty());
    assert_eq!(read.definitions_version().unwrap(), 0);
    assert!(read.requests(&RequestFilter::default()).unwrap().requests.is_empty());
    assert_eq!(read.list(&Filter::default()).unwrap().runs.len(), 1);
    assert_eq!(read.run(id).unwrap().unwrap().origin.around, None);
    let kept = KeptWorkflow { id: "w".to_owned(), definition: "{}".to_owned() };
    read.put_workflow(&kept).unwrap();
    assert_eq!(read.workflows().unwrap(), [kept]);
    assert_eq!(read.definitions_version().unwrap(), 1);
    let told = read.changes(0, 10).unwrap();
    assert_eq!(told.runs.iter().map(|run| run.id).collect::<Vec<_>>(), [id]);
    read.close();
    let journal = Journal::open(dir.path(), JournalOptions::default()).unwrap();
    let next = keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    let changes = journal.changes(told.next, 10).unwrap();
    assert_eq!(changes.runs.iter().map(|run| run.id).collect::<Vec<_>>(), [next]);
}

#[test]
fn a_file_of_something_else_is_refused() {
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::write(dir.path().join("runs.db"), "not a database at all, but long enough".repeat(40))
        .unwrap();
    let error = Journal::open(dir.path(), JournalOptions::default()).err().unwrap();
    assert!(matches!(error, JournalError::NotAStore { .. }), "{error}");

    let dir = tempfile::TempDir::new().unwrap();
    let connection = Connection::open(dir.path().join("runs.db")).unwrap();
    connection.execute("CREATE TABLE other (a)", []).unwrap();
    drop(connection);
    let error = Journal::open(dir.path(), JournalOptions::default()).err().unwrap();
    assert!(matches!(error, JournalError::NotAStore { .. }), "{error}");

    let empty = tempfile::TempDir::new().unwrap();
    let error = Journal::open_read(empty.path()).err().unwrap();
    assert!(matches!(error, JournalError::NoStore { .. }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_open_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let parent = tempfile::TempDir::new().unwrap();
    let dir = parent.path().join("data");
    let journal = Journal::open(&dir, JournalOptions::default()).unwrap();
    keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
