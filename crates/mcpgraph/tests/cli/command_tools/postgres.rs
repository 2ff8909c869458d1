//! A real PostgreSQL.

use mcpgraph_testkit::PostgresServer;
use serde_json::json;

use super::{called, failed, serve};

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
