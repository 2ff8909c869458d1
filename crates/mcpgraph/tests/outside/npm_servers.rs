//! Graphs that call real servers from npm.

use std::fs;

use mcpgraph_testkit::{Environment, StdioClient};
use serde_json::json;

use crate::product::Product;

/// The example of the specification, as it is there except for the place of the server.
#[test]
fn count_files_counts_with_the_real_server() {
    let Some(environment) = Environment::find() else { return };
    let product = Product::new("count_files.yaml");
    let folder = tempfile::tempdir().unwrap();
    for name in ["one.txt", "two.txt", "three.txt"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    // The server compares paths without symbolic links.
    let folder = folder.path().canonicalize().unwrap();
    let server = environment.package("@modelcontextprotocol/server-filesystem/dist/index.js");
    let server = server.to_json();
    let program = product
        .over_stdio()
        .env("NODE", server["command"].as_str().unwrap())
        .env("SERVER_FILESYSTEM", server["args"][0].as_str().unwrap())
        .env("COUNTED_DIRECTORY", &folder);
    let mut client = StdioClient::connect(&program);

    let counted = client.call_tool("count_files", &json!({"directory": folder}));
    assert_eq!(counted["structuredContent"], json!({"count": 3}), "{counted}");

    let denied = client.call_tool("count_files", &json!({"directory": "/"}));
    assert_eq!(denied["isError"], true, "{denied}");
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Access denied"), "the server's words are kept: {denied}");
    assert!(text.contains("list_directory_node"), "the node is named: {denied}");

    client.close();
}

#[test]
fn every_kind_of_result_reaches_the_graph() {
    let Some(environment) = Environment::find() else { return };
    let server = environment.package("@modelcontextprotocol/server-everything/dist/index.js");
    let server = server.arg("stdio").to_json();
    let product = Product::with_server("everything.yaml", "everything", &server);
    let mut client = StdioClient::connect(&product.over_stdio());

    let seen = client.call_tool("look_around", &json!({"a": 2, "b": 3}));
    let expected = json!({
        "sum": "The sum of 2 and 3 is 5.",
        "weather": ["temperature", "conditions", "humidity"],
        "imageType": "image/png",
        "links": ["demo://resource/dynamic/blob/1", "demo://resource/dynamic/text/2"],
    });
    assert_eq!(seen["structuredContent"], expected, "{seen}");

    client.close();
}

/// The server tells of a resource every few seconds, to whom it was subscribed for.
#[test]
fn updates_of_a_watched_resource_reach_the_client() {
    let Some(environment) = Environment::find() else { return };
    let server = environment.package("@modelcontextprotocol/server-everything/dist/index.js");
    let mut server = server.arg("stdio").to_json();
    server["expose"] = json!({"prefix": "none"});
    let product = Product::with_server("graph.yaml", "everything", &server);
    let mut client = StdioClient::connect(&product.over_stdio());

    let resource = json!({"uri": "demo://resource/dynamic/text/1"});
    client.request("resources/subscribe", &resource);
    client.call_tool("toggle-subscriber-updates", &json!({}));
    let updated = loop {
        let message = client.receive();
        if message["method"] == "notifications/resources/updated" {
            break message;
        }
    };
    assert_eq!(updated["params"], resource);

    client.close();
}
