//! Graph files: shown, changed, saved.

use std::fs;

use mcpgraph_value::{Map, Value};

use crate::world::{Answer, GRAPH, World};

const COMMENTED: &str = "\
# Adds.
server: { name: calc, version: '1' }
tools:
  - name: add
    description: Adds two numbers
    inputSchema: { type: object, properties: { a: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: sum } # the arguments
      - id: sum
        type: transform
        # One more.
        transform: { expr: $.entry.a + 1 }
        next: exit
      - { id: exit, type: exit }
";

fn body(members: &[(&str, Value)]) -> String {
    let map: Map = members.iter().map(|(key, value)| (*key, value.clone())).collect();
    Value::from(map).to_json()
}

async fn save(world: &World, etag: &str, text: &str) -> Answer {
    let headers = format!("Content-Type: application/json\r\nIf-Match: \"{etag}\"\r\n");
    world.send("PUT", "/api/graphs", &headers, Some(&body(&[("text", text.into())]))).await
}

async fn draft(world: &World, text: &str, tool: &str, edit: &str) -> Answer {
    let edit = Value::from_json(edit).unwrap();
    let request = body(&[("text", text.into()), ("tool", tool.into()), ("edit", edit)]);
    world.post("/api/draft", &request).await
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).unwrap().as_slice()
}

fn texts(values: &[Value], key: &str) -> Vec<String> {
    let text = |value: &Value| value.get(key).and_then(Value::as_str).unwrap().to_owned();
    values.iter().map(text).collect()
}

#[tokio::test]
async fn a_file_is_shown_with_its_tools_and_their_nodes() {
    let world = World::with_file(GRAPH).await;
    let document = world.get("/api/graphs").await.json();
    assert_eq!(document.get("valid"), Some(&Value::Bool(true)));
    assert_eq!(texts(list(&document, "tools"), "name"), ["sum_to"]);
    assert_eq!(document.get("text").and_then(Value::as_str), Some(GRAPH));
    let version = world.get("/api/graphs/version").await;
    assert_eq!(Some(version.text("etag").into()), document.get("etag").cloned());

    let tool = world.get("/api/graphs/sum_to").await.json();
    assert_eq!(texts(list(&tool, "nodes"), "key"), ["entry", "count", "more", "exit"]);
    let kinds = texts(list(&tool, "links"), "kind");
    assert_eq!(kinds, ["next", "next", "case", "otherwise"]);
    assert_eq!(list(&tool, "links")[2].get("back"), Some(&Value::Bool(true)));
    assert_eq!(tool.get("definition").unwrap().get("name"), Some(&Value::from("sum_to")));
    assert_eq!(world.get("/api/graphs/nothing").await.status, 404);
}

