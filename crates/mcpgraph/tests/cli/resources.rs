//! Resources of an exposed server.

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use crate::access::{World, ask};
use crate::product::{Era, Served, eventually};

#[test]
fn only_a_resource_that_somebody_has_can_be_watched() {
    let Some(fixture) = environment::fixture_server() else { return };
    let mut server = fixture.to_json();
    server["expose"] = json!(true);
    let graph = json!({
        "version": "1.0",
        "server": {"name": "watching", "version": "1"},
        "mcpServers": {"fixture": server},
        "tools": [],
    });
    let mut served = Served::text(&graph.to_string(), Era::Legacy);
    let mut ask = |method: &str, uri: &str| -> Value {
        let answer = served.request(method, json!({"uri": uri}));
        answer.get("error").map_or(Value::Null, |error| error["code"].clone())
    };
    for (uri, expected) in [
        ("test://watched-resource", Value::Null),
        ("test://template/7/data", Value::Null),
        ("test://template/7/dates", json!(-32002)),
        ("test://nothing", json!(-32002)),
    ] {
        assert_eq!(ask("resources/subscribe", uri), expected, "{uri}");
        // Nobody has to have what is no longer wanted.
        assert_eq!(ask("resources/unsubscribe", uri), Value::Null, "{uri}");
    }
}

/// The fixture server under two names.
fn two_fixtures(expose: &Value) -> Option<Value> {
    let mut server = environment::fixture_server()?.to_json();
    server["expose"] = expose.clone();
    Some(json!({ "first": server, "second": server }))
}

#[test]
fn of_several_with_one_uri_or_name_the_first_is_offered_and_the_others_are_told_of() {
    let Some(servers) = two_fixtures(&json!({ "prefix": "none" })) else { return };
    let graph = json!({
        "version": "1.0",
        "server": {"name": "colliding", "version": "1"},
        "mcpServers": servers,
        "tools": [],
    });
    let mut served = Served::text(&graph.to_string(), Era::Legacy);
    for (method, member, key, some) in [
        ("resources/list", "resources", "uri", "test://static-text"),
        (
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
            "test://template/{id}/data",
        ),
        ("prompts/list", "prompts", "name", "test_simple_prompt"),
    ] {
        for _ in 0..2 {
            let answer = served.request(method, json!({}));
            let items = answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(items.iter().filter(|item| item[key] == some).count(), 1, "{method}");
        }
        let log = served.stderr();
        let told = log.lines().filter(|line| line.contains("MG0600") && line.contains(some));
        let told: Vec<&str> = told.collect();
        assert!(told.len() == 1 && told[0].contains("second"), "{method}: {told:?}");
    }
}

#[test]
fn a_token_reads_what_it_is_shown() {
    let Some(servers) = two_fixtures(&json!(true)) else { return };
    let world = World::of(&json!([]), &servers);
    let all = world.add("all", &[]);
    // Of two servers that have it, and of one.
    let some = world.add("some", &["--servers", "second,two"]);
    let one = world.add("one", &["--servers", "second"]);
    let server = world.serve();
    for uri in ["test://static-text", "test://template/7/data"] {
        for (token, wanted) in [(&all, "first"), (&some, "second"), (&one, "second")] {
            let listed = ask(&server, token, "resources/list", json!({})).1;
            let resources = listed["result"]["resources"].as_array().unwrap();
            let shown = resources.iter().filter(|item| item["uri"] == "test://static-text");
            assert_eq!(shown.count(), 1, "{listed}");
            let read = ask(&server, token, "resources/read", json!({ "uri": uri })).1;
            assert_eq!(read["result"]["contents"][0]["uri"], uri, "{read}");
            eventually("the request is in the log", || {
                let log = world.run(&["requests", "--json", "--method", "resources/read"]);
                let log: Value = serde_json::from_slice(&log.stdout).unwrap();
                log["requests"][0]["server"] == wanted && log["requests"][0]["name"] == uri
            });
        }
    }
}
