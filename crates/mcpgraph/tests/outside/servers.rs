//! The product as a client of servers written with the official SDKs.

use mcpgraph_testkit::{Environment, HttpServer, Program, StdioClient};
use serde_json::{Value, json};

use crate::product::Product;

#[test]
fn calls_a_server_on_typescript_1() {
    let Some(environment) = Environment::find() else { return };
    check_both_transports(&environment.node_script("servers/ts-v1.mjs"));
}

#[test]
fn calls_a_server_on_typescript_2() {
    let Some(environment) = Environment::find() else { return };
    check_both_transports(&environment.node_script("servers/ts-v2.mjs"));
}

#[test]
fn calls_a_server_on_python() {
    let Some(environment) = Environment::find() else { return };
    check_both_transports(&environment.python_script("servers/python_server.py"));
}

#[test]
fn calls_a_server_that_speaks_only_http_with_server_sent_events() {
    let Some(environment) = Environment::find() else { return };
    let script = environment.python_script("servers/python_server.py");
    let server = HttpServer::start(|port| script.arg("sse").arg(port.to_string()));
    check(&json!({"type": "sse", "url": server.url("/sse")}));
    // Without a type the transport is found out by trying.
    check(&json!({"url": server.url("/sse")}));
}

fn check_both_transports(script: &Program) {
    check(&script.clone().arg("stdio").to_json());
    let server = HttpServer::start(|port| script.clone().arg("http").arg(port.to_string()));
    check(&server.to_json());
}

fn check(server: &Value) {
    eprintln!("{server}");
    let product = Product::with_server("upstream.yaml", "calculator", server);
    let mut client = StdioClient::connect(&product.over_stdio());

    let said = client.call_tool("add_and_say", &json!({"a": 2, "b": 3}));
    assert_eq!(said["structuredContent"]["sum"].as_f64(), Some(5.0), "{said}");
    assert_eq!(said["structuredContent"]["said"], "the sum is 5", "{said}");

    let failed = client.call_tool("fail_upstream", &json!({}));
    assert_eq!(failed["isError"], true, "{failed}");
    let text = failed["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("failed on purpose"), "the upstream's words are kept: {failed}");

    client.close();
}
