//! Runs that nobody waits for are ended from outside, and with the server.

use std::fs;
use std::io::Read as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Listening;
use crate::product::{BINARY, command, eventually};

const GRAPH: &str = r#"
server: { name: stopping, version: "1" }
mcpServers:
  demo: { command: BINARY, args: [demo-server] }
tools:
  - name: sleeps
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: pause }
      - { id: pause, type: wait, duration: 2h, next: exit }
      - { id: exit, type: exit }
  - name: slow
    inputSchema: { type: object, properties: { ms: { type: integer } } }
    nodes:
      - { id: entry, type: entry, next: call }
      - { id: call, type: mcp, server: demo, tool: slow, args: { ms: $.entry.ms, steps: 1 }, next: exit }
      - { id: exit, type: exit }
"#;

struct World {
    folder: TempDir,
    server: Listening,
}

impl World {
    fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let graph = folder.path().join("graph.yaml");
        fs::write(&graph, GRAPH.replace("BINARY", BINARY)).unwrap();
        let data = folder.path().join("data");
        let mut arguments = vec!["--data", data.to_str().unwrap()];
        arguments.extend(options);
        let server = Listening::on(&graph, &arguments);
        Self { folder, server }
    }

    /// Asks the interface of the server.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut answer = String::new();
        let head = format!("{method} {path} HTTP/1.1\r\n{}", self.server.host());
        self.server.send(&head, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Starts a run; where it is.
    fn start(&self, body: &Value) -> String {
        let (status, told) = self.ask("POST", "/api/runs", body);
        assert_eq!(status, 201, "{told}");
        format!("/api/runs/{}", told["run"].as_str().unwrap())
    }

    /// Waits until a run has come to a node.
    fn until_at(&self, run: &str, node: &str) {
        eventually("the run is there", || {
            self.ask("GET", run, &json!({})).1["reached"]["node"] == node
        });
    }

    /// What `mcpgraph runs` prints; whether it succeeded.
    fn runs(&self, arguments: &[&str]) -> (bool, String) {
        let mut runs = command();
        runs.arg("runs").args(arguments).arg("--data").arg(self.folder.path().join("data"));
        let output = runs.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    /// What the record says of a run.
    fn shown(&self, run: &str) -> Value {
        let id = run.rsplit('/').next().unwrap();
        let (ok, shown) = self.runs(&["show", id, "--json"]);
        assert!(ok, "{shown}");
        serde_json::from_str::<Value>(&shown).unwrap()["run"].clone()
    }

    fn terminate(&self) {
        let process = Pid::from_raw(self.server.process().try_into().unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
    }
}

#[test]
fn any_run_under_way_can_be_stopped() {
    let world = World::new(&[]);
    let sleeps = world.start(&json!({ "tool": "sleeps" }));
    let slow = world.start(&json!({ "tool": "slow", "arguments": { "ms": 600_000 } }));
    world.until_at(&sleeps, "pause");
    world.until_at(&slow, "call");
    let (status, told) = world.ask("POST", &format!("{sleeps}/debug"), &json!({}));
    assert_eq!((status, &told["error"]["code"]), (409, &json!("durable")), "{told}");
    for run in [&sleeps, &slow] {
        let (status, told) = world.ask("POST", &format!("{run}/stop"), &json!({}));
        assert_eq!(status, 202, "{told}");
        eventually("it is cancelled", || {
            world.ask("GET", run, &json!({})).1["status"] == "cancelled"
        });
        let shown = world.ask("GET", run, &json!({})).1;
        assert!(shown.to_string().contains("the run was stopped"), "{shown}");
        assert_eq!(world.ask("POST", &format!("{run}/stop"), &json!({})).0, 409);
        assert_eq!(world.ask("GET", &format!("{run}/debug"), &json!({})).1["state"], "ended");
    }
    let nobody = "/api/runs/01939393-0000-7000-8000-000000000000/stop";
    assert_eq!(world.ask("POST", nobody, &json!({})).0, 404);
}

#[test]
fn a_durable_run_of_another_process_is_stopped_on_the_command_line() {
    let world = World::new(&[]);
    let sleeps = world.start(&json!({ "tool": "sleeps" }));
    let slow = world.start(&json!({ "tool": "slow", "arguments": { "ms": 600_000 } }));
    world.until_at(&sleeps, "pause");
    world.until_at(&slow, "call");
    let id = |run: &str| run.rsplit('/').next().unwrap().to_owned();
    let (ok, said) = world.runs(&["stop", &id(&slow)]);
    assert!(!ok && said.contains("is not durable"), "{said}");
    let (ok, said) = world.runs(&["stop", &id(&sleeps)]);
    assert!(ok && said.contains("has ended: cancelled"), "{said}");
    let (ok, said) = world.runs(&["stop", &id(&sleeps)]);
    assert!(!ok && said.contains("has ended"), "{said}");
}

#[test]
fn runs_that_no_request_waits_for_finish_before_the_server_ends() {
    let mut world = World::new(&["--drain-timeout", "20s"]);
    let slow = world.start(&json!({ "tool": "slow", "arguments": { "ms": 3000 } }));
    let paused = world.start(&json!({ "tool": "slow", "arguments": { "ms": 1 }, "paused": true }));
    world.until_at(&slow, "call");
    world.terminate();
    eventually("nothing new is begun", || {
        let (status, told) = world.ask("POST", "/api/runs", &json!({ "tool": "slow" }));
        (status, &told["error"]["code"]) == (503, &json!("draining"))
    });
    world.server.ended();
    for run in [&slow, &paused] {
        assert_eq!(world.shown(run)["status"], "succeeded", "{}", world.shown(run));
    }
}

#[test]
fn runs_that_do_not_finish_in_time_are_cancelled_by_the_end_of_the_server() {
    let mut world = World::new(&["--drain-timeout", "1s"]);
    let slow = world.start(&json!({ "tool": "slow", "arguments": { "ms": 600_000 } }));
    world.until_at(&slow, "call");
    world.terminate();
    world.server.ended();
    let shown = world.shown(&slow);
    assert_eq!(shown["status"], "cancelled", "{shown}");
    assert!(shown.to_string().contains("mcpgraph was told to end"), "{shown}");
}
