//! Workflows over HTTP.

use mcpgraph_value::{Map, Value};

use crate::world::World;

const GUARD: &str = r#"{"id":"wf-1","name":"Guard","workflowType":"tools/call","nodes":[
{"id":"start","type":"start","position":{"x":1,"y":2},"data":{"label":"S"}},
{"id":"h","type":"hook","position":{"x":1,"y":2},"data":{"label":"H","hook":{"id":"h","script":"","hookModuleId":"m-1","blocking":true}}},
{"id":"c","type":"mcp-call","position":{"x":1,"y":2},"data":{"label":"C"}},
{"id":"e","type":"end","position":{"x":1,"y":2},"data":{"label":"E"}}],
"edges":[{"id":"1","source":"start","target":"h"},{"id":"2","source":"h","target":"c"},{"id":"3","source":"c","target":"e"}],
"enabled":true,"createdAt":1,"updatedAt":2,"zoom":1}"#;

#[tokio::test]
async fn workflows_are_taken_in_changed_and_removed() {
    let world = World::new(true).await;
    assert_eq!(world.get("/api/workflows").await.body, r#"{"workflows":[]}"#);
    let refused = world.post("/api/workflows", GUARD).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("MG0572") && refused.body.contains("MG0558"), "{}", refused.body);
    let found = world.post("/api/workflows/check", GUARD).await;
    assert!(found.status == 200 && found.body.contains("MG0558"), "{}", found.body);

    let module = r#"{"name":"tag","script":"return {}"}"#;
    assert_eq!(world.put("/api/hook-modules/m-1", module).await.status, 200);
    let broken = r#"{"name":"tag","script":"return {"}"#;
    assert_eq!(world.put("/api/hook-modules/m-1", broken).await.status, 400);
    assert_eq!(world.post("/api/workflows", GUARD).await.status, 201);
    assert_eq!(world.post("/api/workflows", GUARD).await.status, 200);
    let kept = world.get("/api/workflows/Guard").await;
    assert_eq!(kept.body, GUARD.replace('\n', ""));

    let used = world.send("DELETE", "/api/hook-modules/m-1", "", None).await;
    assert_eq!(used.status, 409);
    assert!(used.body.contains("Guard"), "{}", used.body);
    let modules = world.get("/api/hook-modules").await;
    assert!(modules.body.contains(r#""usedBy":["wf-1"]"#), "{}", modules.body);

    let disabled = world.post("/api/workflows/wf-1/disable", "").await;
    assert!(disabled.body.contains(r#""enabled":false"#), "{}", disabled.body);
    assert_eq!(world.post("/api/workflows/wf-1/enable", "").await.status, 200);
    assert_eq!(world.post("/api/workflows/wf-1/explode", "").await.status, 404);
    assert_eq!(world.send("DELETE", "/api/workflows/wf-1", "", None).await.status, 200);
    assert_eq!(world.get("/api/workflows/wf-1").await.status, 404);
    assert_eq!(world.send("DELETE", "/api/hook-modules/m-1", "", None).await.status, 200);
    assert!(world.get("/api/workflow-templates").await.body.contains("block-tools"));
}

#[tokio::test]
async fn without_a_store_there_are_none() {
    let world = World::new(false).await;
    assert_eq!(world.get("/api/workflows").await.status, 404);
}

/// A request for a draft of a workflow.
fn draft(text: &str, rename: Value) -> String {
    Value::from(Map::from_iter([("text", Value::from(text)), ("rename", rename)])).to_json()
}

#[tokio::test]
async fn a_draft_is_drawn_checked_and_its_nodes_renamed() {
    let world = World::new(true).await;
    let text = r#"{"name":"w","workflowType":"tools/call","nodes":[
{"id":"start","type":"start","next":"h"},
{"id":"h","type":"hook","hook":{"script":"return 1;\nreturn {"},"next":"c"},
{"id":"c","type":"mcp-call","next":"end"},{"id":"end","type":"end"}]}"#;
    let drawn = world.post("/api/workflows/draft", &draft(text, Value::Null)).await.json();
    assert_eq!(drawn.get("text").and_then(Value::as_str), Some(text));
    let view = drawn.get("view").unwrap();
    let at = |key: &str, number: usize| view.get(key).unwrap().as_array().unwrap()[number].clone();
    assert_eq!(at("nodes", 1).get("kind").and_then(Value::as_str), Some("hook"));
    assert_eq!(at("links", 1).get("to").and_then(Value::as_str), Some("c"));
    // The problem has its place in the script, for an editor that shows nothing else.
    let problem = drawn.get("report").unwrap().get("diagnostics").unwrap().as_array().unwrap();
    let problem = &problem[0];
    assert_eq!(problem.get("code").and_then(Value::as_str), Some("MG0557"));
    let pointer = problem.get("pointer").and_then(Value::as_str);
    assert_eq!(pointer, Some("/workflows/0/nodes/1/hook/script"));
    assert_eq!(problem.get("within").unwrap().get("line"), Some(&Value::from(2)));

    let rename = Map::from_iter([("node", "h"), ("to", "guard")]).into();
    let renamed = world.post("/api/workflows/draft", &draft(text, rename)).await;
    let taken = Map::from_iter([("node", "h"), ("to", "end")]).into();
    let refused = world.post("/api/workflows/draft", &draft(text, taken)).await;
    assert!(refused.status == 409 && refused.body.contains("name_taken"), "{}", refused.body);
    let text = renamed.text("text");
    assert!(text.contains(r#""next": "guard""#) && text.contains(r#""id": "guard""#), "{text}");

    let broken = world.post("/api/workflows/draft", &draft("{\n  oh", Value::Null)).await.json();
    assert_eq!(broken.get("readable"), Some(&Value::Bool(false)));
    let line = broken.get("report").unwrap().get("diagnostics").unwrap().as_array().unwrap()[0]
        .get("line")
        .cloned();
    assert_eq!(line, Some(Value::from(2)));
    assert_eq!(world.post("/api/workflows/draft", &draft("{}", Value::Null)).await.status, 400);
}

const GUARDED: &str = "\
# Guarded.
server: { name: g, version: '1' }
tools: []
workflows:
  # Refuses.
  - name: guard
    workflowType: tools/call
    nodes:
      - { id: start, type: start, next: stop } # first
      - { id: stop, type: transform, transform: { expr: '{}' }, next: call }
      - { id: call, type: mcp-call, next: end }
      - { id: end, type: end }
";

#[tokio::test]
async fn a_workflow_of_the_file_is_changed_in_its_text() {
    let world = World::with_file(GUARDED).await;
    let document = world.get("/api/graphs").await.json();
    let listed = document.get("workflows").unwrap().as_array().unwrap()[0].clone();
    assert_eq!(listed.get("id").and_then(Value::as_str), Some("guard"));
    let edit = Map::from_iter([
        ("op", "rename"),
        ("workflow", "guard"),
        ("node", "stop"),
        ("to", "refuse"),
    ]);
    let asked = Map::from_iter([
        ("text", Value::from(GUARDED)),
        ("workflow", "guard".into()),
        ("edit", edit.into()),
    ]);
    let drawn = world.post("/api/draft", &Value::from(asked).to_json()).await;
    let text = drawn.text("text");
    assert!(text.contains("# Refuses.") && text.contains("next: refuse } # first"), "{text}");
    let view = drawn.json().get("view").unwrap().clone();
    assert_eq!(view.get("pointer").and_then(Value::as_str), Some("/workflows/0"));
    let edit = Map::from_iter([("op", "delete"), ("workflow", "guard")]);
    let asked = Map::from_iter([("text", Value::from(GUARDED)), ("edit", edit.into())]);
    let gone = world.post("/api/draft", &Value::from(asked).to_json()).await;
    assert!(!gone.text("text").contains("guard"), "{}", gone.text("text"));
}

#[tokio::test]
async fn a_script_is_checked_without_being_kept() {
    let world = World::new(true).await;
    let good = world.post("/api/hook-modules/check", r#"{"script": "return {}"}"#).await;
    assert_eq!(good.json().get("errors"), Some(&Value::from(0)));
    let bad =
        world.post("/api/hook-modules/check", r#"{"script": "const a = 1;\nreturn {"}"#).await;
    let problem = bad.json().get("diagnostics").unwrap().as_array().unwrap()[0].clone();
    assert_eq!(problem.get("code").and_then(Value::as_str), Some("MG0557"));
    assert_eq!(problem.get("line"), Some(&Value::from(2)));
    assert_eq!(world.post("/api/hook-modules/check", "{}").await.status, 400);
    assert_eq!(world.get("/api/hook-modules").await.body, r#"{"hookModules":[]}"#);
}
