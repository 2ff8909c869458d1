//! An EdgeLake `tools.yaml` as it is, against a stand-in node.

use std::fs;

use mcpgraph_testkit::EdgeLakeNode;
use serde_json::json;

use super::{called, failed, serve, text};
use crate::product::{Era, Served, beside, command};

fn tools(node: &EdgeLakeNode) -> String {
    let text = fs::read_to_string(beside("graphs/edgelake-tools.yaml")).unwrap();
    format!("backend: {{ edgelake: {{ url: \"{}\" }} }}\n{text}", node.url())
}

#[test]
fn a_tool_without_a_parser_gives_the_nodes_own_text() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    assert_eq!(called(&mut served, "node_status", json!({})), "AnyLog@127.0.0.1:32548 running");
    let asked = node.asked().remove(0);
    assert_eq!((&*asked.line, &*asked.command), ("GET / HTTP/1.1", "get status"));
    assert_eq!((&*asked.user_agent, asked.destination), ("AnyLog/1.23", None));
}

#[test]
fn databases_are_extracted_once_each_and_sorted() {
    let node = EdgeLakeNode::start();
    for era in Era::BOTH {
        let mut served = Served::text(&tools(&node), era);
        let result = served.call("list_databases", json!({}));
        assert_eq!(text(&result), r#"["new_company","test"]"#);
        // The list is structured as well: wrapped where the protocol wants objects.
        let structured = &result["result"]["structuredContent"];
        match era {
            Era::Legacy => assert_eq!(*structured, json!({"result": ["new_company", "test"]})),
            Era::Modern => assert_eq!(*structured, json!(["new_company", "test"])),
        }
    }
}

#[test]
fn tables_are_filtered_by_an_argument_and_mapped() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    let found = called(&mut served, "list_tables", json!({"database": "new_company"}));
    assert_eq!(found, json!(["rand_data", "ping_sensor"]));
    assert_eq!(called(&mut served, "list_tables", json!({"database": "none"})), json!([]));
}

#[test]
fn a_query_is_built_and_sent_to_the_network() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    let rows = called(
        &mut served,
        "query",
        json!({"database": "new_company", "table": "rand_data", "limit": 10}),
    );
    assert_eq!(rows, json!([{"row_id": 1, "value": "a"}, {"row_id": 2, "value": "b"}]));
    let all = json!({
        "database": "d", "table": "t", "select": ["name", "count(*) as n"],
        "where": "is_active = true AND age > 18", "group_by": ["name"],
        "order_by": [{"column": "n", "direction": "desc"}, "name"],
        "include_tables": ["u"], "extend_fields": ["+ip", "@table_name as table"],
    });
    called(&mut served, "query", all);
    // No rows, no key for them: the list is empty.
    let none = called(&mut served, "query", json!({"database": "d", "table": "empty"}));
    assert_eq!(none, json!([]));
    let commands: Vec<_> =
        node.asked().into_iter().map(|asked| (asked.command, asked.destination)).collect();
    let network = Some("network".to_owned());
    assert_eq!(
        commands,
        [
            ("sql new_company format = json \"SELECT * FROM rand_data LIMIT 10\"", network.clone()),
            (
                "sql d format = json and include = (u) and extend = (+ip, @table_name as table) \
                 \"SELECT name, count(*) AS n FROM t WHERE is_active = true AND age > 18 \
                 GROUP BY name ORDER BY n DESC, name LIMIT 100\"",
                network.clone()
            ),
            ("sql d format = json \"SELECT * FROM empty LIMIT 100\"", network),
        ]
        .map(|(command, destination)| (command.to_owned(), destination))
    );
}

