//! What hooks can do to a call.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{around, serve, text};
use crate::product::Era;

#[test]
fn a_hook_stops_a_call_with_its_own_words() {
    let deny = "if (context.request.params.name === 'demo__fail') return { continue: false, \
                error: { code: 'DENIED', message: 'not today' } }";
    for era in Era::BOTH {
        let mut served = serve(&json!([around("deny", deny, "")]), era);
        let answer = served.call("demo__fail", json!({}));
        assert_eq!(text(&answer), "not today", "{answer}");
        assert_eq!(answer["result"]["isError"], true);
        let details = &answer["result"]["_meta"]["mcpgraph/error"];
        assert_eq!(details["code"], "MG0561", "{answer}");
        assert_eq!(details["data"]["code"], "DENIED");
        let answer = served.call("demo__echo", json!({"value": 7}));
        assert_eq!(text(&answer), "7");
    }
}

#[test]
fn requests_and_responses_are_replaced() {
    let before = "const request = context.request; \
                  request.params.arguments.value += context.request.params.arguments.value; \
                  return { request, context: { was: 'changed' } }";
    let after = "return { response: { ...context.response, \
                 content: [{ type: 'text', text: context.variables.was + ' ' + \
                 context.response.content[0].text }] } }";
    let mut served = serve(&json!([around("change", before, after)]), Era::Legacy);
    assert_eq!(text(&served.call("demo__echo", json!({"value": 21}))), "changed 42");
}

#[test]
fn tools_of_the_graph_are_wrapped_too() {
    let before = "return { request: { method: 'tools/call', params: { name: 'double', \
                  arguments: { n: context.request.params.arguments.n + 1 } } } }";
    let mut served = serve(&json!([around("more", before, "")]), Era::Modern);
    let answer = served.call("double", json!({"n": 1}));
    assert_eq!(answer["result"]["structuredContent"], json!({"n": 4}), "{answer}");
}

#[test]
fn what_passes_through_is_not_changed() {
    let plain = super::graph(&json!([]));
    let wrapped = super::graph(&json!([around("look", "console.log(context)", "return null")]));
    for era in Era::BOTH {
        let answers: Vec<String> = [&plain, &wrapped]
            .into_iter()
            .map(|graph| {
                let mut served = crate::product::Served::text(graph, era);
                let long = r#"[123456789012345678901234567890, 1.10, {"b": 1, "a": null}]"#;
                let value: Value = serde_json::from_str(long).unwrap();
                let echoed = served.call("demo__echo", json!({"value": value}));
                let failed = served.call("demo__fail", json!({"message": "so it is"}));
                let unknown = served.call("demo__nothing", json!({}));
                let parts = [&echoed["result"], &failed["result"], &unknown["error"]];
                parts.map(ToString::to_string).join("\n")
            })
            .collect();
        assert_eq!(answers[0], answers[1], "{era:?}");
        assert!(answers[0].contains("123456789012345678901234567890"), "{}", answers[0]);
    }
}

#[test]
fn a_broken_hook_keeps_the_call_shut() {
    for script in [
        "throw new Error('broken')",
        "while (true) {}",
        "await null; while (true) {}",
        "return { contniue: false }",
        "return true",
        "return { request: 'x' }",
        "await new Promise(() => {})",
        "const a = []; for (;;) a.push('x'.repeat(1000))",
    ] {
        let mut workflow = around("guard", script, "");
        workflow["nodes"][1]["hook"]["timeoutMs"] = json!(300);
        let mut served = serve(&json!([workflow]), Era::Legacy);
        let answer = served.call("demo__echo", json!({"value": "open"}));
        assert_eq!(answer["result"]["isError"], true, "{script}: {answer}");
        assert!(text(&answer).contains("MG0560"), "{script}: {answer}");
        assert!(!text(&answer).contains("open"), "{script}: {answer}");
    }
}

#[test]
fn a_hook_may_be_allowed_to_fail() {
    let mut workflow = around("lenient", "throw new Error('never mind')", "");
    workflow["nodes"][1]["hook"]["onError"] = json!("continue");
    let mut served = serve(&json!([workflow]), Era::Legacy);
    let answer = served.call("demo__echo", json!({"value": "open"}));
    assert_eq!(text(&answer), "open");
}

