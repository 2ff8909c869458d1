//! Servers that are dead, hang or lie, beside one that is well.

use std::time::{Duration, Instant};

use mcpgraph_testkit::{Program, environment};
use serde_json::{Value, json};

use super::{demo, graph};
use crate::access::{World, ask};
use crate::product::{Era, Served};

/// How long a list may take, whatever servers do: 10 s, and a machine that has much to do.
const BOUND: Duration = Duration::from_secs(25);

/// The misbehaving server with these options.
fn misbehaving(server: &Program, arguments: &[&str]) -> Value {
    let mut server = arguments.iter().fold(server.clone(), Program::arg).to_json();
    server["expose"] = json!(true);
    server
}

#[test]
fn a_list_is_complete_but_for_them_and_names_them() {
    let Some(server) = environment::misbehaving_server() else { return };
    let bad = |arguments: &[&str]| misbehaving(&server, arguments);
    let servers = json!({
        "nowhere": { "command": "/nonexistent/server", "expose": true },
        "dead": bad(&["--broken", "3"]),
        "dies": bad(&["--on-list", "exit"]),
        "mute": bad(&["--on-initialize", "hang", "--on-discover", "hang"]),
        "hangs": bad(&["--on-list", "hang"]),
        "lies": bad(&["--on-list", "garbage"]),
        "broken": bad(&["--on-list", "noise"]),
        "huge": bad(&["--on-list", "huge"]),
        "well": demo(&json!(true)),
    });
    let alone = {
        let servers = json!({ "well": demo(&json!(true)) });
        Served::text(&graph(&servers, &json!({})), Era::Legacy).tool_names()
    };
    for era in Era::BOTH {
        let mut served = Served::text(&graph(&servers, &json!({})), era);
        // Who was late is not waited for as long again.
        for bound in [BOUND, BOUND / 3] {
            let began = Instant::now();
            let answer = served.request("tools/list", json!({}));
            assert!(began.elapsed() < bound, "{:?}", began.elapsed());
            let result = &answer["result"];
            let tools = result["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
            let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
            assert_eq!(names, alone);
            let missing = result["_meta"]["mcpgraph/leftOut"].as_array().unwrap();
            let servers: Vec<&Value> = missing.iter().map(|missing| &missing["server"]).collect();
            let wanted = ["nowhere", "dead", "dies", "mute", "hangs", "lies", "broken", "huge"];
            assert_eq!(servers, wanted, "{missing:?}");
            assert!(missing.iter().all(|missing| missing["error"].is_string()), "{missing:?}");
        }
        // Who is well can be called meanwhile, at once.
        let began = Instant::now();
        let answer = served.call("well__echo", json!({ "value": "fine" }));
        assert_eq!(answer["result"]["content"][0]["text"], "fine", "{answer}");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn what_they_tell_of_their_secrets_goes_nowhere() {
    let Some(server) = environment::misbehaving_server() else { return };
    let secret = "s3cret-of-a-server-77d0";
    let blabbing = |step: &str| {
        let mut server = misbehaving(&server, &[step, "blab"]);
        server["env"] = json!({ "SECRET": secret });
        server
    };
    let servers = json!({ "starts": blabbing("--on-initialize"), "lists": blabbing("--on-list") });
    let mut served = Served::text(&graph(&servers, &json!({})), Era::Legacy);
    let answer = served.request("tools/list", json!({}));
    let missing = answer["result"]["_meta"]["mcpgraph/leftOut"].to_string();
    assert_eq!(missing.matches("no entry with [hidden]").count(), 2, "{missing}");
    let logged = served.stderr();
    assert!(logged.contains("no entry with [hidden]"), "{logged}");
    assert!(!missing.contains(secret) && !logged.contains(secret), "{missing} {logged}");
}

#[test]
fn what_is_no_tool_is_told_of() {
    let Some(server) = environment::misbehaving_server() else { return };
    let servers = json!({ "odd": misbehaving(&server, &["--on-list", "odd"]) });
    let mut served = Served::text(&graph(&servers, &json!({})), Era::Legacy);
    assert_eq!(served.tool_names(), ["odd__fine"]);
    let logged = served.stderr();
    assert!(logged.contains("left out of `tools/list`") && logged.contains("count=4"), "{logged}");
}

/// One that hangs costs time once, and only those who may see it.
#[test]
fn who_hangs_holds_up_nobody_for_long() {
    let Some(server) = environment::misbehaving_server() else { return };
    let Some(fixture) = environment::fixture_server() else { return };
    let mut well = fixture.to_json();
    well["expose"] = json!(true);
    let world = World::of(
        &json!([]),
        &json!({
            "s": well,
            "mute": misbehaving(&server, &["--on-initialize", "hang", "--on-discover", "hang"]),
        }),
    );
    let all = world.add("all", &[]);
    let some = world.add("some", &["--servers", "s,two"]);
    let server = world.serve();
    let uri = |uri: &str| json!({ "uri": uri });
    let timed = |token: &str, method: &str, params: Value| {
        let began = Instant::now();
        // An answer that takes long comes as a stream, which is not read here.
        let (status, answer) = ask(&server, token, method, params);
        assert!(status == 200 && answer["error"]["code"] != -32020, "{status} {answer}");
        began.elapsed()
    };
    let soon = Duration::from_secs(8);
    // Who may not see it never waits for it.
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/read", uri("test://static-text")),
        ("resources/read", uri("test://nothing")),
        ("tools/call", json!({ "name": "mute__echo" })),
        ("tools/call", json!({ "name": "nobody__echo" })),
    ] {
        let took = timed(&some, method, params);
        assert!(took < soon, "{method}: {took:?}");
    }
    // What stands before it is found without it, and what nobody can have is not looked for.
    for (method, params) in [
        ("resources/read", uri("test://static-text")),
        ("tools/call", json!({ "name": "nobody__echo" })),
    ] {
        let took = timed(&all, method, params);
        assert!(took < soon, "{method}: {took:?}");
    }
    // Who may see it waits for it once.
    timed(&all, "server/discover", json!({}));
    for method in ["server/discover", "tools/list", "resources/list"] {
        let took = timed(&all, method, json!({}));
        assert!(took < soon, "{method}: {took:?}");
    }
    let took = timed(&all, "resources/read", uri("test://template/7/data"));
    assert!(took < soon, "{took:?}");
}
