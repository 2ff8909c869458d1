//! A real PostgreSQL.

use mcpgraph_testkit::PostgresServer;
use serde_json::json;

use super::{called, failed, serve};
use crate::product::{command, eventually};

#[test]
fn postgres_is_read_and_written_with_bound_parameters() {
    let Some(server) = PostgresServer::start() else { return };
    let url = server.url();
    let mut served = serve(&format!(
        r#"
backends:
  read: {{ postgres: {{ url: "{url}" }} }}
  write: {{ postgres: {{ url: "{url}", write: true }} }}
tools:
  - name: create
    command: {{ backend: write, template: "INSERT INTO pg_temp.x SELECT 1" }}
  - name: types
    command: {{ backend: read, template: "SELECT {{n}}::int AS n, {{f}}::numeric AS f, {{t}}::text AS t, {{d}}::date AS d, {{j}}::jsonb AS j, {{b}}::bool AS b, {{z}}::text AS z" }}
  - name: by_ids
    command: {{ backend: read, template: "SELECT g AS id FROM generate_series(1, 5) AS g WHERE g IN ({{ids}}) ORDER BY g" }}
  - name: tables
    command: {{ backend: read, build_sql: true, allow_functions: [] }}
  - name: sneaky
    command: {{ backend: read, template: "SELECT setval('s', 1)" }}
  - name: slow
    command: {{ backend: read, template: "SELECT pg_sleep(60)", timeout_ms: 300 }}
"#
    ));
    let given = json!({"n": 5, "f": 1.25, "t": "O'Reilly; --", "d": "2026-01-02", "j": {"a": [1]}, "b": true, "z": null});
    assert_eq!(called(&mut served, "types", given.clone()), json!([given]));
    let found = called(&mut served, "by_ids", json!({"ids": [4, 2]}));
    assert_eq!(found, json!([{"id": 2}, {"id": 4}]));
    let query = json!({
        "table": "information_schema.schemata", "select": ["schema_name", "count(*) AS n"],
        "where": "schema_name = 'information_schema'", "group_by": ["schema_name"],
        "order_by": "n desc",
    });
    let found = called(&mut served, "tables", query);
    assert_eq!(found, json!([{"schema_name": "information_schema", "n": 1}]));
    for hostile in
        ["pg_sleep(1) IS NULL", "1=1; SELECT 1", "exists (select 1)", "pg_read_file('x') = ''"]
    {
        let arguments = json!({"table": "information_schema.schemata", "where": hostile});
        assert_eq!(failed(&mut served, "tables", arguments).1, "MG0420", "{hostile}");
    }
    let (said, code) = failed(
        &mut served,
        "types",
        json!({"n": "x", "f": 1, "t": "", "d": "2026-01-01", "j": 1, "b": true, "z": null}),
    );
    assert!(said.contains("invalid input syntax") && said.contains("read (postgres)"), "{said}");
    assert_eq!(code, "MG0421");
    // Nothing is written through a backend that only reads, whatever the statement is.
    let (said, _) = failed(&mut served, "sneaky", json!({}));
    assert!(said.contains("does not exist") || said.contains("read-only"), "{said}");
    assert_eq!(failed(&mut served, "create", json!({})).1, "MG0421");
    assert_eq!(failed(&mut served, "slow", json!({})).1, "MG0405");
    // The connection is fit for use after all of that.
    assert_eq!(called(&mut served, "by_ids", json!({"ids": [1]})), json!([{"id": 1}]));
}

#[test]
fn changes_can_give_rows_and_are_undone_when_they_fail() {
    let Some(server) = PostgresServer::start() else { return };
    let mut served =
        serve(&super::shop_keeping(&format!("postgres: {{ url: \"{}\"", server.url())));
    super::keep_shop(&mut served);
}

