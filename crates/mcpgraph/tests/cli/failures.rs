//! What a failure looks like to a client.

use mcpgraph_testkit::environment::misbehaving_server;
use serde_json::{Value, json};

use crate::product::{Era, Served};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_failed_run_says_what_where_and_which() {
    for era in Era::BOTH {
        let mut served = Served::graph("failures.yaml", era);
        let result = served.call("fail", json!({}))["result"].take();
        assert_eq!(result["isError"], true);
        let details = &result["_meta"]["mcpgraph/error"];
        let run = details["run"].as_str().unwrap();
        assert_eq!(
            details,
            &json!({
                "code": "MG0402",
                "kind": "tool_error",
                "message": "the disk is full",
                "node": "try_it",
                "tool": "fail",
                "run": run,
            })
        );
        for part in ["the disk is full", "`try_it`", "`fail`", "MG0402", run] {
            assert!(text(&result).contains(part), "{part}: {result}");
        }
    }
}

#[test]
fn arguments_that_do_not_fit_are_told_to_the_model() {
    let mut served = Served::graph("failures.yaml", Era::Modern);
    let result = served.call("fail", json!({"n": "three"}))["result"].take();
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"]["mcpgraph/error"]["code"], "MG0408");
    assert!(text(&result).contains("/n") && text(&result).contains("integer"), "{result}");
}

#[test]
fn a_limit_is_named_with_its_value_and_node() {
    let mut served = Served::graph("failures.yaml", Era::Modern);
    let result = served.call("limited", json!({}))["result"].take();
    assert_eq!(result["_meta"]["mcpgraph/error"]["code"], "MG0406");
    for part in ["maxExecutionTimeMs", "50", "`wait`"] {
        assert!(text(&result).contains(part), "{part}: {result}");
    }
}

#[test]
fn a_node_that_takes_too_long_names_its_own_limit() {
    let text_of = |extra: &str| {
        let graph = format!(
            r#"
version: "1.0"
server: {{ name: late, version: "1" }}
mcpServers:
  demo: {{ command: "${{MCPGRAPH_BIN}}", args: [demo-server], timeoutMs: 700 }}
tools:
  - name: late
    inputSchema: {{ type: object }}
    nodes:
      - {{ id: entry, type: entry, next: slow }}
      - {{ id: slow, type: mcp, server: demo, tool: slow, args: {{ ms: 60000 }}, {extra} next: exit }}
      - {{ id: exit, type: exit }}
"#
        );
        let mut served = Served::text(&graph, Era::Modern);
        let result = served.call("late", json!({}))["result"].take();
        assert_eq!(result["_meta"]["mcpgraph/error"]["code"], "MG0405", "{result}");
        assert_eq!(result["_meta"]["mcpgraph/error"]["node"], "slow", "{result}");
        text(&result).to_owned()
    };
    for _ in 0..5 {
        let said = text_of("timeoutMs: 200,");
        assert!(said.contains("the node took longer than its timeoutMs (200 ms)"), "{said}");
    }
    let said = text_of("");
    let wanted = "did not answer `slow` within 700 ms; raise `mcpServers.demo.timeoutMs`";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn arguments_that_are_nested_too_deep_are_told_the_limit() {
    let mut served = Served::graph("failures.yaml", Era::Legacy);
    let deep = (0..200).fold(json!(1), |inner, _| json!({ "a": inner }));
    let error = served.call("fail", deep)["error"].take();
    assert_eq!(error["code"], -32602);
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("`arguments` is nested deeper than the limit of 127 levels"), "{said}");
}

#[test]
fn a_tool_that_does_not_exist_is_a_protocol_error_with_a_hint() {
    for era in Era::BOTH {
        let mut served = Served::graph("failures.yaml", era);
        let error = served.call("faill", json!({}))["error"].take();
        assert_eq!(error["code"], -32602);
        assert_eq!(error["message"], "Unknown tool: faill; did you mean `fail`?");
        let error = served.request("tools/call", json!({"name": "fail", "arguments": [1]}));
        assert_eq!(error["error"]["code"], -32602, "{error}");
        let error = served.request("tools/call", json!({"arguments": {}}));
        assert_eq!(error["error"]["code"], -32602, "{error}");
    }
}

#[test]
fn a_protocol_error_of_a_server_stays_one() {
    let mut served = Served::graph("failures.yaml", Era::Legacy);
    let error = served.call("unknown_upstream", json!({}))["error"].take();
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("Unknown tool: nope") && message.contains("try_it"), "{message}");
}

#[test]
fn a_protocol_error_keeps_its_code_and_data() {
    let Some(server) = misbehaving_server() else { return };
    let graph = json!({
        "version": "1.0",
        "server": {"name": "refused", "version": "1"},
        "mcpServers": {"strange": server.to_json()},
        "tools": [{
            "name": "refused",
            "description": "Is refused",
            "inputSchema": {"type": "object"},
            "nodes": [
                {"id": "entry", "type": "entry", "next": "ask"},
                {"id": "ask", "type": "mcp", "server": "strange", "tool": "refuse", "next": "exit"},
                {"id": "exit", "type": "exit"},
            ],
        }],
    });
    for era in Era::BOTH {
        let mut served = Served::text(&graph.to_string(), era);
        let error = served.call("refused", json!({}))["error"].take();
        assert_eq!(error["code"], -32099);
        assert_eq!(error["data"], json!({"why": [1, 2]}));
        assert!(error["message"].as_str().unwrap().contains("not today"), "{error}");
    }
}
