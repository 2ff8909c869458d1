//! The database is away, for everybody or for one process only.

use std::thread;
use std::time::Duration;

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::{Cable, PostgresServer, Replica};

use crate::load::{KINDS, Load, Luck};
use crate::world::until;

/// How long it is looked for what a process does that is back too late.
const LATE: Duration = Duration::from_secs(6);

/// The kinds of steps that need no database of their own.
fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().filter(|kind| *kind != "sql")
}

/// Nobody goes away, so that not even a call is in doubt that must not be repeated.
#[test]
fn every_run_finishes_when_the_database_is_restarted() {
    let Some(mut server) = PostgresServer::start() else { return };
    let Some(mut load) = Load::new(&server, "restarts") else { return };
    let replicas: Vec<Replica> = (0..3).map(|_| load.world.replica()).collect();
    let mut luck = Luck::new(1);
    for _ in 0..4 {
        for (number, kind) in kinds().enumerate() {
            load.call(&replicas[number % replicas.len()], kind);
            thread::sleep(luck.millis(100));
        }
        server.kill();
        thread::sleep(luck.millis(3000));
        server.start_again();
        thread::sleep(luck.millis(1500));
    }
    for replica in replicas {
        load.keep(replica, None);
    }
    let calls = load.len();
    let runs = load.finish();
    eprintln!("4 restarts, {calls} calls, {} runs", runs.len());
    assert!(runs.len() == calls, "{} runs of {calls} calls: {:#?}", runs.len(), load.answers());
    for run in &runs {
        assert_eq!(run.status, RunStatus::Succeeded, "{} {}: {:?}", run.tool, run.id, run.error);
    }
    load.check(&runs);
}

/// A process may not even have begun with the database when that goes away.
#[test]
fn a_call_waits_for_a_database_that_is_back_soon() {
    let Some(mut server) = PostgresServer::start() else { return };
    let Some(mut load) = Load::new(&server, "soon") else { return };
    let replica = load.world.replica();
    server.kill();
    load.call(&replica, "repeatable");
    thread::sleep(Duration::from_secs(1));
    server.start_again();
    let runs = load.finish();
    assert!(!runs.is_empty(), "{:#?}", load.answers());
    load.check(&runs);
}

/// The runs of a process that is cut off go on elsewhere. When it is back, nothing it does counts.
#[test]
fn a_process_that_was_cut_off_changes_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(mut load) = Load::new(&server, "cut") else { return };
    let cable = Cable::to(server.address());
    let cut_off = load.world.replica_behind(&cable);
    let _others = [load.world.replica(), load.world.replica()];
    for kind in kinds() {
        load.call(&cut_off, kind);
    }
    until("they are under way", || (load.world.lines().len() >= kinds().count()).then_some(()));
    thread::sleep(Duration::from_millis(300));
    cable.cut();
    let runs = load.ended();
    assert_eq!(runs.len(), load.len());
    let journal = load.world.journal().unwrap();
    let events = || {
        let of = |run: &mcpgraph_journal::RunSummary| journal.events(run.id, 0, 1000).unwrap();
        format!("{:?}", runs.iter().map(of).collect::<Vec<_>>())
    };
    let before = (events(), load.world.lines());
    cable.mend();
    thread::sleep(LATE);
    assert_eq!((events(), load.world.lines()), before);
    eprintln!("{} runs of a process that was cut off", runs.len());
    // It is one of the living again.
    load.call(&cut_off, "graph");
    until("it is called", || (load.world.lines().len() > before.1.len()).then_some(()));
    let runs = load.finish();
    load.check(&runs);
}
