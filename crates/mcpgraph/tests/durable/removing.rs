//! A run that will go on is not forgotten before it was stopped: nobody would see what it does.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use mcpgraph_journal::RunStatus;
use mcpgraph_testkit::PostgresServer;

use crate::world::{World, no_arguments, until};

/// Longer than it takes to go on with the runs of a process that was killed.
const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// What `mcpgraph runs` says; whether it succeeded.
fn runs(world: &World, arguments: &[&str]) -> (bool, String) {
    let mut runs = Command::new(env!("CARGO_BIN_EXE_mcpgraph"));
    runs.arg("runs").args(arguments).arg("--data").arg(world.data());
    if let Some(store) = world.store() {
        runs.args(["--store", store]);
    }
    let output = runs.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

fn is_removed_once_it_is_stopped(world: &World, enough: Duration) {
    let mut first = world.replica();
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    first.kill();
    assert_eq!(call.join().unwrap(), None);
    let run = until("it is interrupted", || {
        world.run().filter(|run| run.status == RunStatus::Interrupted)
    });
    let id = run.id.to_string();
    let (ok, said) = runs(world, &["rm", &id]);
    assert!(!ok && said.contains(&format!("`mcpgraph runs stop {id}`")), "{said}");
    let (ok, said) = runs(world, &["rm", "--older-than", "0s"]);
    assert!(ok && said.contains("removed 0 runs\nleft 1 durable run"), "{said}");
    let (_, said) = runs(world, &["rm", "--older-than", "0s", "--json"]);
    assert!(said.contains("\"goingOn\": 1"), "{said}");
    let (ok, said) = runs(world, &["stop", &id]);
    assert!(ok && said.contains("none will go on with it"), "{said}");
    let (ok, said) = runs(world, &["stop", &id]);
    assert!(!ok && said.contains("has ended"), "{said}");
    let (ok, said) = runs(world, &["rm", &id]);
    assert!(ok && said.contains("removed 1 run"), "{said}");
    let second = world.replica();
    std::thread::sleep(enough);
    assert_eq!(world.count("begin", "middle"), 1, "{:?}", second.said());
    assert_eq!(world.count("begin", "after"), 0);
    assert!(world.run().is_none());
}

/// Who serves something else may not forget it either.
#[test]
fn nor_is_it_forgotten_over_http() {
    let (Some(world), Some(other)) = (World::in_file(), World::in_file()) else { return };
    let mut first = world.replica();
    let call = first.call("repeatable", &no_arguments());
    until("the middle is under way", || world.is_in_the_middle().then_some(()));
    first.kill();
    assert_eq!(call.join().unwrap(), None);
    let stranger = world.replica_of(&other);
    let run = until("it is interrupted", || {
        world.run().filter(|run| run.status == RunStatus::Interrupted)
    });
    let ask = |method: &str, path: &str| {
        let address = stranger.address();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("{method} /api/runs/{}{path} HTTP/1.1\r\nHost: {address}", run.id);
        let body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        write!(stream, "{head}\r\nConnection: close\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask("DELETE", "");
    assert!(answer.starts_with("HTTP/1.1 409") && answer.contains("stop it first"), "{answer}");
    let answer = ask("POST", "/stop");
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    let answer = ask("DELETE", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_run_in_a_file_is_removed_once_it_is_stopped() {
    let Some(world) = World::in_file() else { return };
    is_removed_once_it_is_stopped(&world, Duration::from_secs(3));
}

#[test]
fn a_run_in_a_database_is_removed_once_it_is_stopped() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(world) = World::in_database(&server, "removing") else { return };
    is_removed_once_it_is_stopped(&world, LONG_ENOUGH);
}
