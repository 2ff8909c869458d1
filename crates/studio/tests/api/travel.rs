//! What happened, looked at again and gone on from.

use mcpgraph_value::Value;

use crate::world::{GRAPH, World};

async fn finished(world: &World, run: &str) -> Value {
    let events = world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    Value::from_json(&events.last().unwrap().data).unwrap()
}

#[tokio::test]
async fn an_expression_is_tried_on_what_a_step_saw() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    finished(&world, &run).await;
    let test = async |language: &str, expression: &str| {
        let body = format!(
            r#"{{"language": "{language}", "expression": {expression}, "run": "{run}", "step": 4}}"#
        );
        world.post("/api/expr/test", &body).await
    };
    // Step 4 is the second execution of the switch.
    assert_eq!(
        test("jsonata", r#""$.count.sum * 10""#).await.json().get("result"),
        Some(&30.into())
    );
    let history = test("jsonata", r#""$executionCount('count')""#).await;
    assert_eq!(history.json().get("result"), Some(&2.into()));
    let rule = test("jsonlogic", r#"{"<": [{"var": "count.i"}, 3]}"#).await;
    assert_eq!(rule.json().get("holds"), Some(&Value::Bool(true)));
    let wrong = test("jsonata", r#""$.count.(""#).await;
    assert!(wrong.status == 200 && wrong.json().get("error").is_some(), "{}", wrong.body);
    assert_eq!(test("cobol", "1").await.status, 400);
}

#[tokio::test]
async fn a_run_is_gone_on_from_with_another_output() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    finished(&world, &run).await;
    let request = r#"{"from": 2, "changes": {"count": {"i": 2, "sum": 100}}}"#;
    let effects = world.post(&format!("/api/runs/{run}/fork/effects"), request).await;
    assert_eq!(effects.body, r#"{"masked":false,"kept":2,"calls":[]}"#);
    let forked = world.post(&format!("/api/runs/{run}/fork"), request).await;
    assert_eq!(forked.status, 201, "{}", forked.body);
    let forked = forked.text("run");
    let result = finished(&world, &forked).await.get("result").cloned().unwrap();
    assert!(result.get("sum").and_then(Value::as_i64).unwrap() > 100, "{result:?}");
    let shown = world.get(&format!("/api/runs/{forked}")).await.json();
    let parent = shown.get("origin").unwrap().get("parent").unwrap();
    assert_eq!(parent.get("from"), Some(&2.into()));

    let again = world.post(&format!("/api/runs/{run}/fork"), "{}").await;
    assert_eq!(
        finished(&world, &again.text("run")).await.get("result").unwrap().get("sum"),
        Some(&6.into())
    );
    let far = world.post(&format!("/api/runs/{run}/fork"), r#"{"from": 99}"#).await;
    assert_eq!(far.status, 409);
    let both =
        world.post(&format!("/api/runs/{run}/fork"), r#"{"from": 1, "arguments": {}}"#).await;
    assert_eq!(both.status, 400);
}

#[tokio::test]
async fn two_steps_are_compared() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    finished(&world, &run).await;
    let diff = world.get(&format!("/api/runs/{run}/diff?a=2&b=4")).await.json();
    assert_eq!(diff.get("changed").unwrap().to_json(), r#"["count","more"]"#);
    assert_eq!(diff.get("a").unwrap().get("count").unwrap().get("i"), Some(&1.into()));
    assert_eq!(world.get(&format!("/api/runs/{run}/diff?a=2&b=400")).await.status, 404);
}

#[tokio::test]
async fn long_payloads_are_left_out_of_events_when_asked() {
    let world = World::with_file(GRAPH).await;
    let long = "x".repeat(500);
    let run = world
        .start(&format!(r#"{{"tool": "sum_to", "arguments": {{"n": 1, "note": "{long}"}}}}"#))
        .await;
    finished(&world, &run).await;
    let page = world.get(&format!("/api/runs/{run}/events?short=100&limit=1")).await.json();
    let first = &page.get("events").and_then(Value::as_array).unwrap()[0];
    assert!(first.get("input").is_none());
    let left = first.get("inputShort").unwrap();
    assert!(left.get("size").and_then(Value::as_i64).unwrap() > 500);
    let events = world.follow(&format!("/api/runs/{run}/events?short=100"), "").await.all().await;
    assert!(events[0].data.contains("inputShort") && !events[0].data.contains(&long));
}

#[tokio::test]
async fn only_new_changes_are_told_when_asked() {
    let world = World::with_file(GRAPH).await;
    let old = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    finished(&world, &old).await;
    let mut changes = world.follow("/api/changes?new=true", "").await;
    let new = world.start(r#"{"tool": "sum_to", "arguments": {"n": 2}}"#).await;
    let told = changes.until("runs").await;
    assert!(told.data.contains(&new) && !told.data.contains(&old), "{}", told.data);
}

#[tokio::test]
async fn steps_are_found_by_an_expression() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 3}}"#).await;
    finished(&world, &run).await;
    let find = async |expression: &str| {
        let body = Value::from(mcpgraph_value::Map::from_iter([("expression", expression)]));
        world.post(&format!("/api/runs/{run}/find"), &body.to_json()).await.json()
    };
    let steps = |found: &Value| found.get("steps").unwrap().to_json();
    // entry, then count and more three times, then exit.
    assert_eq!(steps(&find("output.sum > 2").await), "[3,5,7]");
    assert_eq!(steps(&find("node = 'more' and edge = 'count'").await), "[2,4]");
    assert_eq!(steps(&find("kind = 'transform' and status = 'done'").await), "[1,3,5]");
    let all = find("durationMs >= 0").await;
    assert_eq!(all.get("looked"), Some(&8.into()));
    assert_eq!(all.get("cut"), Some(&Value::Bool(false)));
    assert!(all.get("error").is_none(), "{all:?}");

    let unreadable = find("output.(").await;
    assert_eq!(steps(&unreadable), "[]");
    assert!(unreadable.get("error").unwrap().get("position").is_some(), "{unreadable:?}");
    // An error in one step says so, and the others are still looked at.
    let partial = find("node = 'entry' ? $number('x') : node = 'exit'").await;
    assert_eq!(steps(&partial), "[7]");
    assert!(partial.get("error").unwrap().get("message").is_some(), "{partial:?}");
    let endless = find("node = 'entry' ? ($f := function($n) { $f($n + 1) }; $f(0))").await;
    assert!(endless.get("error").is_some() && steps(&endless) == "[]", "{endless:?}");

    assert_eq!(world.post(&format!("/api/runs/{run}/find"), "{}").await.status, 400);
    let nobody = "/api/runs/01939393-0000-7000-8000-000000000000/find";
    assert_eq!(world.post(nobody, r#"{"expression": "true"}"#).await.status, 404);
}