#[test]
fn a_with_that_changes_data_needs_a_backend_that_writes() {
    let Some(server) = PostgresServer::start() else { return };
    let moved = "WITH gone AS (DELETE FROM items WHERE id = {id} RETURNING id, name) \
                 INSERT INTO items (id, name) SELECT id + 10, name FROM gone RETURNING id";
    let taken = "WITH gone AS (DELETE FROM items WHERE id = {id} RETURNING id) SELECT id FROM gone";
    let tools = |write: bool| {
        let tool =
            |name: &str, template: &str| json!({"name": name, "command": {"template": template}});
        json!({
            "backend": {"postgres": {"url": server.url(), "write": write}},
            "tools": [
                tool("add", "INSERT INTO items (id, name) VALUES ({id}, 'tea')"),
                tool("move", moved),
                tool("take", taken),
                tool("copy", "WITH old AS (SELECT name FROM items) INSERT INTO items (id, name) SELECT 7, name FROM old"),
                tool("ids", "SELECT id FROM items ORDER BY id"),
            ],
        })
        .to_string()
    };
    let mut served = serve(&tools(true));
    assert_eq!(called(&mut served, "add", json!({"id": 1})), json!({"rowsChanged": 1}));
    assert_eq!(called(&mut served, "move", json!({"id": 1})), json!([{"id": 11}]));
    assert_eq!(called(&mut served, "ids", json!({})), json!([{"id": 11}]));
    assert_eq!(called(&mut served, "copy", json!({})), json!({"rowsChanged": 1}));
    assert_eq!(called(&mut served, "take", json!({"id": 7})), json!([{"id": 7}]));
    assert_eq!(called(&mut served, "take", json!({"id": 11})), json!([{"id": 11}]));
    assert_eq!(called(&mut served, "ids", json!({})), json!([]));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.yaml");
    std::fs::write(&path, tools(false)).unwrap();
    let output = command().arg("check").arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.matches("MG0147").count(), 4, "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn connections_are_encrypted_and_checked_as_the_url_says() {
    let Some(server) = PostgresServer::start_with_tls() else { return };
    let (ours, other) = (server.url(), server.url_of("localhost"));
    let authority = server.authority().display().to_string();
    let tool = |url: &str| {
        let template = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        serve(
            &json!({
                "backend": { "postgres": { "url": url } },
                "tools": [{ "name": "encrypted", "command": { "template": template } }]
            })
            .to_string(),
        )
    };
    for (url, is_encrypted) in [
        (ours.clone(), true),
        (format!("{ours}?sslmode=disable"), false),
        (format!("{ours}?sslmode=require"), true),
        (format!("{ours}?sslmode=verify-full&sslrootcert={authority}"), true),
        (format!("{other}?sslmode=verify-ca&sslrootcert={authority}"), true),
    ] {
        let found = called(&mut tool(&url), "encrypted", json!({}));
        assert_eq!(found, json!([{ "ssl": is_encrypted }]), "{url}");
    }
    for (url, why) in [
        (format!("{ours}?sslmode=verify-full"), "UnknownIssuer"),
        (format!("{other}?sslmode=verify-full&sslrootcert={authority}"), "not valid for name"),
        (format!("{ours}?sslmode=verify-full&sslrootcert=/nowhere.pem"), "/nowhere.pem"),
        (format!("{ours}?sslmode=maybe"), "`sslmode` is"),
    ] {
        let (said, code) = failed(&mut tool(&url), "encrypted", json!({}));
        assert!(said.contains("cannot be reached") && said.contains(why), "{url}: {said}");
        assert_eq!(code, "MG0404");
    }
    let Some(plain) = PostgresServer::start() else { return };
    let url = format!("{}?sslmode=require", plain.url());
    let (said, _) = failed(&mut tool(&url), "encrypted", json!({}));
    assert!(said.contains("does not support TLS"), "{said}");
}

#[test]
fn a_reload_keeps_the_connections_of_backends_that_stay() {
    let Some(server) = PostgresServer::start() else { return };
    let text = |tools: &[&str]| {
        let tools: Vec<_> = tools
            .iter()
            .map(|name| {
                json!({ "name": name, "command": { "template": "SELECT pg_backend_pid() AS pid" } })
            })
            .collect();
        json!({ "backend": { "postgres": { "url": server.url() } }, "tools": tools }).to_string()
    };
    let mut served = serve(&text(&["who"]));
    let before = called(&mut served, "who", json!({}));
    assert_eq!(called(&mut served, "who", json!({})), before, "one connection after the other");
    served.edit(&text(&["who", "who_else"]));
    eventually("the new tool", || served.tool_names().len() == 2);
    assert_eq!(called(&mut served, "who_else", json!({})), before);
}

#[test]
fn a_database_that_is_not_there_is_said_to_be_so() {
    let mut served = serve(
        r#"
backend: { postgres: { url: "postgres://nobody@127.0.0.1:1/none" } }
tools: [{ name: one, command: { template: "SELECT 1 AS one" } }]
"#,
    );
    let (said, code) = failed(&mut served, "one", json!({}));
    assert!(said.contains("cannot be reached"), "{said}");
    assert_eq!(code, "MG0404");
}
