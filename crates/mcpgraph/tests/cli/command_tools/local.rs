//! Programs, SQLite and HTTP on this machine.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{called, failed, serve};
use crate::product::{command, repository};

#[test]
fn programs_are_run_without_a_shell() {
    let mut served = serve(
        r#"
backend: { process: { env: { GREETING: hello } } }
tools:
  - name: say
    command: { argv: [printf, "%s|%s", "{what}", "$GREETING; id"] }
    inputSchema: { type: object, properties: { what: { type: string } }, required: [what] }
  - name: env
    command: { argv: [sh, -c, "echo $GREETING $HOME $CARGO_MANIFEST_DIR"] }
  - name: read
    command: { argv: [wc, -c], stdin: "{text}" }
    inputSchema: { type: object, properties: { text: { type: string } } }
  - name: code
    command: { argv: [sh, -c, "echo '{{\"code\": 3}}'; echo oh >&2; exit 3"], success_codes: [0, 3] }
  - name: fail
    command: { argv: [sh, -c, "echo no such thing >&2; exit 4"] }
  - name: missing
    command: { argv: [there-is-no-such-program] }
  - name: large
    command: { argv: [sh, -c, "yes | head -c 100000"], max_output_bytes: 1000 }
"#,
    );
    let hostile = "$(id) `id` ; rm -rf / | cat > x";
    assert_eq!(
        called(&mut served, "say", json!({"what": hostile})),
        format!("{hostile}|$GREETING; id")
    );
    let said = called(&mut served, "env", json!({}));
    assert!(said.as_str().unwrap().starts_with("hello /"), "{said}");
    assert!(!said.as_str().unwrap().contains("mcpgraph/"), "our environment is ours: {said}");
    assert_eq!(called(&mut served, "read", json!({"text": "a\nb\n"})), 4);
    assert_eq!(called(&mut served, "code", json!({})), json!({"code": 3}));
    let (said, code) = failed(&mut served, "fail", json!({}));
    assert!(said.contains("`sh` ended with code 4: no such thing"), "{said}");
    assert_eq!(code, "MG0421");
    assert_eq!(failed(&mut served, "missing", json!({})).1, "MG0404");
    let (said, code) = failed(&mut served, "large", json!({}));
    assert!(said.contains("max_output_bytes (1000)"), "{said}");
    assert_eq!(code, "MG0422");
    let (said, code) = failed(&mut served, "say", json!({"what": "-n"}));
    assert!(said.contains("taken for an option"), "{said}");
    assert_eq!(code, "MG0420");
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let alive = folder.path().join("alive");
    let script = format!("(sleep 2; touch {}) & sleep 60", alive.display());
    let mut served = serve(&format!(
        "backend: {{ process: {{}} }}\ntools:\n  - name: slow\n    command: {{ argv: [sh, -c, {}], timeout_ms: 200 }}\n",
        json!(script)
    ));
    let began = Instant::now();
    assert_eq!(failed(&mut served, "slow", json!({})).1, "MG0405");
    assert!(began.elapsed() < Duration::from_secs(10));
    thread::sleep(Duration::from_millis(2500));
    assert!(!alive.exists(), "the child went on");
}

/// A shop with two items.
fn shop(folder: &std::path::Path) -> String {
    let path = folder.join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE items (id INTEGER, name TEXT, price REAL, photo BLOB);
             INSERT INTO items VALUES (1, 'tea', 2.5, NULL), (2, 'O''Reilly', 10, x'0102');",
        )
        .unwrap();
    path.display().to_string()
}