#[tokio::test]
async fn a_draft_changes_the_text_and_nothing_else() {
    let world = World::with_file(COMMENTED).await;
    let rename = r#"{"op": "rename", "tool": "add", "node": "entry", "to": "given"}"#;
    let answer = draft(&world, COMMENTED, "add", rename).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let text = answer.text("text");
    assert!(text.contains("# Adds.") && text.contains("# the arguments"), "{text}");
    assert!(text.contains("# One more.") && text.contains("$.given.a + 1"), "{text}");
    let tool = answer.json().get("view").cloned().unwrap();
    assert_eq!(texts(list(&tool, "nodes"), "key"), ["given", "sum", "exit"]);
    assert_eq!(fs::read_to_string(world.path()).unwrap(), COMMENTED);

    let broken = text.replace("$.given.a", "$.nobody.a");
    let answer = draft(&world, &broken, "add", "null").await.json();
    assert_eq!(answer.get("valid"), Some(&Value::Bool(false)));
    let problem = &list(answer.get("report").unwrap(), "diagnostics")[0];
    assert_eq!(texts(std::slice::from_ref(problem), "code"), ["MG0303"]);
    let pointer = problem.get("pointer").and_then(Value::as_str);
    assert_eq!(pointer, Some("/tools/0/nodes/1/transform/expr"));

    let unreadable = draft(&world, "tools: [", "add", "null").await.json();
    assert_eq!(unreadable.get("readable"), Some(&Value::Bool(false)));
    let odd = draft(&world, COMMENTED, "add", r#"{"op": "burn"}"#).await;
    assert_eq!(odd.status, 400);
    let unknown = draft(&world, COMMENTED, "add", r#"{"op": "delete", "tool": "x"}"#).await;
    assert_eq!(unknown.status, 409);
}

#[tokio::test]
async fn a_node_cannot_have_the_name_of_another() {
    let inner = "      - { id: all, type: foreach, items: '[1]', next: exit, body: [{ id: deep, type: transform, transform: { expr: '1' } }] }\n";
    let text = format!("{COMMENTED}{inner}");
    let world = World::with_file(COMMENTED).await;
    for taken in ["exit", "deep"] {
        let rename =
            format!(r#"{{"op": "rename", "tool": "add", "node": "sum", "to": "{taken}"}}"#);
        let refused = draft(&world, &text, "add", &rename).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.body.contains("name_taken") && refused.body.contains(taken));
    }
    let same = r#"{"op": "rename", "tool": "add", "node": "sum", "to": "sum"}"#;
    assert_eq!(draft(&world, COMMENTED, "add", same).await.text("text"), COMMENTED);
}

#[tokio::test]
async fn a_file_that_says_nothing_is_begun_with_its_first_tool() {
    let world = World::with_file(COMMENTED).await;
    let add = r#"{"op": "add", "definition": {"name": "two", "inputSchema": {"type": "object"}, "nodes": [
        {"id": "entry", "type": "entry", "next": "exit"}, {"id": "exit", "type": "exit"}]}}"#;
    let begun = draft(&world, "", "two", add).await;
    assert_eq!(begun.json().get("valid"), Some(&Value::Bool(true)), "{}", begun.body);
}

#[tokio::test]
async fn tools_are_added_and_run_once_they_are_saved() {
    let world = World::with_file(COMMENTED).await;
    let etag = world.get("/api/graphs/version").await.text("etag");
    let add = r#"{"op": "add", "definition": {"name": "two", "inputSchema": {"type": "object"}, "nodes": [
        {"id": "entry", "type": "entry", "next": "exit"}, {"id": "exit", "type": "exit"}]}}"#;
    let answer = draft(&world, COMMENTED, "two", add).await;
    let saved = save(&world, &etag, &answer.text("text")).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    assert_eq!(fs::read_to_string(world.path()).unwrap(), answer.text("text"));
    world.start(r#"{"tool": "two", "arguments": {}}"#).await;
}

#[tokio::test]
async fn a_file_that_somebody_else_changed_is_not_saved_over() {
    let world = World::with_file(COMMENTED).await;
    let etag = world.get("/api/graphs/version").await.text("etag");
    let theirs = COMMENTED.replace("One more", "One less");
    fs::write(world.path(), &theirs).unwrap();
    let mine = COMMENTED.replace("Adds two", "Adds many");
    let refused = save(&world, &etag, &mine).await;
    assert_eq!(refused.status, 412);
    let error = refused.json().get("error").cloned().unwrap();
    assert_eq!(error.get("text").and_then(Value::as_str), Some(&*theirs));
    let diff = error.get("diff").and_then(Value::as_str).unwrap();
    assert!(diff.contains("-        # One less.") && diff.contains("Adds many"), "{diff}");
    assert_eq!(fs::read_to_string(world.path()).unwrap(), theirs);

    let seen = error.get("etag").and_then(Value::as_str).unwrap();
    assert_eq!(save(&world, seen, &mine).await.status, 200);
}

