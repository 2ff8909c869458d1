//! The official conformance suite against the product: some fixtures are graphs, the rest passes
//! through from the fixture server.

use mcpgraph_testkit::{Environment, HttpServer, Program, conformance, environment};
use serde_json::{Value, json};

use crate::product::Product;

/// The requirement sets, with the least number of checks that must pass in each. A few more apply
/// where an answer takes so long that it becomes a stream.
const REQUIREMENTS: [(&str, u32); 2] = [("2025-11-25", 80), ("2026-07-28", 196)];

/// The tools of `tests/interop/conformance.yaml`, which the fixture server leaves out.
const GRAPHS: [&str; 11] = [
    "test_simple_text",
    "test_error_handling",
    "json_schema_2020_12_tool",
    "test_custom_header",
    "greet",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multi_round",
    "confirm_delete",
    "multi_input",
];

#[test]
fn passes_the_suite_with_a_stdio_upstream() {
    let Some(fixture) = fixture() else { return };
    check(fixture.to_json());
}

#[test]
fn passes_the_suite_with_an_http_upstream() {
    let Some(fixture) = fixture() else { return };
    let fixture = HttpServer::start(|port| fixture.arg("--http").arg(format!("127.0.0.1:{port}")));
    check(fixture.to_json());
}

pub(crate) fn fixture() -> Option<Program> {
    let fixture = environment::fixture_server()?;
    Some(GRAPHS.iter().fold(fixture, |fixture, tool| fixture.arg("--without").arg(tool)))
}

fn check(mut upstream: Value) {
    let Some(environment) = Environment::find() else { return };
    upstream["expose"] = json!({"prefix": "none"});
    let product = Product::with_server("conformance.yaml", "fixture", &upstream);
    let server = product.over_http();
    passes(&environment, &server.url("/mcp"));
}

/// Holds what is at a URL to every requirement.
pub(crate) fn passes(environment: &Environment, url: &str) {
    for (version, checks) in REQUIREMENTS {
        let totals = conformance::run(environment, url, version);
        assert_eq!(totals.failed, 0, "{version}");
        assert!(totals.passed >= checks, "{version}: {totals:?}, not {checks}");
    }
}
