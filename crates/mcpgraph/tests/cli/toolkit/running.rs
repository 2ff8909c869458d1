//! Runs: what is told of them, and going on from their records.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Agent, GRAPH, computing, count_files, files, toolkit};

#[test]
fn a_failure_comes_with_what_led_to_it() {
    let mut agent = Agent::new();
    let arguments = json!({ "directory": "missing" });
    let inline = json!({ "toolDefinition": count_files(), "arguments": arguments });
    let error = agent.refuse("runGraphTool", &inline);
    assert_eq!((&error["code"], &error["node"]), (&"MG0402".into(), &"list_directory_node".into()));
    assert_eq!(error["failedAt"]["node"], "list_directory_node", "{error:#}");
    assert_eq!(error["failedAt"]["input"], json!({ "path": "missing" }));
    assert_eq!(error["failedAt"]["context"], json!({ "entry": arguments }));
    assert_eq!(error["steps"].as_array().unwrap().len(), 2);
    let invalid = json!({ "toolName": "double", "arguments": { "n": "two" } });
    assert_eq!(agent.refuse("runGraphTool", &invalid)["code"], "MG0408");
}

/// A tool that is called by another sees nothing of its caller.
#[test]
fn the_context_of_a_failure_is_that_of_its_own_tool() {
    let mut agent = Agent::new();
    agent.get("addGraphTool", &json!({ "tool": computing("fails", "$error('no')") }));
    let outer = json!({
        "name": "outer",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "start", "type": "entry", "next": "secret" },
            { "id": "secret", "type": "transform", "transform": { "expr": "42" }, "next": "call" },
            { "id": "call", "type": "graph", "tool": "fails", "args": { "a": 1 }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    });
    let error = agent.refuse("runGraphTool", &json!({ "toolDefinition": outer }));
    let steps = error["steps"].as_array().unwrap();
    let inner = steps.iter().find(|step| step["node"] == "compute").unwrap();
    assert_eq!(inner["expression"], "$error('no')");
    let run = json!({ "runId": error["run"], "step": inner["step"] });
    assert_eq!(agent.get("getRun", &run)["context"], json!({ "entry": { "a": 1 } }));
    assert_eq!(error["failedAt"]["node"], "compute", "{error:#}");
    assert_eq!(error["failedAt"]["context"], json!({ "entry": { "a": 1 } }));
}

/// Also of the beginning, when a run was so long that its first steps are not told any more.
#[test]
fn the_context_is_whole_however_long_the_run_was() {
    let mut agent = Agent::new();
    let counter = json!({
        "name": "counts",
        "inputSchema": { "type": "object" },
        "executionLimits": { "maxNodeExecutions": 100_000 },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "next" },
            { "id": "next", "type": "transform", "transform": { "expr": "$executionCount('next') + 1" }, "next": "check" },
            { "id": "check", "type": "switch", "conditions": [
                { "rule": { "<": [{ "var": "$.next" }, 1500] }, "target": "next" }, { "target": "fails" }
            ] },
            { "id": "fails", "type": "transform", "transform": { "expr": "$error('far')" }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    });
    let call = json!({ "toolDefinition": counter, "arguments": { "kept": true } });
    let error = agent.refuse("runGraphTool", &call);
    assert_eq!(
        error["failedAt"]["context"]["entry"],
        json!({ "kept": true }),
        "{}",
        error["failedAt"]
    );
    assert_eq!(error["failedAt"]["context"]["next"], 1500);
    assert_eq!(error["steps"].as_array().unwrap().len(), 2000);
    assert_eq!(error["stepsLeftOut"], 1002);
}

