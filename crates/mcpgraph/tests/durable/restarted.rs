//! A process that is killed in the middle of every kind of step, and started again.

use std::time::Duration;

use mcpgraph_journal::{RunStatus, RunSummary};
use serde_json::json;

use crate::world::{World, no_arguments, until};

/// Kills the process when the middle of a tool is under way, and starts it again.
fn killed_in_the_middle_of(tool: &str) -> Option<(World, RunSummary)> {
    let world = World::in_file()?;
    let mut replica = world.replica();
    let call = replica.call(tool, &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    // So that what happened before is kept, too.
    std::thread::sleep(Duration::from_millis(100));
    replica.kill();
    assert_eq!(call.join().unwrap(), None, "nothing is told before the run has ended");
    let _replica = world.replica();
    let run = world.ended();
    world.check_record(&run);
    Some((world, run))
}

#[test]
fn what_may_be_repeated_is_repeated_with_the_same_key() {
    for tool in ["repeatable", "retried"] {
        let Some((world, run)) = killed_in_the_middle_of(tool) else { return };
        assert_eq!(run.status, RunStatus::Succeeded, "{tool}: {:?}", run.error);
        let count = |name| (world.count("begin", name), world.count("end", name));
        assert_eq!(count("before"), (1, 1));
        assert_eq!(count("middle"), (2, 1));
        assert_eq!(count("after"), (1, 1));
        let keys = world.keys("begin", "middle");
        assert_eq!(keys[0], keys[1]);
        assert_eq!(keys[0], format!("{}/2", run.id));
    }
}

#[test]
fn what_may_not_be_repeated_ends_the_run_and_is_named() {
    for (tool, target) in [("effect", "counting.effect"), ("command", "process")] {
        let Some((world, run)) = killed_in_the_middle_of(tool) else { return };
        assert_eq!(run.status, RunStatus::Failed);
        let error = run.error.unwrap();
        assert!(error.contains("nobody knows whether it was carried out"), "{error}");
        assert!(error.contains("node `middle`") && error.contains(target), "{error}");
        assert_eq!(world.count("begin", "before"), 1);
        assert_eq!(world.count("begin", "middle"), 1);
        assert_eq!(world.count("begin", "after"), 0);
    }
}

#[test]
fn an_unknown_outcome_can_be_handled() {
    let Some((world, run)) = killed_in_the_middle_of("handled") else { return };
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    let events = world.journal().unwrap().events(run.id, 0, 100).unwrap();
    let last = format!("{:?}", events.last().unwrap().1);
    assert!(last.contains("outcome_unknown") && last.contains("middle"), "{last}");
    assert_eq!(world.count("begin", "middle"), 1);
}

#[test]
fn a_wait_goes_on_and_is_no_longer_than_it_was() {
    let Some((world, run)) = killed_in_the_middle_of("waiting") else { return };
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    let events = world.journal().unwrap().events(run.id, 0, 100).unwrap();
    let last = format!("{:?}", events.last().unwrap().1);
    assert!(last.contains("Whole(true)"), "{last}");
    assert_eq!((world.count("begin", "before"), world.count("begin", "after")), (1, 1));
    // What it may take is less: waiting does not count. And it waited no longer than it had to.
    let took = run.duration;
    assert!(took >= Duration::from_secs(4) && took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn calls_at_once_go_on_where_they_were() {
    for (tool, befores, middles) in [("loop", 4, 4), ("branches", 1, 1)] {
        let Some((world, run)) = killed_in_the_middle_of(tool) else { return };
        assert_eq!(run.status, RunStatus::Succeeded, "{tool}: {:?}", run.error);
        assert_eq!(world.count("end", "before"), befores, "{tool}");
        assert!(world.count("begin", "middle") > middles, "{tool}");
        assert_eq!(world.count("begin", "after"), 1);
    }
}

/// A run that nothing happens to: its result reaches whoever called, and nothing is done twice.
#[test]
fn a_durable_run_is_a_run_like_others() {
    let Some(world) = World::in_file() else { return };
    let replica = world.replica();
    let call = replica.call("loop", &no_arguments());
    let result = call.join().unwrap().unwrap();
    assert_eq!(result["content"][0]["text"], json!("4"), "{result}");
    let run = world.ended();
    world.check_record(&run);
    for name in ["before", "middle"] {
        assert_eq!(world.count("end", name), 4);
    }
    assert_eq!(world.count("end", "after"), 1);
    replica.terminate();
}
