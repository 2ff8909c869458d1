//! The demo server keeps to the schemas it shows.

use mcpgraph_testkit::StdioClient;
use serde_json::json;

use crate::product::command;

#[test]
fn arguments_that_do_not_fit_are_errors_a_model_can_act_on() {
    let mut command = command();
    command.arg("demo-server");
    let mut client = StdioClient::start(command);
    client.initialize();
    for (tool, arguments, said) in [
        ("echo", json!({}), "`value` is missing"),
        ("list_directory", json!({}), "`path` is missing"),
        ("list_directory", json!({"path": 5}), "`path` must be a text, not 5"),
        ("read_file", json!({"path": null}), "`path` must be a text, not null"),
        (
            "list_orders",
            json!({"status": "zz"}),
            "`status` must be one of pending, paid, shipped, cancelled, not `zz`",
        ),
        ("get_order", json!({"id": ["A-100"]}), "`id` must be a text, not [\"A-100\"]"),
        ("set_order_status", json!({"id": "A-100"}), "`status` is missing"),
        ("slow", json!({"ms": "x"}), "`ms` must be a whole number from 0 to 600000, not \"x\""),
        ("slow", json!({"steps": 0}), "`steps` must be a whole number from 1 to 1000, not 0"),
        ("fail", json!({"message": 1}), "`message` must be a text, not 1"),
    ] {
        let result = client.call_tool(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert_eq!(result["content"][0]["text"], said, "{tool} {arguments}");
    }
    let nothing = client.call_tool("echo", &json!({"value": null}));
    assert_eq!(nothing["content"][0]["text"], "null", "{nothing}");
    let paid = client.call_tool("list_orders", &json!({"status": "paid"}));
    assert_eq!(paid["structuredContent"]["orders"][0]["id"], "A-101", "{paid}");
}
