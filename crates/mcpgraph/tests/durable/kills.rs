//! Processes that are killed in the middle of every kind of step, at many points.

use std::thread;

use mcpgraph_testkit::{PostgresServer, Replica};

use crate::load::{KINDS, Load, Luck};

/// Names at how many points processes are killed.
const POINTS: &str = "MCPGRAPH_KILL_POINTS";

/// How many processes there are.
const REPLICAS: usize = 3;

/// How long a process lives at most after it was called.
const LIFE_MS: usize = 1200;

/// A point is a run that is under way when its process is killed.
#[test]
fn every_run_finishes_wherever_its_process_is_killed() {
    let wanted = std::env::var(POINTS).map_or(200, |points| points.parse().unwrap());
    let Some(server) = PostgresServer::start() else { return };
    let Some(mut load) = Load::new(&server, "kills") else { return };
    let mut replicas: Vec<Replica> = (0..REPLICAS).map(|_| load.world.replica()).collect();
    let mut luck = Luck::new(0);
    let (mut kills, mut points) = (0, 0);
    while points < wanted {
        let victim = kills % REPLICAS;
        for kind in KINDS {
            load.call(&replicas[victim], kind);
            thread::sleep(luck.millis(40));
        }
        thread::sleep(luck.millis(LIFE_MS));
        points += load.hit(&replicas[victim]);
        replicas[victim].kill();
        replicas[victim] = load.world.replica();
        kills += 1;
    }
    eprintln!("{kills} kills, {points} points: {:?}", load.hits());
    for replica in replicas {
        load.keep(replica, None);
    }
    let runs = load.finish();
    assert!(runs.len() >= points, "{points} points, but only {} runs", runs.len());
    load.check(&runs);
}