#[test]
fn sqlite_is_read_with_bound_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let path = shop(folder.path());
    let mut served = serve(&format!(
        r#"
backends:
  shop: {{ sqlite: {{ path: "{path}" }} }}
  open: {{ sqlite: {{ path: "{path}", write: true }} }}
tools:
  - name: by_name
    command: {{ backend: shop, template: "SELECT * FROM items WHERE name = {{name}}" }}
    inputSchema: {{ type: object, properties: {{ name: {{}} }}, required: [name] }}
    outputSchema: {{ type: array, items: {{ type: object, required: [id] }} }}
  - name: by_ids
    command: {{ backend: shop, template: "SELECT id FROM items WHERE id IN ({{ids}}) ORDER BY id;" }}
    inputSchema: {{ type: object, properties: {{ ids: {{ type: array }} }} }}
  - name: query
    command: {{ backend: shop, build_sql: true }}
  - name: add
    command: {{ backend: open, template: "INSERT INTO items (id, name) VALUES ({{id}}, {{name}})" }}
    inputSchema: {{ type: object, properties: {{ id: {{}}, name: {{}} }} }}
"#
    ));
    let row = json!([{"id": 2, "name": "O'Reilly", "price": 10, "photo": "AQI="}]);
    assert_eq!(called(&mut served, "by_name", json!({"name": "O'Reilly"})), row);
    assert_eq!(called(&mut served, "by_name", json!({"name": "' OR '1'='1"})), json!([]));
    assert_eq!(
        called(&mut served, "by_ids", json!({"ids": [2, 1, 7]})),
        json!([{"id": 1}, {"id": 2}])
    );
    let cheap =
        json!({"table": "items", "select": ["name", "price * 2 AS double"], "where": "price < 5"});
    assert_eq!(called(&mut served, "query", cheap), json!([{"name": "tea", "double": 5}]));
    let (said, code) =
        failed(&mut served, "query", json!({"table": "items", "where": "1=1; DROP TABLE items"}));
    assert!(said.contains("another would begin (here: `1=1⟨here⟩; DROP TABLE items`)"), "{said}");
    assert_eq!(code, "MG0420");
    for (given, place) in [
        ("id IN (SELECT 1)", "`allow_subqueries` allows it (here: `id IN (⟨here⟩SELECT 1)`)"),
        ("1 < random()", "`allow_functions` can name it (here: `1 < ⟨here⟩random()`)"),
        ("id = 1 /* x", "(here: `id = 1 /* x⟨here⟩`)"),
    ] {
        let (said, _) = failed(&mut served, "query", json!({"table": "items", "where": given}));
        assert!(
            said.contains("the argument `where` is refused: ") && said.contains(place),
            "{said}"
        );
    }
    let (said, code) = failed(&mut served, "query", json!({"table": "items", "database": "shop"}));
    assert!(said.contains("the argument `database` is for EdgeLake"), "{said}");
    assert_eq!(code, "MG0420");
    // A name in double quotes that is none is an error, and no text.
    let (said, _) =
        failed(&mut served, "query", json!({"table": "items", "where": "nope = 'nope'"}));
    assert!(said.contains("no such column"), "{said}");
    assert_eq!(
        called(&mut served, "add", json!({"id": 3, "name": "x"})),
        json!({"rowsChanged": 1})
    );
    assert_eq!(called(&mut served, "by_ids", json!({"ids": [3]})), json!([{"id": 3}]));
}

#[test]
fn changes_can_give_rows_and_are_undone_when_they_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE items (id INTEGER, name TEXT, price REAL)").unwrap();
    let backend = format!("sqlite: {{ path: \"{}\"", path.display());
    super::keep_shop(&mut serve(&super::shop_keeping(&backend)));
}

#[test]
fn statements_that_change_are_refused_when_the_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.yaml");
    for (template, part) in [
        ("DELETE FROM t", "MG0147"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT 1 UNION SELECT 2", "allow_union"),
        ("SELECT * INTO u FROM t", "MG0147"),
        ("WITH gone AS (DELETE FROM t RETURNING id) SELECT id FROM gone", "MG0147"),
        ("WITH t AS (SELECT 1) INSERT INTO u SELECT * FROM t", "MG0147"),
        ("SELECT * FROM t WHERE a = '{a}'", "MG0142"),
        ("SELECT {", "MG0140"),
        ("SELECT {\"a\": 1}", "a plain brace, as in JSON, is `{{`"),
    ] {
        let tool = json!({
            "backend": {"sqlite": {"path": "x.db"}},
            "tools": [{"name": "t", "command": {"template": template}}],
        });
        fs::write(&path, tool.to_string()).unwrap();
        let output = command().arg("check").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(part), "{template}: {said}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn arguments_that_only_edgelake_understands_are_not_offered_by_databases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.yaml");
    for argument in ["database", "include_tables", "extend_fields"] {
        let tool = json!({
            "backend": {"sqlite": {"path": "x.db"}},
            "tools": [{
                "name": "query",
                "inputSchema": {"type": "object", "properties": {"table": {}, argument: {}}},
                "command": {"build_sql": true},
            }],
        });
        fs::write(&path, tool.to_string()).unwrap();
        let output = command().arg("check").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("the argument `{argument}` of `build_sql`")), "{said}");
        assert_eq!(output.status.code(), Some(1));
    }
}

