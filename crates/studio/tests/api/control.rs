//! How runs are begun, debugged and stopped, and what of such requests is refused.

use mcpgraph_value::Value;

use crate::world::{Answer, World};

const WAITING: &str = r#"
server: { name: waiting, version: "1" }
tools:
  - name: sleeps
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: pause }
      - { id: pause, type: wait, duration: 2h, next: exit }
      - { id: exit, type: exit }
"#;

/// A world with a run that stands still at its beginning, and the path of the run.
async fn paused(records: bool) -> (World, String) {
    let world = World::new(records).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}, "paused": true}"#).await;
    let path = format!("/api/runs/{run}");
    until(&world, &format!("{path}/debug"), "paused").await;
    (world, path)
}

/// Asks until a run stands so.
async fn until(world: &World, debug: &str, state: &str) -> Answer {
    loop {
        let told = world.get(debug).await;
        if told.text("state") == state {
            return told;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_a_request_does_not_have_is_refused_before_anything_happens() {
    let (world, run) = paused(true).await;
    let debug = format!("{run}/debug");
    let (fork, effects) = (format!("{run}/fork"), format!("{run}/fork/effects"));
    let (points, output) = (format!("{debug}/breakpoints"), format!("{debug}/outputs/entry"));
    let (step, ask) = (format!("{debug}/step"), "/api/questions/x");
    for (method, path, body, says) in [
        ("POST", "/api/runs", r#"{"tool": "sum_to", "pause": true}"#, "did you mean `paused`?"),
        ("POST", "/api/runs", r#"{"tool": "sum_to", "breakpoint": []}"#, "`breakpoints`?"),
        ("POST", "/api/runs", "[]", "the body must be an object"),
        ("POST", &fork, r#"{"form": 3, "paused": true}"#, "did you mean `from`?"),
        ("POST", &fork, r#"{"from": 3, "pause": true}"#, "did you mean `paused`?"),
        ("POST", &fork, r#"{"arguments": 5}"#, "`arguments` must be an object"),
        ("POST", &effects, r#"{"form": 3}"#, "did you mean `from`?"),
        ("POST", &debug, r#"{"pause": true}"#, "did you mean `paused`?"),
        ("POST", &step, r#"{"over": true}"#, "`over` is not known in the body"),
        ("PUT", &points, r#"{"breakpoint": []}"#, "did you mean `breakpoints`?"),
        ("PUT", &points, "{}", "`breakpoints` must be the list"),
        ("PUT", &points, r#"{"breakpoints": null}"#, "`breakpoints` must be the list"),
        ("PUT", &points, r#"{"breakpoints": [{"node": "more", "hit": 1}]}"#, "mean `hits`?"),
        ("PUT", &output, r#"{"output": 5, "scope": 99}"#, "`scope` must be a path"),
        ("PUT", &output, r#"{"outputs": 5}"#, "did you mean `output`?"),
        ("PUT", &output, r#"{"scope": ""}"#, "`output` must be"),
        ("POST", ask, r#"{"answer": {}, "declin": true}"#, "did you mean `decline`?"),
    ] {
        let refused =
            world.send(method, path, "Content-Type: application/json\r\n", Some(body)).await;
        assert_eq!(refused.status, 400, "{method} {path} {body}: {}", refused.body);
        assert!(refused.body.contains(says), "{method} {path} {body}: {}", refused.body);
    }
    let listed = world.get("/api/runs").await.json();
    assert_eq!(listed.get("runs").and_then(Value::as_array).unwrap().len(), 1);
    assert_eq!(world.get(&debug).await.text("state"), "paused");
}

#[tokio::test]
async fn an_output_is_changed_only_while_the_run_stands_still() {
    let world = World::with_file(WAITING).await;
    let run = world.start(r#"{"tool": "sleeps"}"#).await;
    let mut events = world.follow(&format!("/api/runs/{run}/events"), "").await;
    while !events.until("stepStarted").await.data.contains("pause") {}
    let debug = format!("/api/runs/{run}/debug");
    let joined = world.post(&debug, "{}").await;
    assert_eq!(joined.text("state"), "running", "{}", joined.body);
    let entry = format!("{debug}/outputs/entry");
    let change = || world.put(&entry, r#"{"output": {"n": 1}}"#);
    let refused = change().await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("pause it first"), "{}", refused.body);
    // What joins to pause is answered once the run stands still.
    let joined = world.post(&debug, r#"{"paused": true}"#).await;
    assert_eq!(joined.text("state"), "paused", "{}", joined.body);
    assert_eq!(change().await.status, 200);
    assert_eq!(world.post(&format!("/api/runs/{run}/stop"), "{}").await.status, 202);
    until(&world, &debug, "ended").await;
    let shown = world.get(&format!("/api/runs/{run}")).await;
    assert_eq!(shown.text("status"), "cancelled", "{}", shown.body);
}

#[tokio::test]
async fn nodes_are_known_without_a_record() {
    let (world, run) = paused(false).await;
    let points = format!("{run}/debug/breakpoints");
    let refused = world.put(&points, r#"{"breakpoints": [{"node": "mroe"}]}"#).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    let set = world.put(&points, r#"{"breakpoints": [{"node": "more"}]}"#).await;
    assert_eq!(set.status, 200, "{}", set.body);
    world.post(&format!("{run}/debug/resume"), "{}").await;
    assert_eq!(until(&world, &format!("{run}/debug"), "paused").await.text("node"), "more");
}

#[tokio::test]
async fn a_server_that_ends_lets_go_of_debugged_runs_and_begins_none() {
    let (world, run) = paused(true).await;
    world.drain.drain(std::time::Duration::from_secs(20)).await;
    assert_eq!(world.get(&run).await.text("status"), "succeeded");
    for path in ["/api/runs".to_owned(), format!("{run}/fork")] {
        let body = if path == "/api/runs" { r#"{"tool": "sum_to"}"# } else { "{}" };
        let refused = world.post(&path, body).await;
        assert_eq!(refused.status, 503, "{}", refused.body);
        assert!(refused.body.contains(r#""draining""#), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_run_belongs_to_the_trace_of_its_request() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let world = World::new(true).await;
    let headers =
        format!("Content-Type: application/json\r\ntraceparent: {TRACE}\r\ntracestate: a=1\r\n");
    let body = r#"{"tool": "sum_to", "arguments": {"n": 1}}"#;
    let run = world.send("POST", "/api/runs", &headers, Some(body)).await.text("run");
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let path = format!("/api/runs/{run}/fork");
    let fork = world.send("POST", &path, &headers, Some("{}")).await.text("run");
    world.follow(&format!("/api/runs/{fork}/events"), "").await.all().await;
    for run in [run, fork] {
        let recorded = world.journal.as_ref().unwrap().run(run.parse().unwrap()).unwrap().unwrap();
        let trace = recorded.origin.trace.unwrap();
        assert_eq!((&*trace.traceparent, trace.tracestate.as_deref()), (TRACE, Some("a=1")));
    }
}
