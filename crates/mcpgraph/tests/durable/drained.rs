//! A process that is asked to end while it has durable runs.

use std::time::Instant;

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::PostgresServer;

use crate::world::{World, no_arguments, until};

/// Whoever waits is told, and the run goes on: a step that must not be repeated is waited for, all
/// others are left to the next.
#[test]
fn runs_are_handed_over_when_a_process_ends() {
    let Some(server) = PostgresServer::start() else { return };
    for (number, tool) in ["waiting", "effect", "repeatable"].into_iter().enumerate() {
        let Some(world) = World::in_database(&server, &format!("drained{number}")) else { return };
        let first = world.replica_with(world.store(), &["--drain-timeout", "0s"]);
        let second = world.replica();
        let call = first.call(tool, &no_arguments());
        until("the middle is under way", || world.is_in_the_middle().then_some(()));
        first.terminate();
        let ended = Instant::now();
        let told = call.join().unwrap().unwrap();
        assert!(told.to_string().contains("goes on without it"), "{tool}: {told}");
        let run = world.ended();
        assert_eq!(run.status, RunStatus::Succeeded, "{tool}: {:?}", run.error);
        world.check_record(&run);
        eprintln!("{tool}: ended {:?} after the process", ended.elapsed());
        let middles = if tool == "effect" { 1 } else { 2 };
        assert!(world.count("begin", "middle") <= middles, "{tool}: {:?}", second.said());
        for name in ["before", "after"] {
            assert_eq!(world.count("begin", name), 1, "{tool}: {name}");
        }
    }
}

/// The same with one process, which goes on after the next start.
#[test]
fn runs_go_on_after_the_next_start() {
    let Some(world) = World::in_file() else { return };
    let first = world.replica_with(None, &["--drain-timeout", "0s"]);
    let call = first.call("effect", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    first.terminate();
    assert!(call.join().unwrap().unwrap().to_string().contains("goes on without it"));
    assert_eq!(world.count("end", "middle"), 1);
    let _second = world.replica();
    let run = world.ended();
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    world.check_record(&run);
}