#[test]
fn records_are_read_and_gone_on_from() {
    let mut agent = Agent::new();
    let ran = agent.get("runGraphTool", &json!({ "toolName": "double", "arguments": { "n": 2 } }));
    assert_eq!(ran["result"], 4);
    let runs = agent.get("listRuns", &json!({ "toolName": "double" }));
    assert_eq!(runs["items"][0]["id"], ran["run"]);
    let step = agent.get("getRun", &json!({ "runId": ran["run"], "step": 1 }));
    assert_eq!(step["context"], json!({ "entry": { "n": 2 } }));
    assert_eq!(step["steps"][0]["output"], 4);
    let page = agent.get("getRun", &json!({ "runId": ran["run"], "limit": 2 }));
    assert_eq!((page["steps"].as_array().unwrap().len(), &page["next"]), (2, &json!(2)));
    let changed = json!({ "runId": ran["run"], "from": 1, "changes": { "entry": { "n": 21 } } });
    let forked = agent.get("rerunGraphTool", &changed);
    assert_eq!((&forked["result"], &forked["mayHaveCalled"]), (&json!(42), &json!([])));
    let mut logged = changed.clone();
    logged["logging"] = true.into();
    let forked = agent.get("rerunGraphTool", &logged);
    let entry = &forked["steps"][0];
    assert_eq!((&entry["output"], &entry["changedTo"]), (&json!({ "n": 2 }), &json!({ "n": 21 })));
    let seen = agent.get("getRun", &json!({ "runId": forked["run"] }));
    assert_eq!(seen["changes"], json!({ "entry": { "n": 21 } }), "{seen:#}");
    assert_eq!(step["changes"], Value::Null);
    let anew = json!({ "runId": ran["run"], "arguments": { "n": 5 } });
    assert_eq!(agent.get("rerunGraphTool", &anew)["result"], 10);
    assert_eq!(agent.get("rerunGraphTool", &json!({ "runId": ran["run"] }))["result"], 4);

    let cases = [
        (json!({ "runId": "00000000" }), "MG0445"),
        (json!({ "runId": ran["run"], "from": 99 }), "MG0446"),
        (json!({ "runId": ran["run"], "from": 1, "changes": { "compute": 1 } }), "MG0446"),
        (json!({ "runId": ran["run"], "from": 1, "arguments": {} }), "MG0440"),
    ];
    for (arguments, code) in cases {
        assert_eq!(agent.refuse("rerunGraphTool", &arguments)["code"], code, "{arguments}");
    }
    agent.refuse("getRun", &json!({ "runId": "00000000" }));

    // The tool of the file is another by now.
    let other = json!({ "toolName": "double", "tool": computing("double", "0") });
    agent.get("updateGraphTool", &other);
    let late = json!({ "runId": ran["run"], "from": 2 });
    let error = agent.refuse("rerunGraphTool", &late);
    assert_eq!(error["code"], "MG0446", "{error}");
    assert_eq!(error["divergence"]["node"], "compute", "{error}");
    let recorded = json!({ "runId": ran["run"], "from": 1, "changes": { "entry": { "n": 3 } }, "recorded": true });
    assert_eq!(agent.get("rerunGraphTool", &recorded)["result"], 6);
}