/// An HTTP server on loopback that tells what it was asked, and knows one item.
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = vec![0; 16 * 1024];
            let length = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let line = request.lines().next().unwrap_or_default().to_owned();
            let body = request.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
            let (status, answer) = if line.contains("/missing") {
                ("404 Not Found", json!({"error": "no such item"}))
            } else if line.contains("/broken") {
                ("500 Internal Server Error", json!({"you said": request}))
            } else {
                let key = request.lines().find_map(|line| line.strip_prefix("x-key: "));
                ("200 OK", json!({"line": line, "body": body, "key": key}))
            };
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn http_services_are_asked_with_every_part_encoded() {
    let address = service();
    let text = format!(
        r#"
backend: {{ http: {{ url: "http://{address}/v1", headers: {{ x-key: secret, x-token: Bearer abcdefgh1234 }}, allow_hosts: ["{address}"] }} }}
tools:
  - name: item
    command: {{ url: "/items/{{id}}?full={{full}}" }}
    inputSchema: {{ type: object, properties: {{ id: {{}}, full: {{}} }} }}
  - name: create
    command: {{ url: /items, json: {{ name: "{{name}}", tags: ["{{tag}}", fixed], note: "for {{name}}" }} }}
    inputSchema: {{ type: object, properties: {{ name: {{}}, tag: {{}} }} }}
  - name: search
    command: {{ url: /search, method: POST, form: {{ q: "{{q}}" }} }}
    inputSchema: {{ type: object, properties: {{ q: {{}} }} }}
"#
    );
    let mut served = serve(&text);
    let answer = called(&mut served, "item", json!({"id": "a/b?c", "full": "x&y=z"}));
    assert_eq!(answer["line"], "GET /v1/items/a%2Fb%3Fc?full=x%26y%3Dz HTTP/1.1");
    assert_eq!(answer["key"], "secret");
    let answer = called(&mut served, "create", json!({"name": "tea", "tag": {"n": 1}}));
    let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({"name": "tea", "tags": [{"n": 1}, "fixed"], "note": "for tea"}));
    let answer = called(&mut served, "search", json!({"q": "a b&c"}));
    assert_eq!(answer["body"], "q=a%20b%26c");
    let (said, code) = failed(&mut served, "item", json!({"id": "missing", "full": 1}));
    assert!(said.contains("the service answered 404") && said.contains("no such item"), "{said}");
    assert_eq!(code, "MG0421");
    assert_eq!(failed(&mut served, "item", json!({"id": "..", "full": 1})).1, "MG0420");
    // What we said of ourselves is not repeated to the caller.
    let answer = served.call("item", json!({"id": "broken", "full": 1})).to_string();
    assert!(answer.contains("x-token: [hidden]") && !answer.contains("abcdefgh"), "{answer}");

    // The same service that nobody named is not reached.
    let mut unnamed = serve(&text.replace(&format!(", allow_hosts: [\"{address}\"]"), ""));
    let (said, code) = failed(&mut unnamed, "item", json!({"id": "a", "full": 1}));
    assert!(said.contains("not public") && said.contains("allow_hosts"), "{said}");
    assert_eq!(code, "MG0420");
}

#[test]
fn a_command_is_a_node_too_and_leaves_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.yaml");
    fs::write(
        &graph,
        r#"
version: "2"
server: { name: s, version: "1" }
backends: { tools: { process: {} } }
tools:
  - name: count
    inputSchema: { type: object, properties: { words: { type: array } } }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: foreach
        items: entry.words
        next: exit
        body:
          - id: measure
            type: command
            command: { argv: [printf, "%s", "{word}"], output: text }
            args: { word: { expr: item } }
      - { id: exit, type: exit }
"#,
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command();
        command.args(arguments).env("MCPGRAPH_DATA", folder.path().join("data"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let path = graph.to_str().unwrap();
    let result = run(&["run", "count", "-g", path, "--args", r#"{"words": ["a", "b c"]}"#]);
    assert_eq!(serde_json::from_str::<Value>(&result).unwrap(), json!(["a", "b c"]));
    let drawn = run(&["graph", "count", "-g", path]);
    assert!(drawn.contains("measure<br/>tools"), "{drawn}");
    let listed = run(&["runs", "ls", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed["runs"][0]["id"].as_str().unwrap().to_owned();
    // A replay sends nothing and finds the same.
    run(&["runs", "replay", &id, "-g", path]);
}

/// The example of the documentation is served as it stands, after one tool is added to it.
#[test]
fn a_tool_is_added_by_yaml_alone() {
    let page = fs::read_to_string(repository().join("docs/command-tools.md")).unwrap();
    let block = |after: &str| {
        let begin = page.find(after).unwrap() + after.len();
        let rest = &page[begin..];
        let start = rest.find("```yaml\n").unwrap() + 8;
        rest[start..start + rest[start..].find("```").unwrap()].to_owned()
    };
    let (file, more) = (block("<!-- the file -->"), block("<!-- one more tool -->"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let schema = "CREATE TABLE items (id INTEGER, name TEXT, price REAL);
        INSERT INTO items VALUES (1, 'tea', 2.5), (2, 'cup', 10), (3, 'pot', 30);";
    database.execute_batch(schema).unwrap();
    let text = format!("{file}{more}").replace("shop.db", path.to_str().unwrap());
    let mut served = serve(&text);
    assert_eq!(called(&mut served, "cheaper_than", json!({"price": 15})), json!(["tea", "cup"]));
    let found = called(&mut served, "items_like", json!({"pattern": "%p%"}));
    assert_eq!(
        found,
        json!([{"id": 2, "name": "cup", "price": 10}, {"id": 3, "name": "pot", "price": 30}])
    );
}
