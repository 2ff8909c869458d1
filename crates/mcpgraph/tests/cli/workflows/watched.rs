//! What collectors and the log tell of a call that goes through a workflow, and of one that is
//! passed on.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use super::{around, graph};
use crate::http::Listening;
use crate::product::command;
use crate::sop::watched::traced;

/// The spans of an export.
fn spans(request: &str) -> Vec<Value> {
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    list(&body, "resourceSpans")
        .iter()
        .flat_map(|resource| list(resource, "scopeSpans"))
        .flat_map(|scope| list(&scope, "spans"))
        .collect()
}

/// The lines of a log that are objects, as all are that the log has.
fn lines(log: &str) -> Vec<Value> {
    let read = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    read.filter(|line| line["level"].is_string()).collect()
}

fn message(line: &Value) -> &str {
    line["fields"]["message"].as_str().unwrap_or_default()
}

/// The kind of a span that is the answer to a client's request.
const SERVER: u64 = 2;

#[test]
fn a_call_is_one_trace_and_the_log_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("graph.yaml"), folder.path().join("log"));
    fs::write(&file, graph(&json!([around("w", "", "")]))).unwrap();
    let mut serve = command();
    serve.arg("-g").arg(&file).args(["--no-history", "--log", "json", "--log-level", "debug"]);
    serve.stderr(File::create(&log).unwrap());
    let exports = traced(&mut serve);
    let mut client = StdioClient::start(serve);
    client.initialize();
    let own = client.request("tools/call", &json!({"name": "double", "arguments": {"n": 1}}));
    assert_eq!(own["result"]["structuredContent"]["n"], 2, "{own}");
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let passed = json!({
        "name": "demo__echo", "arguments": { "value": 1 }, "_meta": { "traceparent": caller }
    });
    assert_eq!(super::text(&client.request("tools/call", &passed)), "1");
    client.close();

    let spans: Vec<Value> = exports.try_iter().flat_map(|request| spans(&request)).collect();
    let named =
        |name: &str| -> Vec<&Value> { spans.iter().filter(|span| span["name"] == name).collect() };
    let below = |span: &Value| -> &Value {
        let of = |other: &&Value| other["spanId"] == span["parentSpanId"];
        spans.iter().find(of).unwrap_or_else(|| panic!("{span} is below nothing of {spans:#?}"))
    };
    let traces: BTreeSet<&str> = spans.iter().filter_map(|span| span["traceId"].as_str()).collect();
    assert_eq!(traces.len(), 2, "{spans:#?}");
    assert!(traces.contains("4bf92f3577b34da6a3ce929d0e0e4736"));
    let servers: Vec<&Value> = spans.iter().filter(|span| span["kind"] == SERVER).collect();
    assert_eq!(servers.len(), 2, "{servers:#?}");
    for tool in ["double", "demo__echo"] {
        let found = named(&format!("execute_tool {tool}"));
        assert_eq!(found.len(), 1, "{tool}");
        let node = below(found[0]);
        assert_eq!(node["name"], "mcp-call call");
        // The workflow speaks for the request.
        let request = below(node);
        assert_eq!(
            (&request["name"], &request["kind"]),
            (&json!(format!("tools/call {tool}")), &json!(SERVER))
        );
    }
    let server = named("tools/call echo");
    assert_eq!(server.len(), 1);
    assert_eq!(below(server[0])["name"], "execute_tool demo__echo");
    let told = server[0]["attributes"].to_string();
    assert!(told.contains("network.transport") && told.contains("mcp.protocol.version"), "{told}");

    let lines = lines(&fs::read_to_string(&log).unwrap());
    let calls: Vec<&Value> = lines
        .iter()
        .filter(|line| message(line) == "request" && line["fields"]["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 2);
    for call in calls {
        let trace = call["fields"]["trace_id"].as_str().unwrap_or_else(|| panic!("{call}"));
        assert!(traces.contains(trace) && call["fields"]["run"].is_string(), "{call}");
    }
    for wanted in ["a run begins", "a run succeeded"] {
        let found: Vec<_> = lines.iter().filter(|line| message(line) == wanted).collect();
        // Two of the workflow, one of the tool.
        assert_eq!(found.len(), 3, "{wanted}");
        for line in found {
            let span = &line["span"];
            assert!(span["run"].is_string() && span["trace_id"].is_string(), "{line}");
        }
    }
}

#[test]
fn a_run_that_fails_has_lines_that_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    let text = json!({
        "version": "2",
        "server": { "name": "t", "version": "1" },
        "mcpServers": { "gone": { "command": "false" } },
        "tools": [{
            "name": "fail",
            "inputSchema": { "type": "object" },
            "nodes": [
                { "id": "entry", "type": "entry", "next": "ask" },
                { "id": "ask", "type": "mcp", "server": "gone", "tool": "x",
                  "retry": { "times": 1, "backoffMs": 1 }, "next": "exit" },
                { "id": "exit", "type": "exit" }
            ]
        }]
    });
    fs::write(&file, text.to_string()).unwrap();
    let log = |level: &str| -> Vec<Value> {
        let mut run = command();
        run.args(["run", "fail", "--no-history", "--log", "json", "--log-level", level, "-g"]);
        let output = run.arg(&file).output().unwrap();
        lines(&String::from_utf8(output.stderr).unwrap())
    };
    let find = |lines: &[Value], wanted: &str| -> Vec<Value> {
        lines.iter().filter(|line| message(line) == wanted).cloned().collect()
    };
    let told = log("info");
    let failed = find(&told, "a run failed");
    assert_eq!(failed.len(), 1, "{told:#?}");
    let fields = &failed[0]["fields"];
    assert_eq!((&fields["node"], &fields["kind"]), (&json!("ask"), &json!("unavailable")));
    assert!(fields["code"].is_string() && failed[0]["span"]["run"].is_string());
    assert!(find(&told, "a node is tried again").is_empty());
    let told = log("debug");
    assert_eq!(find(&told, "a node is tried again").len(), 1, "{told:#?}");
    for wanted in ["a node is tried again", "could not be started"] {
        let found = find(&told, wanted);
        let is_inside = |line: &Value| line["span"]["run"].is_string();
        assert!(!found.is_empty() && found.iter().all(is_inside), "{wanted}: {told:#?}");
    }
    assert!(log("warn").iter().all(|line| line["level"] != "INFO"));
}

#[test]
fn calls_that_are_passed_on_and_queues_are_in_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    fs::write(&file, graph(&json!([]))).unwrap();
    let mut server = Listening::on(&file, &["--no-history"]);
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "demo__echo", "arguments": { "value": 1 },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let headers = format!(
        "{}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: demo__echo",
        server.host()
    );
    let (status, answer) = server.post(&headers, &body);
    assert!(status.contains("200"), "{answer}");
    let mut metrics = String::new();
    let head = format!("GET /metrics HTTP/1.1\r\n{}", server.host());
    server.send(&head, &json!(null)).read_to_string(&mut metrics).unwrap();
    for line in [
        r#"mcpgraph_calls_total{tool="demo__echo",outcome="ok"} 1"#,
        r#"mcpgraph_upstream_duration_seconds_count{server="demo",upstream_tool="echo",outcome="ok"} 1"#,
        r#"mcpgraph_upstream_waiting{server="demo"} 0"#,
        "mcpgraph_hooks_waiting 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is missing in\n{metrics}");
    }
    server.end();
}
