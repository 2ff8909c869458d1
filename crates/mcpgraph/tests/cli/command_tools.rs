//! Command tools, served to clients: the flows of an EdgeLake `tools.yaml`, real programs, real
//! databases, a real HTTP server.

mod edgelake;
mod local;
mod postgres;
mod programs;
mod seen;

use serde_json::{Value, json};

use crate::product::{Era, Served};

/// The text of a result.
fn text(result: &Value) -> String {
    result["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// What a tool gives; it does not fail.
fn called(served: &mut Served, tool: &str, arguments: Value) -> Value {
    let result = served.call(tool, arguments);
    assert!(result["result"]["isError"] != true, "{result}");
    serde_json::from_str(&text(&result)).unwrap_or_else(|_| Value::from(text(&result)))
}

/// What a tool says that fails, and its code.
fn failed(served: &mut Served, tool: &str, arguments: Value) -> (String, String) {
    let result = served.call(tool, arguments);
    assert_eq!(result["result"]["isError"], true, "{result}");
    let code = &result["result"]["_meta"]["mcpgraph/error"]["code"];
    (text(&result), code.as_str().unwrap().to_owned())
}

fn serve(text: &str) -> Served {
    Served::text(text, Era::Modern)
}

/// Tools that change the table `items` of a database; `backend` is the beginning of its definition.
fn shop_keeping(backend: &str) -> String {
    format!(
        r#"
backend: {{ {backend}, write: true }} }}
tools:
  - name: add
    command: {{ template: "INSERT INTO items (id, name) VALUES ({{id}}, {{name}}) RETURNING id, name" }}
  - name: rename
    command: {{ template: "UPDATE items SET name = {{name}} WHERE id = {{id}} RETURNING *" }}
  - name: remove
    command: {{ template: "DELETE FROM items WHERE id = {{id}}" }}
  - name: flood
    command: {{ template: "UPDATE items SET name = {{name}} RETURNING *", max_output_bytes: 10 }}
  - name: names
    command: {{ template: "SELECT name FROM items ORDER BY id", response_parser: {{ extract_path: "$[*].name" }} }}
  - name: query
    command: {{ build_sql: true, allow_union: true }}
  - name: careful
    command: {{ build_sql: true }}
  - name: no_table
    command: {{ template: "SELECT * FROM nowhere" }}
"#
    )
}

/// What these tools do is the same in every database.
fn keep_shop(served: &mut Served) {
    let tea = json!([{"id": 1, "name": "tea"}]);
    assert_eq!(called(served, "add", json!({"id": 1, "name": "tea"})), tea);
    called(served, "add", json!({"id": 2, "name": "'); DROP TABLE items; --"}));
    let renamed = called(served, "rename", json!({"id": 2, "name": "cup"}));
    assert_eq!(renamed, json!([{"id": 2, "name": "cup", "price": null}]));
    assert_eq!(called(served, "rename", json!({"id": 7, "name": "x"})), json!([]));
    assert_eq!(failed(served, "no_table", json!({})).1, "MG0421");
    // An answer that is too large is no answer, and then nothing has changed.
    let (said, code) = failed(served, "flood", json!({"name": "water"}));
    assert!(said.contains("max_output_bytes (10)"), "{said}");
    assert_eq!(code, "MG0422");
    assert_eq!(called(served, "names", json!({})), json!(["tea", "cup"]));

    // A UNION is part of the statement where it is allowed, and the limit is that of the whole.
    let both = json!({
        "table": "items", "select": ["name"], "order_by": "name desc", "limit": 2,
        "where": "id = 1 UNION ALL SELECT name FROM items WHERE id = 2 UNION SELECT 'a'",
    });
    let found = called(served, "query", both.clone());
    assert_eq!(found, json!([{"name": "tea"}, {"name": "cup"}]));
    let (said, code) = failed(served, "careful", both);
    assert!(said.contains("allow_union") && said.contains("id = 1 ⟨here⟩UNION"), "{said}");
    assert_eq!(code, "MG0420");
    for behind in ["id = 1 UNION", "id = 1 UNION SELECT 1 LIMIT 5", "id = 1 UNION SELECT 1; x"] {
        let arguments = json!({"table": "items", "select": ["name"], "where": behind});
        assert_eq!(failed(served, "query", arguments).1, "MG0420", "{behind}");
    }

    assert_eq!(called(served, "remove", json!({"id": 1})), json!({"rowsChanged": 1}));
    assert_eq!(called(served, "names", json!({})), json!(["cup"]));
}
