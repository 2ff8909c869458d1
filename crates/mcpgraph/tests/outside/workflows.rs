//! Workflows around the calls of real servers from npm.

use std::fs;

use mcpgraph_testkit::{Environment, Program, StdioClient};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The product with exposed servers and a workflow around all calls.
struct Around {
    folder: TempDir,
    client: StdioClient,
}

impl Around {
    fn new(name: &str, server: &Program, before: &str, after: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = server.to_json();
        server["expose"] = json!(true);
        let hook = |id: &str, script: &str, next: &str| -> Value {
            json!({ "id": id, "type": "hook", "hook": { "script": script }, "next": next })
        };
        let graph = json!({
            "version": "2",
            "server": { "name": "guarded", "version": "1" },
            "mcpServers": { name: server },
            "workflows": [{
                "name": "around", "workflowType": "tools/call", "match": { "server": name },
                "nodes": [
                    { "id": "start", "type": "start", "next": "before" },
                    hook("before", before, "call"),
                    { "id": "call", "type": "mcp-call", "next": "after" },
                    hook("after", after, "end"),
                    { "id": "end", "type": "end" },
                ],
            }],
        });
        let file = folder.path().join("graph.json");
        fs::write(&file, graph.to_string()).unwrap();
        let program = Program::new(env!("CARGO_BIN_EXE_mcpgraph"))
            .env("MCPGRAPH_DATA", folder.path().join("data"))
            .arg("-g")
            .arg(&file);
        let client = StdioClient::connect(&program);
        Self { folder, client }
    }

    fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.client.call_tool(tool, arguments);
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }
}

#[test]
fn hooks_guard_the_files_of_the_filesystem_server() {
    let Some(environment) = Environment::find() else { return };
    let files = tempfile::tempdir().unwrap();
    let root = files.path().canonicalize().unwrap();
    fs::write(root.join("open.txt"), "the password is hunter2").unwrap();
    let server =
        environment.package("@modelcontextprotocol/server-filesystem/dist/index.js").arg(&root);
    let before = "if (context.metadata.toolName.startsWith('write_')) \
                  return { continue: false, error: { code: 'READ_ONLY', message: 'only reading' } }";
    let after = "const hide = (text) => text.replaceAll('hunter2', '***'); \
                 return { response: JSON.parse(hide(JSON.stringify(context.response))) }";
    let mut around = Around::new("files", &server, before, after);
    let read = json!({ "path": root.join("open.txt") });
    assert_eq!(around.text("files__read_text_file", &read), "the password is ***");
    let write = json!({ "path": root.join("new.txt"), "content": "x" });
    let refused = around.client.call_tool("files__write_file", &write);
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(refused["content"][0]["text"], "only reading");
    assert!(!root.join("new.txt").exists());
    around.client.close();
    drop(around.folder);
}

#[test]
fn requests_to_the_everything_server_are_changed_and_its_kinds_of_content_pass() {
    let Some(environment) = Environment::find() else { return };
    let server = environment.package("@modelcontextprotocol/server-everything/dist/index.js");
    let server = server.arg("stdio");
    let before = "const { request } = context; const { params } = request; \
                  if (context.metadata.toolName !== 'echo') return; \
                  const message = params.arguments.message.toUpperCase(); \
                  return { request: { ...request, params: { ...params, arguments: { message } } } }";
    let mut around = Around::new("everything", &server, before, "");
    let echoed = around.text("everything__echo", &json!({ "message": "quiet" }));
    assert_eq!(echoed, "Echo: QUIET");
    let mut direct = StdioClient::connect(&server);
    for tool in ["get-tiny-image", "get-resource-links"] {
        let wanted = direct.call_tool(tool, &json!({}));
        let found = around.client.call_tool(&format!("everything__{tool}"), &json!({}));
        assert_eq!(found, wanted, "{tool}");
    }
    direct.close();
    around.client.close();
    drop(around.folder);
}
