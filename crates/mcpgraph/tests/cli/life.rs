//! The process ends with its client, and takes its children along in whatever way it ends.

use std::{
    collections::HashMap,
    fs,
    process::{Command, Stdio},
};

use mcpgraph_testkit::observe::is_running;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::product::{BINARY, Era, Served, beside, command, eventually, with_server};

/// A graph whose server goes on when its input ends, and whose own child does too.
fn stubborn() -> String {
    with_server("calls.yaml", &format!("'{BINARY}' demo-server; trap '' TERM; sleep 600"))
}

/// The processes below a process.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name in parentheses may hold anything; the parent is the second field after it.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        let id = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if let (Some(id), Some(parent)) = (id, parent) {
            parents.insert(id, parent.parse::<u32>().unwrap());
        }
    }
    let mut found = vec![process];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(id, _)| *id));
        next += 1;
    }
    found.split_off(1)
}

fn all_gone(processes: &[u32]) {
    eventually("no process is left", || {
        processes.iter().all(|process| !is_running(&process.to_string()))
    });
}

fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
    kill_process(process, signal).unwrap();
}

/// A server whose own server runs, with a call under way or without one.
fn serving(graph: &str, is_busy: bool) -> (Served, Vec<u32>) {
    let mut served = Served::text(graph, Era::Legacy);
    let answer = served.call("count", json!({"n": 1}));
    assert!(answer["result"].is_object(), "{answer}");
    if is_busy {
        served.begin("wait", json!({"ms": 600_000}));
    }
    let children = descendants(served.client.process_id());
    assert!(children.len() >= 2, "a server and a reaper: {children:?}");
    (served, children)
}

#[test]
fn it_ends_when_its_client_goes_away() {
    for is_busy in [false, true] {
        let (served, children) = serving(&stubborn(), is_busy);
        served.client.close();
        all_gone(&children);
    }
}

#[test]
fn its_children_end_when_it_is_killed() {
    for is_busy in [false, true] {
        let (served, children) = serving(&stubborn(), is_busy);
        send(served.client.process_id(), Signal::KILL);
        all_gone(&children);
    }
}

#[test]
fn it_ends_when_the_system_asks() {
    for signal in [Signal::TERM, Signal::INT] {
        let (served, mut children) = serving(&stubborn(), true);
        children.push(served.client.process_id());
        send(served.client.process_id(), signal);
        all_gone(&children);
    }
}

#[test]
fn a_run_can_be_interrupted() {
    let child = command()
        .args(["run", "wait", "ms=600000", "-g"])
        .arg(beside("graphs/calls.yaml"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id();
    // The reaper and the server: the call is about to be made.
    eventually("the server runs", || descendants(process).len() >= 2);
    let children = descendants(process);
    send(process, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("MG0410"), "{said}");
    all_gone(&children);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let script = format!("'{BINARY}' schema | head -1");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, b"{\n");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
