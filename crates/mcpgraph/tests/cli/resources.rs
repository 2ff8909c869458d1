//! Resources of an exposed server.

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use crate::product::{Era, Served};

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