#[tokio::test]
async fn nothing_invalid_is_saved() {
    let world = World::with_file(COMMENTED).await;
    let etag = world.get("/api/graphs/version").await.text("etag");
    let refused = save(&world, &etag, &COMMENTED.replace("next: sum", "next: nowhere")).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("MG02"), "{}", refused.body);
    let blind = world.put("/api/graphs", &body(&[("text", COMMENTED.into())])).await;
    assert_eq!(blind.status, 400, "without If-Match");
    assert_eq!(fs::read_to_string(world.path()).unwrap(), COMMENTED);
}

#[tokio::test]
async fn servers_tell_how_they_stand() {
    let text = COMMENTED.replace(
        "tools:\n",
        "mcpServers:\n  odd: { command: sh, args: [-c, 'echo no key >&2; exit 3'] }\ntools:\n",
    );
    let world = World::with_file(&text).await;
    let before = world.get("/api/upstreams").await.json();
    assert_eq!(texts(list(&before, "servers"), "state"), ["idle"]);
    let tools = world.get("/api/upstreams/odd/tools").await;
    assert_eq!(tools.status, 409);
    let after = world.get("/api/upstreams").await.json();
    assert_eq!(texts(list(&after, "servers"), "stderr"), ["no key\n"]);
    assert_eq!(world.get("/api/upstreams/other/tools").await.status, 404);
}

#[tokio::test]
async fn a_node_stands_where_it_was_put_which_is_no_edit() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    world.follow(&format!("/api/runs/{run}/events"), "").await.all().await;
    let document = world.get("/api/graphs").await.json();
    let moved = document.get("text").and_then(Value::as_str).unwrap().replace(
        "{ id: entry, type: entry, next: count }",
        "{ id: entry, type: entry, next: count, position: { x: 700, y: 10 } }",
    );
    let asked = Map::from_iter([("text", Value::from(&*moved)), ("tool", "sum_to".into())]);
    let drawn = world.post("/api/draft", &Value::from(asked).to_json()).await.json();
    let nodes = drawn.get("view").unwrap().get("nodes").unwrap().as_array().unwrap().clone();
    let entry = nodes.iter().find(|node| node.get("id") == Some(&"entry".into())).unwrap();
    assert_eq!((entry.get("x"), entry.get("y")), (Some(&700.into()), Some(&10.into())));
    let pinned = nodes.iter().filter(|node| node.get("pinned") == Some(&Value::Bool(true)));
    assert_eq!(pinned.count(), 1);

    let etag = document.get("etag").and_then(Value::as_str).unwrap();
    let body = Value::from(Map::from_iter([("text", &*moved)])).to_json();
    let seen = format!("Content-Type: application/json\r\nIf-Match: \"{etag}\"\r\n");
    let saved = world.send("PUT", "/api/graphs", &seen, Some(&body)).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    assert_eq!(world.get(&format!("/api/runs/{run}/edited")).await.body, r#"{"edited":[]}"#);
}

#[tokio::test]
async fn modules_and_servers_of_the_file_are_told() {
    let text = "\
server: { name: g, version: '1' }
mcpServers:
  near: { command: serve, args: [--root, files] }
  far: { url: 'https://example.com/mcp' }
tools: []
hookModules: { pass: 'return {}' }
workflows:
  - name: guard
    workflowType: tools/call
    nodes:
      - { id: start, type: start, next: hook }
      - { id: hook, type: hook, hook: { module: pass }, next: call }
      - { id: call, type: mcp-call, next: end }
      - { id: end, type: end }
";
    let world = World::with_file(text).await;
    let document = world.get("/api/graphs").await.json();
    let modules = document.get("hookModules").unwrap().to_json();
    assert_eq!(modules, r#"[{"name":"pass","usedBy":["guard"]}]"#);
    let servers = document.get("servers").unwrap().as_array().unwrap().clone();
    let starts: Vec<_> = servers.iter().filter_map(|it| it.get("starts")?.as_str()).collect();
    assert_eq!(starts, ["serve --root files", "https://example.com/mcp"]);
}
