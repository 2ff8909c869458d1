//! Workflows in the store: the command line, and a server that follows them.

use std::{fs, path::Path};

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use super::{graph, text};
use crate::product::{command, eventually};

/// What came of a command: its code, stdout and stderr.
fn typed(data: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        command().arg("workflows").args(arguments).arg("--data").arg(data).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// As an editor writes it.
fn guard(enabled: bool) -> Value {
    json!({
        "id": "wf-1", "name": "Guard", "workflowType": "tools/call",
        "nodes": [
            { "id": "start", "type": "start", "position": { "x": 100, "y": 200 }, "data": { "label": "Start" }, "deletable": false },
            { "id": "hook-1", "type": "hook", "position": { "x": 1.5, "y": 2 }, "data": { "label": "H",
                "hook": { "id": "h", "script": "", "hookModuleId": "deny", "blocking": true } } },
            { "id": "mcp-call", "type": "mcp-call", "position": { "x": 350, "y": 200 }, "data": { "label": "MCP" } },
            { "id": "end", "type": "end", "position": { "x": 600, "y": 200 }, "data": { "label": "End" } }
        ],
        "edges": [
            { "id": "a", "source": "start", "target": "hook-1", "animated": true },
            { "id": "b", "source": "hook-1", "target": "mcp-call" },
            { "id": "c", "source": "mcp-call", "target": "end" }
        ],
        "enabled": enabled, "createdAt": 1, "updatedAt": 2, "viewport": { "zoom": 0.75 }
    })
}

#[test]
fn workflows_are_managed_and_a_server_follows() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (file, script, exported) = (
        folder.path().join("guard.json"),
        folder.path().join("deny.js"),
        folder.path().join("out.json"),
    );
    fs::write(&file, guard(true).to_string()).unwrap();
    fs::write(&script, "return { continue: false, error: { message: 'denied' } }").unwrap();
    let file = file.to_str().unwrap();

    let mut serve = command();
    fs::write(folder.path().join("graph.yaml"), graph(&json!([]))).unwrap();
    serve.arg("-g").arg(folder.path().join("graph.yaml")).arg("--data").arg(&data);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let echo = |client: &mut StdioClient| {
        let params = json!({"name": "demo__echo", "arguments": {"value": "open"}});
        text(&client.request("tools/call", &params)).to_owned()
    };
    assert_eq!(echo(&mut client), "open");

    // What is enabled must have no errors: the module is not there.
    let (code, _, said) = typed(&data, &["import", file]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("MG0558") && said.contains("MG0572"), "{said}");
    let (code, _, said) = typed(&data, &["check", file]);
    assert!(code == 1 && said.contains("1 workflow checked, 1 error"), "{said}");
    assert!(said.contains(&format!("{file}:1:")), "{said}");
    let (code, _, said) = typed(&data, &["module", "add", "deny", script.to_str().unwrap()]);
    assert_eq!((code, &*said), (0, "hook module deny is kept\n"));
    let (code, _, said) = typed(&data, &["import", file]);
    assert_eq!((code, &*said), (0, "workflow wf-1 is imported\n"));
    eventually("the server takes it over", || echo(&mut client) == "denied");

    // It is kept to the letter.
    let (code, _, said) = typed(&data, &["export", "Guard", "-o", exported.to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
    assert_eq!(kept.to_string(), guard(true).to_string());

    let (_, listed, _) = typed(&data, &["ls"]);
    assert!(listed.contains("wf-1") && listed.contains("tools/call"), "{listed}");
    let (_, listed, _) = typed(&data, &["ls", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["workflows"][0]["enabled"], true);
    let (code, _, said) = typed(&data, &["module", "rm", "deny"]);
    assert!(code == 1 && said.contains("used by Guard") && said.contains("MG0571"), "{said}");
    let (code, _, said) = typed(&data, &["show", "nothing"]);
    assert!(code == 1 && said.contains("MG0570"), "{said}");

    let (code, _, said) = typed(&data, &["disable", "Guard"]);
    assert_eq!((code, &*said), (0, "workflow wf-1 is disabled\n"));
    eventually("the server lets go of it", || echo(&mut client) == "open");
    assert_eq!(typed(&data, &["rm", "wf-1"]).0, 0);
    assert_eq!(typed(&data, &["module", "rm", "deny"]).0, 0);
    client.close();
}

#[test]
fn templates_work() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (_, listed, _) = typed(&data, &["new"]);
    assert!(listed.contains("block-tools"), "{listed}");
    for template in ["block-tools", "tidy-list", "redact", "audit-log", "limit-arguments"] {
        assert_eq!(typed(&data, &["new", template]).0, 0, "{template}");
        let (code, _, said) = typed(&data, &["enable", template]);
        assert_eq!(code, 0, "{said}");
    }
    assert_eq!(typed(&data, &["new", "nothing"]).0, 2);
    let mut serve = command();
    fs::write(folder.path().join("graph.yaml"), graph(&json!([]))).unwrap();
    serve.arg("-g").arg(folder.path().join("graph.yaml")).arg("--data").arg(&data);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let listed = client.request("tools/list", &json!({})).to_string();
    assert!(listed.contains("\"echo\"") && !listed.contains("demo__echo"), "{listed}");
    let mut call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        client.request("tools/call", &params)
    };
    let answer = call("echo", json!({"value": {"token": "s3cret", "n": 1}}));
    assert!(text(&answer).contains("***") && !answer.to_string().contains("s3cret"), "{answer}");
    assert!(text(&call("demo__delete_all", json!({}))).contains("not allowed"));
    client.close();
}

/// What guards calls does not go missing: a server does not start without it.
#[test]
fn a_server_does_not_start_without_a_workflow_it_should_use() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert_eq!(typed(&data, &["ls"]).0, 0);
    let store = rusqlite::Connection::open(data.join("runs.db")).unwrap();
    store.execute("INSERT INTO workflows VALUES ('bad', ?, 0)", [guard(true).to_string()]).unwrap();
    fs::write(folder.path().join("graph.yaml"), graph(&json!([]))).unwrap();
    let output = command()
        .arg("-g")
        .arg(folder.path().join("graph.yaml"))
        .arg("--data")
        .arg(&data)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("MG0572") && said.contains("MG0558"), "{said}");
}
