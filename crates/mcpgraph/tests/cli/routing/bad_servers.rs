//! Servers that are dead, hang or lie, beside one that is well.

use std::time::{Duration, Instant};

use mcpgraph_testkit::{Program, environment};
use serde_json::{Value, json};

use super::{demo, graph};
use crate::product::{Era, Served};

/// How long a list may take, whatever servers do: 10 s, and a machine that has much to do.
const BOUND: Duration = Duration::from_secs(25);

#[test]
fn a_list_is_complete_but_for_them_and_names_them() {
    let Some(server) = environment::misbehaving_server() else { return };
    let bad = |arguments: &[&str]| {
        let server = arguments.iter().fold(server.clone(), Program::arg);
        let mut server = server.to_json();
        server["expose"] = json!(true);
        server
    };
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
