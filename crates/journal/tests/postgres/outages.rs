//! A database that goes away and comes back.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mcpgraph_journal::{Filter, Journal, JournalOptions};
use mcpgraph_testkit::PostgresServer;
use mcpgraph_value::Value;

use crate::support::{finished, new_run, record, short_run, started};

/// Nothing is lost and nothing is there twice, whatever moment the server is killed at; a run that
/// was said to be kept is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_killed_under_load_loses_nothing() {
    let Some(mut server) = PostgresServer::start() else { return };
    let url = server.create_database("outage");
    let options = JournalOptions { wait: Duration::from_millis(500), ..JournalOptions::default() };
    let journal = Journal::open_postgres(&url, options).unwrap();
    let killer = std::thread::spawn(move || {
        for pause in [150, 400, 230] {
            sleep(Duration::from_millis(pause));
            server.kill();
            sleep(Duration::from_millis(300));
            server.start_again();
        }
        server
    });
    let mut begun = HashSet::new();
    let mut kept = HashSet::new();
    // A run that goes on all the time, and many short ones.
    let mut long = journal.begin(new_run("long"));
    let mut steps: u64 = 1;
    long.record(started("long", Value::Null));
    while !killer.is_finished() {
        let run = new_run("short");
        let id = run.id;
        let mut recorder = record(&journal, run, &short_run("short", &steps.into()));
        begun.insert(id);
        if recorder.committed().await {
            kept.insert(id);
        } else {
            // There is room for what is recorded meanwhile, but not for what never rests.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        long.record(crate::support::step(steps - 1, &[steps as u32 - 1], "n", None));
        steps += 1;
    }
    long.record(finished(Value::Null));
    long.hand_over();
    let server = killer.join().unwrap();
    let patience = Instant::now() + Duration::from_mins(1);
    while journal.status().queued_events > 0 {
        assert!(Instant::now() < patience, "{:?}", journal.status());
        sleep(Duration::from_millis(20));
    }
    assert_eq!(journal.status().lost_events, 0);
    let listing = journal.list(&Filter { limit: 100_000, ..Filter::default() }).unwrap();
    let there: Vec<_> = listing.runs.iter().filter(|run| &*run.tool == "short").collect();
    let ids: HashSet<_> = there.iter().map(|run| run.id).collect();
    assert_eq!(ids.len(), there.len());
    assert_eq!(ids, begun);
    assert!(kept.is_subset(&ids) && !kept.is_empty());
    let events = journal.events(long.id(), 0, usize::MAX).unwrap();
    let numbers: Vec<u64> = events.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (0..=steps).collect::<Vec<_>>());
    drop(long);
    journal.close();
    drop(server);
}

#[test]
fn a_database_that_is_not_there_is_an_error() {
    let error =
        Journal::open_postgres("postgres://tester@127.0.0.1:1/x", JournalOptions::default())
            .err()
            .unwrap()
            .to_string();
    assert!(error.contains("the database x at 127.0.0.1:1 cannot be reached"), "{error}");
    let error = Journal::open_postgres("postgres://h/d?sslmode=maybe", JournalOptions::default());
    assert!(error.err().unwrap().to_string().contains("sslmode"));
}
