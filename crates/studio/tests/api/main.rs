//! The HTTP interface over a real connection, with a real record.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod control;
mod going_on;
mod graphs;
mod pages;
mod procedures;
mod travel;
mod workflows;
mod world;

use std::time::Duration;

use mcpgraph_value::Value;
use world::World;

#[tokio::test]
async fn a_run_can_be_started_followed_and_read() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    let events = world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let ids: Vec<String> = events.iter().map(|event| event.id.clone()).collect();
    let dense: Vec<String> = (0..events.len()).map(|id| id.to_string()).collect();
    assert_eq!(ids, dense);
    assert_eq!(events.first().unwrap().event, "started");
    let last = Value::from_json(&events.last().unwrap().data).unwrap();
    assert_eq!(last.get("result").unwrap().get("sum"), Some(&Value::from(6)));

    let shown = world.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!(shown.get("status").and_then(Value::as_str), Some("succeeded"));
    let listed = world.get("/api/runs?tool=sum_to&status=succeeded").await.json();
    assert_eq!(listed.get("runs").and_then(Value::as_array).unwrap().len(), 1);
    let step = world.get(&format!("/api/runs/{run}/steps/1")).await;
    assert_eq!(step.text("node"), "count");
    let context = world.get(&format!("/api/runs/{run}/steps/2/context")).await;
    assert_eq!(context.body, r#"{"entry":{"n":3},"count":{"i":1,"sum":1}}"#);
    let page = world.get(&format!("/api/runs/{run}/events?from=1&limit=2")).await.json();
    let page = page.get("events").and_then(Value::as_array).unwrap().to_vec();
    let numbers: Vec<_> = page.iter().map(|event| event.get("seq").cloned().unwrap()).collect();
    assert_eq!(numbers, [Value::from(1), Value::from(2)]);
    let stats = world.get("/api/stats").await.json();
    assert_eq!(stats.get("nodes").and_then(Value::as_array).unwrap().len(), 4);
    let export = world.get(&format!("/api/runs/{run}/export")).await;
    assert!(export.json().get("events").is_some());

    let removed = world.send("DELETE", &format!("/api/runs/{run}"), "", None).await;
    assert_eq!(removed.status, 200);
    assert_eq!(world.get(&format!("/api/runs/{run}")).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_found_as_soon_as_it_is_started() {
    let world = World::new(true).await;
    for _ in 0..100 {
        let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 200}}"#).await;
        let shown = world.get(&format!("/api/runs/{run}")).await;
        assert_eq!((shown.status, shown.text("id")), (200, run.clone()));
        let listed = world.get(&format!("/api/runs/{run}/events")).await;
        assert_eq!(listed.status, 200);
    }
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_where_it_was() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 200}}"#).await;
    let path = format!("/api/runs/{run}/events");
    let whole = world.follow(&path, "").await.all().await;
    let mut first = world.follow(&path, "").await;
    let mut read = Vec::new();
    for _ in 0..17 {
        read.push(first.next().await.unwrap());
    }
    drop(first);
    let last = format!("Last-Event-ID: {}\r\n", read.last().unwrap().id);
    read.extend(world.follow(&path, &last).await.all().await);
    assert_eq!(read, whole);
}

#[tokio::test]
async fn a_stream_with_nothing_left_is_not_opened_again() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    let path = format!("/api/runs/{run}/events");
    let last = world.follow(&path, "").await.all().await.last().unwrap().id.clone();
    for id in [&*last, "4711"] {
        let headers = format!("Accept: text/event-stream\r\nLast-Event-ID: {id}\r\n");
        let answer = soon(world.send("GET", &path, &headers, None)).await;
        assert_eq!((answer.status, &*answer.body), (204, ""), "{id}");
    }
    let before = last.parse::<u64>().unwrap() - 1;
    let rest = world.follow(&path, &format!("Last-Event-ID: {before}\r\n")).await;
    assert_eq!(soon(rest.all()).await.len(), 1);
    let none = world.get(&format!("{path}?limit=0")).await;
    assert_eq!(none.body, r#"{"events":[]}"#);
}

#[tokio::test]
async fn the_stream_of_an_interrupted_run_ends_after_what_there_is() {
    let world = World::new(true).await;
    let offer = world.gateway.offer();
    let tool = offer.graph().tool("sum_to").unwrap().clone();
    let input = Value::from_json(r#"{"n": 4}"#).unwrap();
    let (debugger, session) = mcpgraph_runtime::Debugger::new(true, Vec::new());
    let mut call = mcpgraph_runtime::Execution::new(offer.graph().clone(), tool, input);
    call.debug = Some(session);
    let (run, runtime) = (call.id, offer.runtime().clone());
    let path = format!("/api/runs/{run}/events");
    let executing = tokio::spawn(async move { runtime.execute(call).await });
    debugger.clone().stopped().await;
    let mut events = world.follow(&path, "").await;
    events.until("paused").await;
    // What a process that is killed leaves behind: a record without an end.
    executing.abort();
    assert!(soon(events.all()).await.is_empty());
    assert_eq!(world.get(&format!("/api/runs/{run}")).await.text("status"), "interrupted");
    let whole = soon(world.follow(&path, "").await.all()).await;
    let headers =
        format!("Accept: text/event-stream\r\nLast-Event-ID: {}\r\n", whole.last().unwrap().id);
    assert_eq!(soon(world.send("GET", &path, &headers, None)).await.status, 204);
}

/// What comes before anybody would lose patience.
async fn soon<T>(wanted: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), wanted).await.unwrap()
}

