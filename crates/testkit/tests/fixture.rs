//! The harness tried on itself: the conformance suite and every client against the fixture server,
//! and every server script called by a client. What fails here is not a fault of the product.

use mcpgraph_testkit::{
    Call, Environment, HttpServer, Program, Sdk, clients::Mode, conformance, environment,
};
use serde_json::{Value, json};

fn fixture_over_http() -> HttpServer {
    let fixture = Program::new(env!("CARGO_BIN_EXE_fixture-server"));
    HttpServer::start(|port| fixture.arg("--http").arg(format!("127.0.0.1:{port}")))
}

#[test]
fn the_fixture_server_passes_the_suite_of_2025_11_25() {
    let Some(environment) = Environment::find() else { return };
    let server = fixture_over_http();
    let totals = conformance::run(&environment, &server.url("/mcp"), "2025-11-25");
    assert_eq!((totals.passed, totals.failed), (83, 0));
}

#[test]
fn the_fixture_server_passes_the_suite_of_2026_07_28() {
    let Some(environment) = Environment::find() else { return };
    let server = fixture_over_http();
    let totals = conformance::run(&environment, &server.url("/mcp"), "2026-07-28");
    assert_eq!((totals.passed, totals.failed), (197, 0));
}

#[test]
fn every_client_can_call_the_fixture_server() {
    let Some(environment) = Environment::find() else { return };
    let over_http = fixture_over_http();
    let over_stdio = Program::new(env!("CARGO_BIN_EXE_fixture-server"));
    let calls =
        [Call::new("greet", json!({"name": "you"})), Call::new("test_error_handling", json!({}))];
    for server in [over_stdio.to_json(), over_http.to_json()] {
        for sdk in Sdk::ALL {
            let report = sdk.run(&environment, &server, &calls);
            assert_eq!(report.version, sdk.expected_version(), "{sdk:?} {server}");
            assert!(report.tool_names().contains(&"greet"), "{sdk:?} {server}");
            assert_eq!(report.results[0]["content"][0]["text"], "Hello, you!", "{sdk:?} {server}");
            assert_eq!(report.results[1]["isError"], true, "{sdk:?} {server}");
        }
    }
}

#[test]
fn every_server_script_can_be_called() {
    let Some(environment) = Environment::find() else { return };
    let scripts = [
        environment.node_script("servers/ts-v1.mjs"),
        environment.node_script("servers/ts-v2.mjs"),
        environment.python_script("servers/python_server.py"),
    ];
    for script in scripts {
        let over_http = HttpServer::start(|port| script.clone().arg("http").arg(port.to_string()));
        for server in [script.clone().arg("stdio").to_json(), over_http.to_json()] {
            check_tools(&environment, &server);
        }
    }
}

fn check_tools(environment: &Environment, server: &Value) {
    let calls = [
        Call::new("add", json!({"a": 2, "b": 3})),
        Call::new("echo", json!({"text": "hello"})),
        Call::new("fail", json!({})),
    ];
    let report = Sdk::Python(Mode::Auto).run(environment, server, &calls);
    assert_eq!(report.results[0]["structuredContent"]["sum"].as_f64(), Some(5.0), "{server}");
    assert_eq!(report.results[1]["content"][0]["text"], "hello", "{server}");
    assert_eq!(report.results[2]["isError"], true, "{server}");
}

#[test]
fn the_fixture_server_is_found_beside_the_tests() {
    assert!(environment::fixture_server().is_some());
}