#[test]
fn values_in_a_statement_are_literals_and_names() {
    let node = EdgeLakeNode::start();
    let template = "sql {database} format = json \"SELECT {id:column} FROM {table} \
                    WHERE place = {place} AND note = '{note}' AND n > -{n} LIMIT {limit}\"";
    let mut served = serve(
        &json!({
            "backend": { "edgelake": { "url": node.url() } },
            "tools": [{ "name": "readings", "edgelake_command": { "type": "sql", "template": template } }]
        })
        .to_string(),
    );
    let arguments = json!({
        "database": "d", "column": "value", "table": "rand_data", "place": "1 OR 1=1",
        "note": "x) --", "n": -5, "limit": 3,
    });
    called(&mut served, "readings", arguments.clone());
    assert_eq!(
        node.asked().last().unwrap().command,
        "sql d format = json \"SELECT value FROM rand_data \
         WHERE place = '1 OR 1=1' AND note = 'x) --' AND n > -(-5) LIMIT 3\""
    );
    for (name, value) in [
        ("table", "rand_data, secrets"),
        ("table", "current_user"),
        ("place", "it's"),
        ("column", "value FROM secrets"),
        ("database", "d and format = table"),
    ] {
        let mut hostile = arguments.clone();
        hostile[name] = json!(value);
        let (said, code) = failed(&mut served, "readings", hostile);
        assert_eq!(code, "MG0420", "{name}: {said}");
    }
}

#[test]
fn templates_are_chosen_by_the_arguments_that_are_there() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    for (arguments, expected) in [
        (json!({"policy_type": "operator"}), "blockchain get operator"),
        (
            json!({"policy_type": "operator", "name": "node 1"}),
            "blockchain get operator where name = \"node 1\"",
        ),
        (
            json!({"policy_type": "operator", "name": "n", "company": "c"}),
            "blockchain get operator where name = \"n\" and company = \"c\"",
        ),
    ] {
        called(&mut served, "blockchain_get", arguments);
        assert_eq!(node.asked().last().unwrap().command, expected);
    }
    let (said, code) =
        failed(&mut served, "blockchain_get", json!({"policy_type": "x\" and y = \""}));
    assert_eq!(code, "MG0420", "{said}");
    assert!(said.contains("policy_type"), "{said}");
}

#[test]
fn run_client_is_never_sent_and_noise_is_removed() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    assert_eq!(called(&mut served, "old_network_query", json!({})), json!({"cpu": 3}));
    let asked = node.asked().remove(0);
    assert_eq!((&*asked.command, asked.destination.as_deref()), ("get noisy", Some("network")));
}

#[test]
fn each_of_the_four_errors_is_told_in_the_nodes_own_words() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    for (how, words) in [
        ("reason", "Wrong DBMS Name or DBMS not connected: no such database (err_code 5)"),
        ("body", "Wrong HTTP method used (err_code 156)"),
        ("ok", "No network members (err_code 45)"),
        ("truncated", "the node broke off its answer: {\"Query\":[{\"a\": 1}"),
    ] {
        let (said, code) = failed(&mut served, "failing", json!({"how": how}));
        assert!(said.contains(words), "{how}: {said}");
        assert!(said.contains("edgelake") && said.contains("tool `failing`"), "{said}");
        assert_eq!(code, "MG0421");
    }
}

#[test]
fn the_server_tells_about_itself_without_the_node() {
    let node = EdgeLakeNode::start();
    let mut served = serve(&tools(&node));
    let about = called(&mut served, "server_info", json!({}));
    assert_eq!(about["tools"][0], "node_status");
    assert_eq!(node.asked(), []);
}

#[test]
fn the_node_can_be_named_on_the_command_line() {
    let node = EdgeLakeNode::start();
    let path = beside("graphs/edgelake-tools.yaml");
    let without = command().args(["check".as_ref(), path.as_os_str()]).output().unwrap();
    let said = String::from_utf8_lossy(&without.stdout).into_owned();
    assert_eq!(without.status.code(), Some(1), "{said}");
    assert!(said.contains("MG0144") && said.contains("--edgelake"), "{said}");
    let mut run = command();
    run.args(["run", "list_databases", "-g"]).arg(&path).args(["--edgelake", &node.url()]);
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, json!(["new_company", "test"]));
}
