//! Processes that share a store and serve different things.

use std::time::Duration;

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::PostgresServer;

use crate::world::{World, no_arguments, until};

/// Longer than it takes to go on with the runs of a process that was killed.
const LONG_ENOUGH: Duration = Duration::from_secs(12);

/// A run is left alone by who serves something else, also where that has a server of the same name,
/// and goes on with who serves the same.
fn is_left_alone(world: &World, other: &World, enough: Duration) {
    let stranger = world.store().map(|_| world.replica_of(other));
    let mut first = world.replica();
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    first.kill();
    assert_eq!(call.join().unwrap(), None);
    let stranger = stranger.unwrap_or_else(|| world.replica_of(other));
    std::thread::sleep(enough);
    let run = world.run().unwrap();
    assert_eq!(run.status, RunStatus::Interrupted, "{:?}", stranger.said());
    assert_eq!(world.count("begin", "middle"), 1);
    assert_eq!(other.lines(), [""; 0]);
    let _second = world.replica();
    let run = world.ended();
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    assert_eq!(other.lines(), [""; 0]);
    assert_eq!((world.count("end", "middle"), world.count("end", "after")), (1, 1));
}

#[test]
fn a_run_in_a_file_is_left_alone_by_other_files() {
    for name in ["durable", "other"] {
        let (Some(world), Some(other)) = (World::in_file(), World::in_file()) else { return };
        other.fill("name: durable", &format!("name: {name}"));
        is_left_alone(&world, &other, Duration::from_secs(3));
    }
}

#[test]
fn a_run_in_a_database_is_left_alone_by_other_servers() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(world) = World::in_database(&server, "strangers") else { return };
    let Some(other) = World::in_file() else { return };
    other.fill("name: durable", "name: other");
    is_left_alone(&world, &other, LONG_ENOUGH);
}

/// A file that was changed goes on with its runs, unless it lacks what they call: then they wait
/// until it has that again.
#[test]
fn a_run_whose_server_is_gone_waits_for_it() {
    let Some(world) = World::in_file() else { return };
    let mut first = world.replica();
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    first.kill();
    assert_eq!(call.join().unwrap(), None);
    for word in ["  counting:", "server: counting"] {
        world.fill(word, &word.replace("counting", "renamed"));
    }
    let mut second = world.replica();
    until("it is said", || {
        let is_it = |line: &String| line.contains("there is no server `counting` any more");
        second.said().iter().any(is_it).then_some(())
    });
    assert_eq!(world.run().unwrap().status, RunStatus::Interrupted);
    second.kill();
    world.fill("renamed", "counting");
    world.fill("name: after", "name: then");
    let _third = world.replica();
    let run = world.ended();
    assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
    // On the version it began with.
    assert_eq!((world.count("end", "after"), world.count("end", "then")), (1, 0));
}
