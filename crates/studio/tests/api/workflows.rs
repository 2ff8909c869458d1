//! Workflows over HTTP.

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
