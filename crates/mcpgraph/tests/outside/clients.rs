//! Clients written with the official SDKs list and call graph tools.

use mcpgraph_testkit::{Call, Environment, Report, Sdk};
use serde_json::{Value, json};

use crate::product::Product;

#[test]
fn every_client_calls_graph_tools_over_stdio() {
    let Some(environment) = Environment::find() else { return };
    let product = Product::new("graph.yaml");
    check_every_client(&environment, &product.over_stdio().to_json());
}

#[test]
fn every_client_calls_graph_tools_over_http() {
    let Some(environment) = Environment::find() else { return };
    let product = Product::new("graph.yaml");
    let server = product.over_http();
    check_every_client(&environment, &server.to_json());
}

pub(crate) fn check_every_client(environment: &Environment, server: &Value) {
    let calls = [
        Call::new("divide", json!({"dividend": 47})),
        Call::new("greet", json!({"name": "you"})),
        Call::new("fail", json!({})),
        Call::new("divide", json!({"dividend": "many"})),
        Call::new("no_such_tool", json!({})),
    ];
    for sdk in Sdk::ALL {
        eprintln!("{sdk:?}");
        check(sdk, &sdk.run(environment, server, &calls));
    }
}

fn check(sdk: Sdk, report: &Report) {
    assert_eq!(report.version, sdk.expected_version());
    assert_eq!(report.tool_names(), ["divide", "greet", "fail"]);
    let divide = &report.tools[0];
    assert_eq!(divide["title"], "Divide");
    assert_eq!(divide["annotations"]["readOnlyHint"], true);
    assert_eq!(divide["inputSchema"]["properties"]["divisor"]["default"], 10);
    assert_eq!(divide["outputSchema"]["required"], json!(["quotient", "remainder"]));

    let [divided, greeted, failed, refused, unknown] = report.results.as_slice() else {
        panic!("five results: {report:?}")
    };
    let expected = json!({"quotient": 4, "remainder": 7});
    assert_eq!(divided["structuredContent"], expected);
    assert_eq!(serde_json::from_str::<Value>(text(divided)).unwrap(), expected);
    assert_ne!(divided["isError"], true);

    assert_eq!(text(greeted), "Hello, you!");
    assert!(greeted.get("structuredContent").is_none());

    assert_eq!(failed["isError"], true);
    assert!(text(failed).contains("failed on purpose"), "{failed}");
    assert!(text(failed).contains("give_up"), "the node is named: {failed}");

    assert_eq!(refused["isError"], true, "a model can act on a wrong argument: {refused}");
    assert!(text(refused).contains("dividend"), "{refused}");

    assert_eq!(unknown["protocolError"]["code"], -32602, "{unknown}");
}

/// The text of a result's only item.
fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    result["content"][0]["text"].as_str().unwrap()
}
