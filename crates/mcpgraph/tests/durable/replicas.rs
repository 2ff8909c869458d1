//! Several processes on one database, of which one goes away in the middle of a run.

use std::time::{Duration, Instant};

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::PostgresServer;

use crate::world::{World, no_arguments, until};

/// How long it may take until another process goes on, with a machine that has a lot to do.
const TAKE_OVER: Duration = Duration::from_secs(30);

#[test]
fn another_process_finishes_the_run_of_one_that_was_killed() {
    let Some(server) = PostgresServer::start() else { return };
    for (number, tool) in ["repeatable", "effect", "waiting", "loop"].into_iter().enumerate() {
        let Some(world) = World::in_database(&server, &format!("killed{number}")) else { return };
        let mut first = world.replica();
        let second = world.replica();
        let call = first.call(tool, &no_arguments());
        until("the middle is under way", || world.is_in_the_middle().then_some(()));
        std::thread::sleep(Duration::from_millis(200));
        first.kill();
        let killed = Instant::now();
        assert_eq!(call.join().unwrap(), None);
        let run = world.ended();
        assert!(killed.elapsed() < TAKE_OVER, "{tool}: {:?}", killed.elapsed());
        world.check_record(&run);
        if tool == "effect" {
            assert_eq!(run.status, RunStatus::Failed);
            assert_eq!(world.count("begin", "middle"), 1);
            assert_eq!(world.count("begin", "after"), 0);
        } else {
            assert_eq!(run.status, RunStatus::Succeeded, "{tool}: {:?}", run.error);
            assert_eq!(world.count("end", "after"), 1);
        }
        let befores = if tool == "loop" { 4 } else { 1 };
        assert_eq!(world.count("end", "before"), befores, "{tool}: {:?}", second.said());
    }
}

/// A process that stands still is taken for gone. When it goes on, nothing it does counts.
#[test]
fn a_process_that_is_woken_after_another_took_over_changes_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(world) = World::in_database(&server, "paused") else { return };
    let first = world.replica();
    let _second = world.replica();
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    first.pause();
    let run = world.ended();
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    world.check_record(&run);
    let before = world.journal().unwrap().events(run.id, 0, 1000).unwrap();
    first.wake();
    // Whoever called it hears of the one result there is.
    let result = call.join().unwrap().unwrap();
    assert_eq!(result["isError"], serde_json::Value::Null, "{result}");
    std::thread::sleep(Duration::from_secs(3));
    let after = world.journal().unwrap().events(run.id, 0, 1000).unwrap();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    for name in ["before", "after"] {
        assert_eq!((world.count("begin", name), world.count("end", name)), (1, 1), "{name}");
    }
    // Nothing is lost: the other has recorded the run. Nor is there anything to be warned of.
    let said = first.said().join("\n");
    assert!(
        !said.contains("events of runs are lost") && !said.contains("dbos::workflow"),
        "{said}"
    );
    // Another call shows that it is one of the living again.
    let result = first.call("effect", &no_arguments()).join().unwrap().unwrap();
    assert_eq!(result["isError"], serde_json::Value::Null, "{result}");
}
