//! What only a file has: its format, its size, who may open it.

use std::time::{Duration, Instant};

use mcpgraph_journal::{
    Ending, Filter, Journal, JournalError, JournalOptions, KeptWorkflow, Origin, Request,
    RequestFilter, Retention, RunId,
};
use mcpgraph_value::Value;
use rusqlite::Connection;

use crate::questions::new as question;
use crate::requests::named;
use crate::retention::{NOTHING, filled};
use crate::support::{Home, keep, new_run, noise, open, short_run, version};

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
        assert!(matches!(error, JournalError::Newer { found: 99, known: 11, .. }), "{error}");
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
    // Nor did rows have anything in common, or lines that were not JSON.
    let older = "UPDATE runs SET (tool, digest, definition, face, client, protocol) =
                     (SELECT occasion_tool, occasion_digest, occasion_definition, occasion_face,
                      occasion_client, occasion_protocol FROM occasions
                      WHERE occasion_key = occasion);
                 ALTER TABLE runs DROP COLUMN occasion; DROP TABLE occasions;
                 DROP TABLE tasks; DROP TABLE durable_runs; DROP TABLE durable_steps; DROP TABLE durable_messages;
                 DROP TABLE questions; ALTER TABLE runs DROP COLUMN principal;
                 DROP TABLE conversations; DROP TABLE sessions; DROP TABLE tokens;
                 DROP TABLE rates; DROP TABLE seal_keys; DROP TABLE letters;
                 DELETE FROM counters WHERE name = 'tokens';
                 ALTER TABLE chunks DROP COLUMN packed;
                 DROP INDEX runs_by_change; CREATE INDEX runs_by_change ON runs (change);
                 UPDATE runs SET change = 1; UPDATE counters SET value = 1;
                 INSERT INTO counters VALUES ('run', 1);
                 DROP TABLE requests; DROP TABLE request_log; DROP INDEX runs_by_around;
                 ALTER TABLE runs DROP COLUMN around;
                 DROP TABLE workflows; DROP TABLE hook_modules;
                 DELETE FROM counters WHERE name = 'definitions'; PRAGMA user_version = 1;";
    connection.execute_batch(older).unwrap();
    drop(connection);
    let read = dir.open_read();
    assert!(read.workflows().unwrap().is_empty() && read.hook_modules().unwrap().is_empty());
    assert_eq!(read.definitions_version().unwrap(), 0);
    assert!(read.requests(&RequestFilter::default()).unwrap().requests.is_empty());
    assert!(read.pending_questions(None).unwrap().is_empty());
    assert_eq!(read.list(&Filter::default()).unwrap().runs.len(), 1);
    let run = read.run(id).unwrap().unwrap();
    assert_eq!((&*run.tool, run.digest, run.origin), ("t", version(), Origin::default()));
    assert!(read.definition(run.definition.unwrap()).unwrap().is_some());
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

/// Before, each request had a row.
#[test]
fn requests_of_an_older_file_are_kept() {
    let (dir, journal) = open(JournalOptions::default());
    journal.note(&named("first"));
    journal.close();
    let older = "ALTER TABLE questions DROP COLUMN sealed;
        ALTER TABLE runs DROP COLUMN occasion; DROP TABLE occasions;
        DROP TABLE request_log;
        INSERT INTO requests VALUES
            (7, 1795000000123456, 1234, 'tools/call', 'a \"b\"', NULL, 'error', -32602, 'abc', NULL,
             'an agent', x'0192b1c2d3e4f5061728394a5b6c7d8e'),
            (8, 1795000000123457, 5, 'tools/list', NULL, 'files', 'ok', NULL, NULL, NULL, NULL, NULL);
        PRAGMA user_version = 8;";
    let connection = Connection::open(dir.path().join("runs.db")).unwrap();
    connection.execute_batch(older).unwrap();
    drop(connection);
    let all = |journal: &Journal| journal.requests(&RequestFilter::default()).unwrap().requests;
    let before = all(&dir.open_read());
    assert_eq!(before.iter().map(|kept| kept.no).collect::<Vec<_>>(), [8, 7]);
    let Request { name, code, token, run, .. } = &before[1].request;
    assert_eq!((name.as_deref(), *code), (Some("a \"b\""), Some(-32602)));
    assert_eq!(token.as_ref().map(|token| &*token.id), Some("abc"));
    let id = run.map(|run| run.to_string());
    assert_eq!(id.as_deref(), Some("0192b1c2-d3e4-f506-1728-394a5b6c7d8e"));
    let journal = Journal::open(dir.path(), JournalOptions::default()).unwrap();
    assert_eq!(all(&journal), before);
    journal.note(&named("next"));
    journal.close();
    let after = all(&dir.open_read());
    assert_eq!((after.len(), after[0].no, &after[1..]), (3, 9, &before[..]));
}

