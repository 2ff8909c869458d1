//! How runs are begun, debugged and stopped, and what of such requests is refused.

use mcpgraph_value::Value;

use crate::world::{Answer, World};

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