#[tokio::test]
async fn a_run_is_debugged_over_http() {
    let world = World::new(true).await;
    let run = world
        .start(
            r#"{"tool": "sum_to", "arguments": {"n": 9},
                "breakpoints": [{"node": "more", "condition": {"==": [{"var": "count.i"}, 2]}}]}"#,
        )
        .await;
    let debug = format!("/api/runs/{run}/debug");
    let mut events = world.follow(&format!("/api/runs/{run}/events"), "").await;
    events.until("paused").await;
    let state = world.get(&debug).await;
    assert_eq!((state.text("state"), state.text("why")), ("paused".into(), "before".into()));
    let context = world.get(&format!("{debug}/context")).await.json();
    assert_eq!(context.get("count").unwrap().get("i"), Some(&Value::from(2)));
    let changed =
        world.put(&format!("{debug}/outputs/count"), r#"{"output": {"i": 9, "sum": 100}}"#).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let refused = world.put(&format!("{debug}/outputs/nobody"), r#"{"output": 1}"#).await;
    assert_eq!(refused.status, 409);
    assert_eq!(world.post(&format!("{debug}/step"), "{}").await.status, 200);
    events.until("paused").await;
    assert_eq!(world.post(&format!("{debug}/resume"), "{}").await.status, 200);
    let end = events.until("finished").await;
    assert!(end.data.contains("100"), "{}", end.data);
    assert_eq!(world.post(&format!("{debug}/resume"), "{}").await.status, 409);
    assert_eq!(world.post(&format!("{debug}/fly"), "{}").await.status, 404);
}

#[tokio::test]
async fn a_run_of_somebody_else_can_be_joined_and_left() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}, "paused": true}"#).await;
    let mut events = world.follow(&format!("/api/runs/{run}/events"), "").await;
    events.until("paused").await;
    let debug = format!("/api/runs/{run}/debug");
    for (method, path) in [("POST", debug.clone()), ("PUT", format!("{debug}/breakpoints"))] {
        let body = r#"{"breakpoints": [{"node": "cuont"}]}"#;
        let kind = "Content-Type: application/json\r\n";
        let refused = world.send(method, &path, kind, Some(body)).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body.contains("did you mean `count`?"), "{}", refused.body);
        let named = refused.json().get("error").and_then(|error| error.get("breakpoint")).cloned();
        assert_eq!(named, Some(Value::from("cuont")));
    }
    let joined = world.post(&debug, r#"{"paused": true}"#).await;
    assert_eq!(joined.status, 200, "{}", joined.body);
    assert_eq!(world.send("DELETE", &format!("/api/runs/{run}"), "", None).await.status, 409);
    assert_eq!(world.send("DELETE", &debug, "", None).await.status, 200);
    events.until("finished").await;
    let late = world.post(&debug, "{}").await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert!(late.body.contains("the run has ended"), "{}", late.body);
    let nobody = "/api/runs/01939393-0000-7000-8000-000000000000/debug";
    let unknown = world.post(nobody, "{}").await;
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    assert!(unknown.body.contains("there is no run 01939393"), "{}", unknown.body);
}

