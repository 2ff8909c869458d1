//! What a client is told about tools.

use std::fs;

use serde_json::{Value, json};

use crate::product::{Era, Served, beside};

#[test]
fn a_tool_reaches_clients_as_it_was_written() {
    let tool = fs::read_to_string(beside("cases/tool.json")).unwrap();
    let tool: Value = serde_json::from_str(&tool).unwrap();
    let mut graph = json!({"version": "1.0", "server": {"name": "listing", "version": "1"}});
    graph["tools"] = json!([tool]);
    graph["tools"][0]["nodes"] =
        json!([{"id": "entry", "type": "entry", "next": "exit"}, {"id": "exit", "type": "exit"}]);
    for era in Era::BOTH {
        let mut served = Served::text(&graph.to_string(), era);
        let answer = served.request("tools/list", json!({}));
        let listed = answer["result"]["tools"][0].as_object().unwrap();
        assert!(listed.keys().all(|key| tool.get(key).is_some()), "{listed:?}");
        for (key, written) in tool.as_object().unwrap() {
            // As text, because the order of keys and the way numbers are written count.
            assert_eq!(listed[key].to_string(), written.to_string(), "{key} {era:?}");
        }
        assert!(answer["result"].get("nextCursor").is_none());
    }
}

#[test]
fn a_server_introduces_itself_as_the_file_says() {
    let graph = r#"{"version":"1.0","server":{"name":"intro","version":"1.2","title":"Hello","instructions":"Be kind"},"tools":[]}"#;
    let mut served = Served::text(graph, Era::Modern);
    let found = served.request("server/discover", json!({}));
    assert_eq!(found["result"]["instructions"], "Be kind", "{found}");
    let info = &found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info, &json!({"name": "intro", "title": "Hello", "version": "1.2"}));
    let found = served.client.initialize();
    assert_eq!(found["serverInfo"], *info);
    assert_eq!(found["capabilities"]["tools"], json!({"listChanged": true}));
}

#[test]
fn exposed_tools_stand_next_to_the_graph() {
    let graph = r#"
version: "1.0"
server: { name: exposing, version: "1" }
mcpServers:
  demo: { command: "${MCPGRAPH_BIN}", args: [demo-server], expose: true }
  hidden: { command: "${MCPGRAPH_BIN}", args: [demo-server] }
tools:
  - name: demo__echo
    description: Takes the place of an exposed tool
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: mine }
      - { id: mine, type: transform, transform: { expr: '"mine"' }, next: exit }
      - { id: exit, type: exit }
"#;
    for era in Era::BOTH {
        let mut served = Served::text(graph, era);
        let names = served.tool_names();
        assert_eq!(names[0], "demo__echo");
        assert_eq!(names.iter().filter(|name| *name == "demo__echo").count(), 1);
        assert!(names.contains(&"demo__list_orders".to_owned()), "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("demo__")), "{names:?}");

        let own = served.call("demo__echo", json!({"value": 1}));
        assert_eq!(own["result"]["content"][0]["text"], "mine");
        let theirs = served.call("demo__get_order", json!({"id": "A-101"}));
        assert_eq!(theirs["result"]["structuredContent"]["customer"], "Grace");
        let unknown = served.call("demo__nope", json!({}));
        assert_eq!(unknown["error"]["message"], "Unknown tool: nope");
        let hidden = served.call("hidden__echo", json!({}));
        assert_eq!(hidden["error"]["code"], -32602);
    }
}