#[test]
fn a_hook_may_answer_itself() {
    let before = "return { response: { content: [{ type: 'text', text: 'from the cache' }] } }";
    let mut served = serve(&json!([around("cache", before, "")]), Era::Legacy);
    assert_eq!(text(&served.call("demo__fail", json!({}))), "from the cache");
    assert_eq!(text(&served.call("no_such_tool", json!({}))), "from the cache");
}

#[test]
fn workflows_nest_by_priority_and_match() {
    let mark = |name: &str, priority: u64, only: Value| {
        let before = format!(
            "const r = context.request; r.params.arguments.value += ' >{name}'; return {{ request: r }}"
        );
        let after = format!(
            "const r = context.response; r.content[0].text += ' <{name}'; return {{ response: r }}"
        );
        let mut workflow = around(name, &before, &after);
        workflow["priority"] = json!(priority);
        workflow["match"] = only;
        workflow
    };
    let mut disabled = mark("off", 99, json!({}));
    disabled["enabled"] = json!(false);
    let workflows = json!([
        mark("inner", 1, json!({"tool": "echo|fail"})),
        mark("outer", 5, json!({"server": "de*", "client": "*"})),
        mark("other", 3, json!({"server": "nobody"})),
        mark("client", 4, json!({"client": "somebody-else"})),
        disabled,
    ]);
    let mut served = serve(&workflows, Era::Modern);
    let answer = served.call("demo__echo", json!({"value": ""}));
    assert_eq!(text(&answer), " >outer >inner <inner <outer");
}

