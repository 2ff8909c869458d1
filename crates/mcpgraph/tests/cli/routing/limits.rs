//! What the file says about each server behind the endpoint: left alone, how much at once, how long.

use std::time::{Duration, Instant};

use mcpgraph_testkit::{environment, observe::Log};
use serde_json::{Value, json};

use crate::product::{BINARY, Era, Served};

fn serve(servers: &Value) -> Served {
    let graph = json!({
        "server": { "name": "router", "version": "1" }, "mcpServers": servers, "tools": [],
    });
    Served::text(&graph.to_string(), Era::Legacy)
}

fn demo() -> Value {
    json!({ "command": BINARY, "args": ["demo-server"], "expose": true })
}

#[test]
fn a_disabled_server_is_neither_started_nor_seen() {
    let Some(server) = environment::misbehaving_server() else { return };
    let log = Log::new();
    let mut off = server.arg("--starts").arg(log.argument()).to_json();
    off["expose"] = json!(true);
    off["disabled"] = json!(true);
    // What it needs need not be there.
    off["env"] = json!({ "TOKEN": "${NO_SUCH_VARIABLE_ANYWHERE}" });
    let mut served = serve(&json!({ "on": demo(), "off": off }));
    let names = served.tool_names();
    assert!(names.iter().all(|name| name.starts_with("on__")) && !names.is_empty(), "{names:?}");
    assert_eq!(served.call("off__echo", json!({}))["error"]["code"], -32602);
    assert!(log.lines().is_empty(), "it was started");
}

#[test]
fn no_more_calls_than_allowed_are_under_way_at_once() {
    for (limit, least, most) in [(1, 3000, 60_000), (8, 1000, 2900)] {
        let mut server = demo();
        server["maxConcurrent"] = json!(limit);
        let mut served = serve(&json!({ "demo": server }));
        served.call("demo__echo", json!({ "value": 1 }));
        let began = Instant::now();
        let slow = |served: &mut Served| served.begin("demo__slow", json!({ "ms": 1000 }));
        let calls = [slow(&mut served), slow(&mut served), slow(&mut served)];
        let mut open = calls.to_vec();
        while !open.is_empty() {
            let message = served.client.receive();
            assert!(message.get("error").is_none(), "{message}");
            open.retain(|id| message["id"] != *id);
        }
        let took = began.elapsed();
        let wanted = Duration::from_millis(least)..Duration::from_millis(most);
        assert!(wanted.contains(&took), "{limit} at once: {took:?}");
    }
}

#[test]
fn timeouts_open_the_circuit_and_tools_that_fail_do_not() {
    let Some(server) = environment::misbehaving_server() else { return };
    let mut server = server.to_json();
    server["expose"] = json!(true);
    server["timeoutMs"] = json!(100);
    let mut served = serve(&json!({ "s": server }));
    for _ in 0..12 {
        let failed = served.call("s__fail", json!({}));
        assert_eq!(failed["result"]["isError"], true, "{failed}");
        let refused = served.call("s__refuse", json!({}));
        assert!(refused["error"].is_object(), "{refused}");
    }
    for _ in 0..5 {
        let late = served.call("s__hang", json!({}))["error"].to_string();
        assert!(late.contains("100 ms"), "{late}");
    }
    let left_alone = served.call("s__echo", json!({}))["error"].to_string();
    assert!(left_alone.contains("left alone"), "{left_alone}");
}

#[test]
fn dying_in_every_call_opens_the_circuit_too() {
    let Some(server) = environment::misbehaving_server() else { return };
    let log = Log::new();
    let mut server = server.arg("--starts").arg(log.argument()).to_json();
    server["expose"] = json!(true);
    let mut served = serve(&json!({ "s": server }));
    // The gateway looks at its tools after every start, which it answers.
    served.tool_names();
    let mut began = Instant::now();
    let mut pauses = Vec::new();
    for _ in 0..5 {
        let dead = served.call("s__die", json!({}))["error"].to_string();
        assert!(dead.contains("the process ended"), "{dead}");
        pauses.push(began.elapsed());
        began = Instant::now();
    }
    assert!(pauses[4] >= Duration::from_millis(1900), "{pauses:?}");
    let left_alone = served.call("s__echo", json!({}))["error"].to_string();
    assert!(left_alone.contains("it failed 5 times in a row"), "{left_alone}");
    assert_eq!(log.lines().len(), 5);
}