/// What was too large to keep can be had again, and the agent is told how.
#[test]
fn what_the_record_does_not_have_is_not_taken_over() {
    let mut program = toolkit();
    program.args(["--max-payload-bytes", "100"]);
    let mut agent = Agent::at(files(GRAPH, &json!({})), program);
    let wide = computing("wide", "$pad('', 200, 'x')");
    agent.get("addGraphTool", &json!({ "tool": wide }));
    let ran = agent.get("runGraphTool", &json!({ "toolName": "wide", "arguments": { "n": 1 } }));
    let error = agent.refuse("rerunGraphTool", &json!({ "runId": ran["run"], "from": 2 }));
    assert_eq!(error["code"], "MG0445", "{error}");
    let suggestion = error["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("from step 1 or an earlier one"), "{error}");
    let again = agent.get("rerunGraphTool", &json!({ "runId": ran["run"], "from": 1 }));
    assert_eq!(again["result"], ran["result"]);
}

/// An output that came from elsewhere is not taken over.
#[test]
fn what_was_called_before_the_step_is_what_is_called_now() {
    let mut agent = Agent::new();
    agent.get("addGraphTool", &json!({ "tool": computing("other", "$.entry.n * 2") }));
    let calling = |tool: &str| {
        json!({
            "name": "calling",
            "inputSchema": { "type": "object" },
            "nodes": [
                { "id": "entry", "type": "entry", "next": "call" },
                { "id": "call", "type": "graph", "tool": tool, "args": { "n": 2 }, "next": "last" },
                { "id": "last", "type": "transform", "transform": { "expr": "$.call" }, "next": "exit" },
                { "id": "exit", "type": "exit" }
            ]
        })
    };
    agent.get("addGraphTool", &json!({ "tool": calling("double") }));
    let ran = agent.get("runGraphTool", &json!({ "toolName": "calling", "logging": true }));
    let steps = ran["steps"].as_array().unwrap();
    let last = steps.iter().position(|step| step["node"] == "last").unwrap();
    let late = json!({ "runId": ran["run"], "from": last });
    let forked = agent.get("rerunGraphTool", &late);
    assert_eq!((&forked["result"], &forked["note"]), (&json!(4), &Value::Null));

    agent.get("updateGraphTool", &json!({ "toolName": "calling", "tool": calling("other") }));
    let error = agent.refuse("rerunGraphTool", &late);
    assert_eq!((&error["code"], &error["divergence"]["node"]), (&json!("MG0446"), &json!("call")));
    let difference = json!({ "pointer": "/target/tool", "recorded": "double", "now": "other" });
    assert_eq!(error["divergence"]["differences"], json!([difference]));
    // The step itself may be another, and the recorded version calls what it called.
    let call = json!({ "runId": ran["run"], "from": 1 });
    assert_eq!(agent.get("rerunGraphTool", &call)["result"], 4);
    let recorded = json!({ "runId": ran["run"], "from": last, "recorded": true });
    assert_eq!(agent.get("rerunGraphTool", &recorded)["result"], 4);
}

/// A definition that was never saved is in the record.
#[test]
fn a_run_of_a_proposed_definition_is_gone_on_from() {
    let mut agent = Agent::new();
    let inline =
        json!({ "toolDefinition": computing("draft", "$.entry.n + 1"), "arguments": { "n": 1 } });
    let run = agent.get("runGraphTool", &inline)["run"].clone();
    let error = agent.refuse("rerunGraphTool", &json!({ "runId": run }));
    assert!(error["suggestion"].as_str().unwrap().contains("recorded"), "{error}");
    let again = json!({ "runId": run, "recorded": true, "arguments": { "n": 9 } });
    assert_eq!(agent.get("rerunGraphTool", &again)["result"], 10);
}

/// A record has masks where the run had secrets; it is the same run all the same.
#[test]
fn a_masked_record_is_gone_on_from() {
    let secret = "tok-5f1e2d3c4b5a";
    let graph = GRAPH.replace("server: {", "redact: [password]\nserver: {");
    let mut program = toolkit();
    program.env("TOOLKIT_TEST_TOKEN", secret);
    let servers =
        json!({ "other": { "command": "true", "env": { "T": "${TOOLKIT_TEST_TOKEN}" } } });
    let mut agent = Agent::at(files(&graph, &servers), program);
    let tool = computing("login", "{ 'header': 'Bearer ' & $.entry.token }");
    let inline =
        json!({ "toolDefinition": tool, "arguments": { "token": secret, "password": "x" } });
    let ran = agent.get("runGraphTool", &inline);
    assert_eq!(ran["result"]["header"], format!("Bearer {secret}"));
    let step = agent.get("getRun", &json!({ "runId": ran["run"], "step": 1 }));
    assert_eq!(step["steps"][0]["output"]["header"], "Bearer [redacted]");
    let late = json!({ "runId": ran["run"], "from": 2, "recorded": true });
    let forked = agent.get("rerunGraphTool", &late);
    assert_eq!(forked["masked"], true, "{forked}");
    assert_eq!(forked["result"]["header"], "Bearer [redacted]");
}

/// The rule for `$` is that of the file: what is nested is data.
#[test]
fn the_arguments_of_a_call_are_read_as_in_a_node() {
    let mut agent = Agent::new();
    let call = |args: Value| {
        json!({
            "serverName": "filesystem", "toolName": "echo", "args": args,
            "context": { "previous_node": { "items": [1, 2, 3] } },
            "history": [{ "node": "previous_node", "output": 1 }]
        })
    };
    let cases = [
        (json!({ "value": "$count($.previous_node.items)" }), json!({ "value": 3 })),
        (json!({ "value": "$executionCount('previous_node')" }), json!({ "value": 1 })),
        (json!({ "value": { "text": "$5" } }), json!({ "value": { "text": "$5" } })),
        (
            json!({ "value": { "n": { "expr": "$count($.previous_node.items)" }, "t": "$5" } }),
            json!({ "value": { "n": 3, "t": "$5" } }),
        ),
        (json!({ "value": 1, "more": "$.nothing" }), json!({ "value": 1 })),
    ];
    for (args, evaluated) in cases {
        let answer = agent.get("testMcpTool", &call(args));
        assert_eq!(answer["args"], evaluated);
        assert_eq!(answer["output"], evaluated["value"], "{answer}");
        assert!(answer["durationMs"].is_number());
    }
    let error = agent.refuse("testMcpTool", &call(json!({ "value": "$(" })));
    assert!(error["position"].is_number(), "{error}");
    assert_eq!(error["pointer"], "/args/value", "{error}");
    let two = json!({ "value": { "deep": { "expr": "1 +" } }, "a/b": { "expr": "$count(" } });
    let error = agent.refuse("testMcpTool", &call(two));
    let pointers: Vec<&Value> =
        error["problems"].as_array().unwrap().iter().map(|problem| &problem["pointer"]).collect();
    assert_eq!(pointers, ["/args/value", "/args/a~1b"], "{error}");
    let fails = json!({ "value": "1", "more": "$number('x')" });
    assert_eq!(agent.refuse("testMcpTool", &call(fails))["pointer"], "/args/more");
    let error = agent.refuse("testMcpTool", &call(json!({ "value": { "expr": "1", "b": 2 } })));
    assert_eq!(error["diagnostics"][0]["code"], "MG0122", "{error}");
    let failing =
        json!({ "serverName": "filesystem", "toolName": "fail", "args": { "message": "no" } });
    let error = agent.refuse("testMcpTool", &failing);
    assert_eq!((&error["code"], &error["args"]), (&"MG0402".into(), &json!({ "message": "no" })));
}

#[test]
fn limits_progress_and_cancelling_are_honoured() {
    let mut agent = Agent::new();
    let mut endless = computing("endless", "1");
    endless["nodes"][1]["next"] = "compute".into();
    endless["nodes"][1]["id"] = "compute".into();
    endless["nodes"][1] = json!({ "id": "compute", "type": "switch", "conditions": [
        { "rule": true, "target": "compute" }, { "target": "exit" }
    ] });
    endless["executionLimits"] = json!({ "maxNodeExecutions": 50 });
    let error = agent.refuse("runGraphTool", &json!({ "toolDefinition": endless }));
    assert_eq!(error["code"], "MG0406", "{error}");
    // The node had not begun, so that there is neither a number nor an input.
    let failed = json!({ "node": "compute", "context": { "entry": {}, "compute": "compute" } });
    assert_eq!(error["failedAt"], failed, "{}", error["failedAt"]);

    let slow = json!({
        "name": "slow",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "wait" },
            { "id": "wait", "type": "mcp", "server": "filesystem", "tool": "slow", "args": { "ms": 30_000 }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    });
    let params = json!({
        "name": "runGraphTool", "arguments": { "toolDefinition": slow }, "_meta": { "progressToken": 7 }
    });
    let began = Instant::now();
    let id = agent.client.begin("tools/call", &params);
    let progress = agent.client.receive();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], 7);
    agent.client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id }
    }));
    let runs = json!({ "toolName": "slow" });
    let cancelled = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        agent.get("listRuns", &runs)["items"][0]["status"] == "cancelled"
    });
    assert!(cancelled && began.elapsed() < Duration::from_secs(20));
}

#[test]
fn without_records_steps_are_still_told() {
    let mut program = toolkit();
    program.arg("--no-history");
    let mut agent = Agent::at(files(GRAPH, &json!({})), program);
    let inline =
        json!({ "toolDefinition": count_files(), "arguments": { "directory": "missing" } });
    let error = agent.refuse("runGraphTool", &inline);
    assert_eq!(error["failedAt"]["node"], "list_directory_node", "{error:#}");
    assert_eq!(error["steps"][0]["output"], json!({ "directory": "missing" }));
    assert_eq!(agent.refuse("listRuns", &json!({}))["code"], "MG0445");
}
