//! The log of requests, written by a server and read by its operator.

use serde_json::{Value, json};

use crate::access::{World, ask, call};
use crate::http::Listening;
use crate::product::eventually;

/// What `mcpgraph requests` lists.
fn listed(world: &World, options: &[&str]) -> Vec<Value> {
    let output = world.run(&[&["requests", "--json"], options].concat());
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    document["requests"].as_array().unwrap().clone()
}

fn names(world: &World, options: &[&str]) -> Vec<String> {
    let name = |request: &Value| request["name"].as_str().unwrap_or("-").to_owned();
    listed(world, options).iter().map(name).collect()
}

/// A server that was asked a few things by two tokens.
fn asked() -> (World, Listening, String) {
    let world = World::new();
    let (all, ci) = (world.add("all", &[]), world.add("ci", &["--servers", "one"]));
    let server = world.serve();
    assert!(call(&server, &all, "own")["result"].is_object());
    assert!(call(&server, &ci, "one__echo")["result"].is_object());
    assert!(call(&server, &ci, "two__echo")["error"].is_object());
    let wrong = json!({ "name": "one__read_file", "arguments": { "path": "/no/such/file" } });
    assert_eq!(ask(&server, &ci, "tools/call", wrong).1["result"]["isError"], true);
    assert_eq!(ask(&server, &all, "tools/list", json!({})).0, 200);
    eventually("the requests are in the log", || listed(&world, &[]).len() == 5);
    (world, server, all)
}

#[test]
fn requests_are_found_by_everything_that_is_known_of_them() {
    let (world, _server, _) = asked();
    for (options, wanted) in [
        (&["--token", "ci"][..], &["one__read_file", "two__echo", "one__echo"][..]),
        (&["--method", "tools/list"], &["-"]),
        (&["--tool", "*__echo"], &["two__echo", "one__echo"]),
        (&["--server", "one"], &["one__read_file", "one__echo"]),
        (&["--status", "tool-error"], &["one__read_file"]),
        (&["--status", "error"], &["two__echo"]),
        (&["--slower-than", "1h"], &[]),
        (&["--since", "1h", "--limit", "2"], &["-", "one__read_file"]),
        (&["--token", "nobody"], &[]),
    ] {
        assert_eq!(names(&world, options), wanted, "{options:?}");
    }
    let refused = &listed(&world, &["--status", "error"])[0];
    assert_eq!((&refused["code"], &refused["token"]["name"]), (&json!(-32602), &json!("ci")));
    assert_eq!(refused["server"], Value::Null, "what is not granted is not asked");
    // The run of a request can be looked at.
    let own = &listed(&world, &["--tool", "own"])[0];
    let shown = world.run(&["runs", "show", own["run"].as_str().unwrap()]);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("own"));
    let text = String::from_utf8(world.run(&["requests", "--token", "ci"]).stdout).unwrap();
    assert!(text.starts_with("TIME") && text.contains("error -32602"), "{text}");
    assert_eq!(world.run(&["requests", "--status", "fine"]).status.code(), Some(2));
}

#[test]
fn the_log_is_there_over_http() {
    let (world, server, all) = asked();
    let get = |path: &str| {
        let head =
            format!("GET {path} HTTP/1.1\r\n{}\r\nAuthorization: Bearer {all}", server.host());
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut server.send(&head, &json!({})), &mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str::<Value>(body).unwrap())
    };
    let (_, page) = get("/api/requests?token=ci&limit=2");
    assert_eq!(page["requests"], json!(listed(&world, &["--token", "ci", "--limit", "2"])));
    let (_, rest) = get(&format!("/api/requests?token=ci&limit=2&before={}", page["next"]));
    assert_eq!(rest["requests"][0]["name"], "one__echo");
    assert_eq!(rest["next"], Value::Null);
    let (head, problem) = get("/api/requests?status=fine");
    assert!(head.contains("400") && problem.to_string().contains("tool-error"), "{problem}");
}

#[test]
fn a_store_without_anything_has_no_requests() {
    let world = World::new();
    let said = String::from_utf8(world.run(&["requests"]).stderr).unwrap();
    assert!(said.contains("there are no requests in") && !said.contains("no runs"), "{said}");
}
