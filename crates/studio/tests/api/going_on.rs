//! What a new run takes over: only what the graph still does, and calls.

use mcpgraph_value::{Map, Value};

use crate::world::{Answer, World};

const CALLING: &str = "\
server: { name: calling, version: '1' }
tools:
  - name: outer
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: word }
      - { id: word, type: transform, transform: { expr: \"'hidden'\" }, next: sub }
      - { id: sub, type: graph, tool: inner, next: last }
      - { id: last, type: transform, transform: { expr: $.sub }, next: exit }
      - { id: exit, type: exit }
  - name: inner
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: one }
      - { id: one, type: transform, transform: { expr: '1' }, next: exit }
      - { id: exit, type: exit }
  - name: other
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: one }
      - { id: one, type: transform, transform: { expr: '1' }, next: exit }
      - { id: exit, type: exit }
";

/// The step of the node after the call.
const LAST: u64 = 6;

/// A world with a run of the tool.
async fn ran() -> (World, String) {
    let world = World::with_file(CALLING).await;
    let run = world.start(r#"{"tool": "outer", "arguments": {}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let step = world.get(&format!("/api/runs/{run}/steps/{LAST}")).await;
    assert_eq!(step.text("node"), "last", "{}", step.body);
    (world, run)
}

async fn ask(world: &World, run: &str, path: &str, from: u64) -> Answer {
    world.post(&format!("/api/runs/{run}/{path}"), &format!(r#"{{"from": {from}}}"#)).await
}

/// Another world, with the same graph and a run of another as `change` makes it.
async fn imported(change: impl FnOnce(Value) -> Value) -> (World, String) {
    let (there, run) = ran().await;
    let exported = there.get(&format!("/api/runs/{run}/export")).await.json();
    let here = World::with_file(CALLING).await;
    here.journal.as_ref().unwrap().import(&change(exported)).unwrap();
    (here, run)
}

#[tokio::test]
async fn an_output_that_came_from_elsewhere_is_not_taken_over() {
    let (world, run) = ran().await;
    assert_eq!(ask(&world, &run, "fork", LAST).await.status, 201);

    let etag = world.get("/api/graphs/version").await.text("etag");
    let headers = format!("Content-Type: application/json\r\nIf-Match: \"{etag}\"\r\n");
    let changed = CALLING.replace("type: graph, tool: inner", "type: graph, tool: other");
    let body = Value::from(Map::from_iter([("text", changed)])).to_json();
    let saved = world.send("PUT", "/api/graphs", &headers, Some(&body)).await;
    assert_eq!(saved.status, 200, "{}", saved.body);

    for path in ["fork", "fork/effects"] {
        let refused = ask(&world, &run, path, LAST).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        let refused = refused.json();
        let told = |pointer: &str| refused.pointer(pointer).cloned();
        assert_eq!(told("/error/divergence/node"), Some("sub".into()));
        let difference = told("/error/divergence/differences/0").unwrap().to_json();
        assert_eq!(difference, r#"{"pointer":"/target/tool","recorded":"inner","now":"other"}"#);
        let message = told("/error/message").unwrap().to_json();
        assert!(message.contains("at step 2 `sub`"), "{message}");
    }
    // The step itself may be another.
    assert_eq!(ask(&world, &run, "fork", 2).await.status, 201);
}

#[tokio::test]
async fn what_was_too_large_to_keep_is_in_the_way_only_where_it_is_taken_over() {
    let world = World::with_file(&CALLING.replace("'hidden'", "$pad('', 300000, 'x')")).await;
    let run = world.start(r#"{"tool": "outer", "arguments": {}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    for path in ["fork", "fork/effects"] {
        let refused = ask(&world, &run, path, LAST).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        let message = refused.json().pointer("/error/message").unwrap().to_json();
        assert!(message.contains("go on from step 1 or an earlier one"), "{message}");
    }
    assert_eq!(ask(&world, &run, "fork", 1).await.status, 201);
}

#[tokio::test]
async fn it_is_said_if_what_nodes_called_is_not_known() {
    let (world, run) = imported(|mut exported| {
        let Value::Object(members) = &mut exported else { panic!("an object") };
        members.make_mut().insert("definition", Value::Null);
        exported
    })
    .await;
    for (path, status) in [("fork/effects", 200), ("fork", 201)] {
        let answer = ask(&world, &run, path, LAST).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.text("note").contains("was not kept"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_masked_record_is_gone_on_from_and_said_to_be_masked() {
    let mask =
        |exported: Value| Value::from_json(&exported.to_json().replace("hidden", "[redacted]"));
    let (world, run) = imported(|exported| mask(exported).unwrap()).await;
    for (path, status) in [("fork/effects", 200), ("fork", 201)] {
        for (from, is_masked) in [(LAST, true), (1, false)] {
            let answer = ask(&world, &run, path, from).await;
            assert_eq!(answer.status, status, "{}", answer.body);
            assert_eq!(answer.json().get("masked"), Some(&is_masked.into()), "{}", answer.body);
            assert!(answer.json().get("note").is_none(), "{}", answer.body);
        }
    }
}

#[tokio::test]
async fn statistics_name_the_tool_whose_node_it_is() {
    let (world, _) = ran().await;
    let stats = world.get("/api/stats").await.json();
    let nodes = stats.get("nodes").and_then(Value::as_array).unwrap();
    let of = |node: &str| {
        let row = nodes.iter().find(|row| row.get("node") == Some(&node.into()));
        row.unwrap().get("tool").cloned()
    };
    assert_eq!((of("one"), of("last")), (Some("inner".into()), Some("outer".into())));
}