#[test]
fn a_call_that_becomes_one_of_another_tool_goes_through_what_is_around_that() {
    let to = |name: &str| {
        format!(
            "const r = context.request; r.params.arguments.value += ' ' + context.metadata.toolName; \
             r.params.name = '{name}'; return {{ request: r }}"
        )
    };
    let guard = |name: &str, only: &str, priority: i64, before: &str| {
        let mut workflow = around(name, before, "");
        workflow["match"] = json!({ "tool": only });
        workflow["priority"] = json!(priority);
        workflow
    };
    let deny =
        "return { continue: false, error: { message: 'guarded ' + context.metadata.toolName } }";
    let only_old = "return { continue: false, error: { message: 'not asked for any more' } }";
    let workflows = json!([
        guard("redirect", "demo__slow", 10, &to("demo__fail")),
        guard("of the old", "demo__slow", 1, only_old),
        guard("inside", "demo__fail", 1, deny),
        // Also what would be outside of the one that changes the name.
        guard("redirect too", "demo__get_order", 10, &to("demo__list_orders")),
        guard("outside", "demo__list_orders", 20, deny),
        // Neither of two that send calls to each other runs twice.
        guard("there", "demo__list_directory", 5, &to("demo__echo")),
        guard("back", "demo__echo", 5, &to("demo__list_directory")),
        guard("nowhere", "double", 5, &to("no_such")),
    ]);
    for era in Era::BOTH {
        let mut served = serve(&workflows, era);
        let mut call = |name: &str| served.call(name, json!({ "value": "", "path": "." }));
        assert_eq!(text(&call("demo__slow")), "guarded fail");
        assert_eq!(text(&call("demo__get_order")), "guarded list_orders");
        assert_eq!(text(&call("demo__echo")), " echo list_directory");
        let unknown = call("double");
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
}

#[test]
fn hooks_that_nobody_waits_for_take_no_time_and_fail_nothing() {
    let workflow = json!({
        "name": "notes",
        "workflowType": "tools/call",
        "nodes": [
            { "id": "start", "type": "start", "next": ["slow", "broken", "call"] },
            { "id": "slow", "type": "hook", "hook": { "script": "await sleep(3000)", "blocking": false } },
            { "id": "broken", "type": "hook", "hook": { "script": "throw new Error('lost')", "blocking": false } },
            { "id": "call", "type": "mcp-call", "next": "end" },
            { "id": "end", "type": "end" }
        ]
    });
    let mut served = serve(&json!([workflow]), Era::Legacy);
    served.call("demo__echo", json!({"value": "warm"}));
    let began = Instant::now();
    let answer = served.call("demo__echo", json!({"value": 1}));
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
    assert_eq!(text(&answer), "1");
}

#[test]
fn switches_and_transforms_decide() {
    let workflow = json!({
        "id": "wf-1",
        "name": "route",
        "workflowType": "tools/call",
        "nodes": [
            { "id": "start", "type": "start", "next": "measure" },
            { "id": "measure", "type": "transform", "transform":
                { "expr": "{ 'context': { 'big': $.request.params.arguments.value > 100 } }" },
              "next": "route" },
            { "id": "route", "type": "switch", "conditions": [
                { "rule": { "==": [{ "var": "variables.big" }, true] }, "target": "refuse" },
                { "target": "call" }
            ] },
            { "id": "refuse", "type": "transform", "transform": { "expr":
                "{ 'continue': false, 'error': { 'message': $.metadata.serverName & ' is not for that' } }" },
              "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "end" },
            { "id": "end", "type": "end" }
        ]
    });
    let mut served = serve(&json!([workflow]), Era::Legacy);
    assert_eq!(text(&served.call("demo__echo", json!({"value": 101}))), "demo is not for that");
    let answer = served.call("demo__echo", json!({"value": 100}));
    assert_eq!(text(&answer), "100");
}

#[test]
fn scripts_know_their_call_and_their_servers() {
    let before = "return { context: { seen: { ...context.metadata, \
                  server: getServerInfo('demo').name, none: getServerInfo('x') } } }";
    let after = "return { response: { content: [{ type: 'text', \
                 text: JSON.stringify(context.variables.seen) }] } }";
    let mut served = serve(&json!([around("who", before, after)]), Era::Modern);
    let answer = served.call("demo__echo", json!({"value": 1}));
    let seen: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!(
        seen,
        json!({"clientId": "test", "serverName": "demo", "toolName": "echo",
               "workflowId": "who", "nodeId": "before", "server": "demo", "none": null})
    );
}

#[test]
fn fetch_reaches_allowed_hosts_only() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut head = [0; 1024];
            drop(stream.read(&mut head));
            let body = r#"{"verdict":"fine"}"#;
            let length = body.len();
            drop(write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            ));
        }
    });
    let before = format!(
        "const answer = await fetch('http://127.0.0.1:{port}/policy'); \
         return {{ continue: false, error: {{ message: (await answer.json()).verdict }} }}"
    );
    let mut allowed = around("policy", &before, "");
    allowed["allowHosts"] = json!([format!("127.0.0.1:{port}")]);
    let mut served = serve(&json!([allowed]), Era::Legacy);
    assert_eq!(text(&served.call("demo__echo", json!({"value": 1}))), "fine");
    // Behind an address that is allowed there may be other hosts.
    let named = before.replace("/policy')", "/policy', { headers: { Host: 'other.test' } })");
    let mut other = around("policy", &named, "");
    other["allowHosts"] = allowed["allowHosts"].clone();
    let mut served = serve(&json!([other]), Era::Legacy);
    let answer = served.call("demo__echo", json!({"value": 1}));
    assert!(text(&answer).contains("cannot set the header `Host`"), "{answer}");
    let mut served = serve(&json!([around("policy", &before, "")]), Era::Legacy);
    let answer = served.call("demo__echo", json!({"value": 1}));
    assert!(text(&answer).contains("may not reach 127.0.0.1"), "{answer}");
}

#[test]
fn the_example_does_what_it_says() {
    let mut serve = crate::product::command();
    serve.arg("-g").arg(crate::product::repository().join("examples/workflows.yaml"));
    let mut client = mcpgraph_testkit::StdioClient::start(serve);
    client.initialize();
    let listed = client.request("tools/list", &json!({})).to_string();
    assert!(listed.contains("\"get_order\"") && !listed.contains("echo"), "{listed}");
    let order = client.call_tool("get_order", &json!({"id": "A-100"})).to_string();
    assert!(order.contains("***") && order.contains("A-100"), "{order}");
    let unknown = client.call_tool("get_order", &json!({"id": "A-999"})).to_string();
    assert!(unknown.contains("A-999") && !unknown.contains("SyntaxError"), "{unknown}");
    let refused =
        client.call_tool("set_order_status", &json!({"id": "A-100", "status": "cancelled"}));
    assert!(refused.to_string().contains("by people only"), "{refused}");
    client.close();
}
