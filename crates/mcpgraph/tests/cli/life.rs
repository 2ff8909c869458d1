//! The process ends with its client, and takes its children along in whatever way it ends.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
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

/// People rename programs.
#[test]
fn its_children_end_whatever_it_is_called() {
    // On the disk of the program, so that nothing has to be copied.
    let folder = tempfile::tempdir_in(Path::new(BINARY).parent().unwrap()).unwrap();
    let renamed = folder.path().join("tools-of-mine");
    fs::hard_link(BINARY, &renamed).unwrap();
    let mut child = Command::new(&renamed)
        .args(["run", "wait", "ms=600000", "--no-history", "-g"])
        .arg(beside("graphs/calls.yaml"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id();
    eventually("the server and the reaper run", || descendants(process).len() >= 2);
    let children = descendants(process);
    child.kill().unwrap();
    let said = child.wait_with_output().unwrap().stderr;
    assert_eq!(String::from_utf8_lossy(&said), "");
    all_gone(&children);
}

#[test]
fn it_ends_when_the_system_asks() {
    // The first would let the call finish.
    for signals in [&[Signal::TERM, Signal::INT][..], &[Signal::INT]] {
        let (served, mut children) = serving(&stubborn(), true);
        children.push(served.client.process_id());
        for signal in signals {
            send(served.client.process_id(), *signal);
        }
        all_gone(&children);
    }
}

#[test]
fn calls_under_way_finish_when_the_system_asks_and_none_begin() {
    let mut served = Served::graph("calls.yaml", Era::Legacy);
    served.call("count", json!({"n": 1}));
    // Longer than calls had without a drain.
    let under_way = served.begin("wait", json!({"ms": 6000, "who": "me"}));
    std::thread::sleep(Duration::from_millis(500));
    send(served.client.process_id(), Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    let refused = served.call("wait", json!({"ms": 1}));
    assert_eq!(refused["error"]["data"]["code"], "MG0620", "{refused}");
    let answer = served.answer(under_way);
    assert_eq!(answer["result"]["structuredContent"]["who"], "me", "{answer}");
    all_gone(&[served.client.process_id()]);
}

#[test]
fn who_interrupts_a_server_does_not_wait_and_the_client_is_told_who_did() {
    let mut served = Served::graph("calls.yaml", Era::Legacy);
    served.call("count", json!({"n": 1}));
    let under_way = served.begin("wait", json!({"ms": 600_000}));
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    send(served.client.process_id(), Signal::INT);
    let answer = served.answer(under_way);
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("mcpgraph was told to end"), "{said}");
    all_gone(&[served.client.process_id()]);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

/// Ends a run in this way; gives the exit code, stdout and stderr.
fn ended_run(signal: Signal, options: &[&str]) -> (Option<i32>, String, String) {
    let child = command()
        .args(["run", "wait", "ms=600000"])
        .args(options)
        .arg("-g")
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
    send(process, signal);
    let output = child.wait_with_output().unwrap();
    all_gone(&children);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_run_can_be_interrupted() {
    for (signal, code, why) in [
        (Signal::INT, 130, "the caller cancelled the call"),
        (Signal::TERM, 143, "mcpgraph was told to end before the call was done"),
    ] {
        let (exit, data, said) = ended_run(signal, &[]);
        assert_eq!((exit, data.as_str()), (Some(code), ""));
        assert!(said.contains("MG0410") && said.contains(why), "{said}");
        let (exit, data, _) = ended_run(signal, &["--json"]);
        assert_eq!(exit, Some(code));
        let report: serde_json::Value = serde_json::from_str(&data).unwrap();
        assert_eq!(report["error"]["code"], "MG0410", "{report}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let script = format!("'{BINARY}' schema | head -1");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, b"{\n");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
