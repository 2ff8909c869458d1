//! Procedures and the walks through them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{Event, Given, StepPath};
use mcpgraph_journal::{Digest, NewRun, Origin, RunId};
use mcpgraph_value::{Map, Value};

use crate::world::{GRAPH, PROCEDURE, World};

fn list(value: &Value, key: &str) -> Vec<String> {
    let items = value.get(key).and_then(Value::as_array).unwrap();
    items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_procedure_is_shown_with_its_prompts_and_places() {
    let world = World::with_file(GRAPH).await;
    let listed = world.get("/api/procedures").await;
    assert!(listed.body.contains(r#""agent":"desk""#), "{}", listed.body);
    let shown = world.get("/api/procedures/desk").await.json();
    let nodes = shown.get("definition").unwrap().get("nodes").unwrap().as_array().unwrap().clone();
    let check = nodes.iter().find(|node| node.get("id").unwrap().as_str() == Some("CHECK"));
    let check = check.unwrap();
    assert_eq!(check.get("type").and_then(Value::as_str), Some("decision"));
    assert_eq!(check.get("prompt").and_then(Value::as_str), Some("Look it up."));
    assert_eq!(list(check, "tools"), ["look"]);
    let links = shown.get("links").unwrap().as_array().unwrap().clone();
    let back = links.iter().filter(|link| link.get("back") == Some(&Value::Bool(true))).count();
    assert_eq!((links.len(), back), (4, 1));
    assert_eq!(world.get("/api/procedures/nobody").await.status, 404);
}

/// A step that began and, if it says what it gave, ended.
fn step(number: u64, path: &[u32], node: &str, kind: &'static str, given: Told) -> Vec<Event> {
    let at = Duration::from_millis(number);
    let began = Event::StepStarted {
        step: number,
        path: StepPath::new(path),
        node: node.into(),
        kind,
        input: given.input,
        item_name: None,
        began: at,
        at,
    };
    let ended =
        given.output.map(|output| Event::StepFinished { step: number, output, edge: None, at });
    std::iter::once(began).chain(ended).collect()
}

#[derive(Default)]
struct Told {
    input: Option<Value>,
    output: Option<Value>,
}

#[tokio::test]
async fn a_walk_is_recalled_at_any_moment() {
    let world = World::with_file(GRAPH).await;
    let journal = Arc::clone(world.journal.as_ref().unwrap());
    let (id, digest, tool) = (RunId::new(), Digest::of(PROCEDURE), Arc::<str>::from("desk"));
    let mut recorder = journal.begin(NewRun {
        id,
        tool: Arc::clone(&tool),
        digest,
        definition: Some(PROCEDURE.into()),
        origin: Origin::default(),
        started: SystemTime::now(),
    });
    let input = Map::from_iter([("sop_file", "desk.md"), ("mode", "enforced")]).into();
    recorder.record(Event::Started { tool, digest, input, given: Given::default() });
    let todos = Value::from_json(r#"{"todos":[{"content":"look","status":"pending"}]}"#).unwrap();
    let found = Value::from_json(r#"{"found":true}"#).unwrap();
    let plan = Told { input: Some(todos), output: Some(Value::Null) };
    let look = Told { input: None, output: Some(found) };
    let steps = [
        step(0, &[0], "todo", "todo", plan),
        step(1, &[1], "START", "stadium", Told::default()),
        step(2, &[2], "CHECK", "rhombus", Told::default()),
        step(3, &[2, 0, 0], "look", "mcp", look),
    ];
    for event in steps.into_iter().flatten() {
        recorder.record(event);
    }
    recorder.committed().await;

    let walk =
        async |until: u64| world.get(&format!("/api/runs/{id}/walk?until={until}")).await.json();
    // Events: started, the plan twice, START, CHECK, the call twice.
    let planned = walk(2).await;
    assert_eq!(list(&planned, "path"), Vec::<String>::new());
    assert_eq!(list(&planned, "next"), ["START"]);
    assert_eq!(planned.get("todos").unwrap().as_array().unwrap().len(), 1);
    let before = walk(4).await;
    assert_eq!(list(&before, "path"), ["START", "CHECK"]);
    // The guard of the way to SAY does not hold before the tool was called.
    assert_eq!(list(&before, "next"), ["ASK"]);
    assert_eq!(list(&before, "tools"), ["look"]);
    let after = walk(6).await;
    assert_eq!(list(&after, "next"), ["SAY", "ASK"]);
    assert_eq!(after.get("mode").and_then(Value::as_str), Some("enforced"));
    let then = world.get(&format!("/api/runs/{id}/procedure")).await;
    assert!(then.status == 200 && then.body.contains("Look it up."), "{}", then.body);
    let refused = world.post(&format!("/api/runs/{id}/debug"), "{}").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("walk of a procedure"), "{}", refused.body);

    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    assert_eq!(world.get(&format!("/api/runs/{run}/procedure")).await.status, 404);
}

#[tokio::test]
async fn what_was_edited_since_a_run_is_told() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let path = format!("/api/runs/{run}/edited");
    assert_eq!(world.get(&path).await.body, r#"{"edited":[]}"#);
    let changed = GRAPH.replace("{ var: entry.n }", "{ var: entry.m }");
    std::fs::write(world.path(), changed).unwrap();
    assert_eq!(world.get(&path).await.body, r#"{"edited":["more"]}"#);
}