#[tokio::test]
async fn metrics_and_the_state_of_the_record_are_shown() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let metrics = world.get("/metrics").await.body;
    assert!(metrics.contains("mcpgraph_calls_total{"), "{metrics}");
    assert!(metrics.contains(r#"node="count""#), "{metrics}");
    let status = world.get("/api/status").await.json();
    assert_eq!(status.get("lostEvents"), Some(&Value::from(0)));
}

#[tokio::test]
async fn changes_of_the_list_are_told() {
    let world = World::new(true).await;
    let mut changes = world.follow("/api/changes", "").await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    let first = changes.until("runs").await;
    assert!(first.data.contains(&run), "{}", first.data);
}

/// As that of a page that comes back after the store was begun anew.
#[tokio::test]
async fn changes_after_a_number_that_is_not_there_yet_are_told() {
    let world = World::new(true).await;
    for (path, headers) in
        [("/api/changes?from=4711", ""), ("/api/changes", "Last-Event-ID: 4711\r\n")]
    {
        let mut changes = world.follow(path, headers).await;
        let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
        let first = soon(changes.until("runs")).await;
        assert!(first.data.contains(&run), "{}", first.data);
    }
}

#[tokio::test]
async fn nobody_from_elsewhere_gets_in() {
    let world = World::new(true).await;
    let origin = world.send("GET", "/api/runs", "Origin: https://evil.example\r\n", None).await;
    assert_eq!(origin.status, 403);
    let host = world.send("GET", "/metrics", "Host: evil.example\r\n", None).await;
    assert_eq!(host.status, 403);
    let form = world
        .send("POST", "/api/runs", "Content-Type: text/plain\r\n", Some(r#"{"tool": "sum_to"}"#))
        .await;
    assert_eq!(form.status, 400);
}

#[tokio::test]
async fn requests_that_make_no_sense_are_explained() {
    let world = World::new(true).await;
    for (body, status, says) in [
        ("{", 400, "not JSON"),
        ("{}", 400, "tool"),
        (r#"{"tool": "none"}"#, 404, "none"),
        (r#"{"tool": "smu_to"}"#, 404, "did you mean `sum_to`?"),
        (r#"{"tool": "sum_to", "arguments": 1}"#, 400, "object"),
        (r#"{"tool": "sum_to", "paused": 1}"#, 400, "paused"),
        (r#"{"tool": "sum_to", "breakpoints": [{}]}"#, 400, "node"),
        (r#"{"tool": "sum_to", "breakpoints": [{"node": "a", "hits": 0}]}"#, 400, "hits"),
        (
            r#"{"tool": "sum_to", "breakpoints": [{"node": "a", "condition": {"nope": 1}}]}"#,
            400,
            "nope",
        ),
        (r#"{"tool": "sum_to", "breakpoints": [{"node": "mroe"}]}"#, 400, "did you mean `more`?"),
        (
            r#"{"tool": "sum_to", "breakpoints": [{"node": "nope"}]}"#,
            400,
            "there are entry, count, more, exit",
        ),
    ] {
        let answer = world.post("/api/runs", body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert!(answer.body.contains(says), "{body}: {}", answer.body);
    }
    assert_eq!(world.get("/api/runs/zzz").await.status, 400);
    assert_eq!(world.get("/api/runs?status=odd").await.status, 400);
    assert_eq!(world.get("/api/runs?limits=1").await.status, 400);
    let nobody = "/api/runs/01939393-0000-7000-8000-000000000000";
    for path in ["", "/events", "/export", "/steps/0", "/steps/0/context", "/debug"] {
        assert_eq!(world.get(&format!("{nobody}{path}")).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn every_problem_is_said_in_the_same_form() {
    let world = World::new(true).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let (step, diff) = (format!("/api/runs/{run}/steps/x"), format!("/api/runs/{run}/diff?a=1"));
    for (method, path, status, code, says) in [
        ("GET", "/api/runs?limit=x", 400, "invalid", "limit"),
        ("GET", "/api/runs?since=abc", 400, "invalid", "since"),
        ("GET", "/api/runs?bogus=1", 400, "invalid", "`bogus`, expected one of `tool`"),
        ("GET", &*diff, 400, "invalid", "missing field `b`"),
        ("GET", "/api/changes?new=maybe", 400, "invalid", "new"),
        ("GET", &*step, 400, "invalid", "`x` is not the number of a step"),
        ("GET", "/api/runs/%ff", 400, "invalid", "UTF-8"),
        ("GET", "/api/nothing/here", 404, "not_found", "`/api/nothing/here`"),
        ("GET", "/api", 404, "not_found", "`/api`"),
        ("PATCH", "/api/runs", 405, "method_not_allowed", "PATCH"),
        ("DELETE", "/metrics", 405, "method_not_allowed", "DELETE"),
    ] {
        let answer = world.send(method, path, "", None).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        let error = answer.json().get("error").cloned().unwrap();
        assert_eq!(error.get("code").and_then(Value::as_str), Some(code), "{path}");
        let message = error.get("message").and_then(Value::as_str).unwrap();
        assert!(message.contains(says), "{path}: {message}");
        assert_eq!(status == 405, answer.head.to_lowercase().contains("\r\nallow: "), "{path}");
    }
}

#[tokio::test]
async fn without_a_record_runs_can_still_be_controlled() {
    let world = World::new(false).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 2}, "paused": true}"#).await;
    let listed = world.get("/api/runs").await;
    assert_eq!((listed.status, listed.body.contains("no_history")), (404, true));
    let stopped = world.post(&format!("/api/runs/{run}/debug/stop"), "{}").await;
    assert_eq!(stopped.status, 200);
}

#[tokio::test]
async fn calls_of_clients_are_there_too() {
    let world = World::new(true).await;
    let offer = world.gateway.offer();
    let tool = offer.graph().tool("sum_to").unwrap().clone();
    let input = Value::from_json(r#"{"n": 4}"#).unwrap();
    let call = mcpgraph_runtime::Execution::new(offer.graph().clone(), tool, input);
    let run = call.id;
    offer.runtime().execute(call).await;
    assert_eq!(world.get(&format!("/api/runs/{run}")).await.text("status"), "succeeded");
}