/// Before, what was asked was not sealed, and stayed.
#[test]
fn questions_of_an_older_file_are_sealed() {
    let (dir, journal) = open(JournalOptions::default());
    let mut all = Vec::new();
    for path in ["0", "1"] {
        let asked = question(RunId::new(), path, Duration::from_hours(1));
        all.push(journal.ask(&asked).unwrap().id);
    }
    assert!(journal.end_question(all[1], &Ending::Declined).unwrap());
    journal.close();
    let connection = Connection::open(dir.path().join("runs.db")).unwrap();
    let older = "ALTER TABLE questions DROP COLUMN sealed;
        UPDATE questions SET message = 'in clear', schema = '{}'; PRAGMA user_version = 10;";
    connection.execute_batch(older).unwrap();
    let waits = |journal: &Journal| {
        let found = journal.pending_questions(None).unwrap();
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*found.message, found.schema.to_json()), ("in clear", "{}".to_owned()));
    };
    waits(&dir.open_read());
    waits(&Journal::open(dir.path(), JournalOptions::default()).unwrap());
    let sql = "SELECT group_concat(message || schema || coalesce(sealed, '')) FROM questions";
    let kept: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(kept.contains("false") && !kept.contains("clear"), "{kept}");
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

#[tokio::test]
async fn the_oldest_go_when_the_file_is_too_large() {
    let (dir, ids) = filled(40, |_| Duration::ZERO, 20_000);
    let size = |dir: &Home| std::fs::metadata(dir.path().join("runs.db")).unwrap().len();
    let before = size(&dir);
    let options = JournalOptions {
        retention: Retention { max_bytes: Some(before / 2), ..NOTHING },
        ..JournalOptions::default()
    };
    let journal = dir.open(options);
    keep(&journal, new_run("last"), &short_run("last", &Value::Null)).await;
    // What is forgotten goes back to the disk as well, when there is nothing else to do.
    while size(&dir) > before * 2 / 3 {
        std::thread::yield_now();
    }
    let left = journal.list(&Filter { limit: 1000, ..Filter::default() }).unwrap().runs;
    assert!(left.len() > 5 && left.len() < 35, "{} runs are left", left.len());
    assert!(left.iter().skip(1).zip(ids.iter().rev()).all(|(run, id)| run.id == *id));
}

#[test]
fn a_store_that_does_not_keep_up_loses_requests_and_says_so() {
    let (_dir, journal) = open(JournalOptions { max_pages: Some(8), ..JournalOptions::default() });
    let big = "x".repeat(400);
    let patience = Instant::now() + Duration::from_secs(30);
    while journal.status().lost_requests == 0 {
        assert!(Instant::now() < patience);
        for _ in 0..100 {
            journal.note(&named(&big));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(journal.status().lost_events, 0);
}

/// What is committed is in a log first. It gets into the file beside the writer, which goes on
/// meanwhile, and the log does not grow for as long as there is traffic.
#[tokio::test]
async fn the_log_of_changes_stays_short_under_traffic() {
    const PAYLOAD_BYTES: usize = 200 * 1024;
    const RUNS: u64 = 450;
    let (dir, journal) = open(JournalOptions::default());
    let noise = noise(1, PAYLOAD_BYTES);
    for number in 0..RUNS {
        // Each its own, and nothing that could be compressed away.
        let payload = format!("{number} {}", noise.as_str().unwrap());
        keep(&journal, new_run("t"), &short_run("t", &payload.into())).await;
    }
    let bytes = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
    let (file, log) = (bytes("runs.db"), bytes("runs.db-wal"));
    let all = RUNS * PAYLOAD_BYTES as u64;
    assert!(log < all * 3 / 4, "the log has {log} bytes of {all}, the file {file}");
    assert!(file > all / 4, "the file has {file} bytes of {all}, the log {log}");
    journal.close();
    assert!(bytes("runs.db") >= all, "everything is in the file when it is closed");
}

/// Whoever may write anywhere does not see the difference.
#[cfg(unix)]
#[tokio::test]
async fn a_file_in_a_folder_that_cannot_be_written_is_read() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let (dir, journal) = open(JournalOptions::default());
    let id = keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    journal.close();
    set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
    let found = Journal::open_read(dir.path()).and_then(|journal| journal.run(id));
    set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(found.unwrap().is_some());
}
