//! Hostile arguments: none changes the structure of a command.
//!
//! `values.json` holds the arguments, `commands.yaml` a command for every place a value can stand
//! in, and `expected.txt` what becomes of each value in each place: the refusal, or the request it
//! is a part of. Beyond what is written there, every request is checked for its structure by means
//! that have nothing to do with how it was made.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcpgraph_command::{Command, Request, compile};
use mcpgraph_config::model::{BackendRef, NodeKind};
use mcpgraph_diagnostics::Source;
use mcpgraph_value::{Map, Value};
use sqlparser::ast::{SetExpr, Statement};
use sqlparser::dialect::{GenericDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use url::Url;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/injection")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// The commands by their names.
fn commands() -> BTreeMap<String, Command> {
    let source = Source::new("commands.yaml", read("commands.yaml"));
    let (file, diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let file = file.unwrap();
    let compiled = file.tools.iter().map(|tool| {
        let NodeKind::Command(call) = &tool.nodes[1].kind else { panic!("no command") };
        let Some(BackendRef::Name(name)) = call.command.backend.as_ref().map(|of| &of.value) else {
            panic!("no backend")
        };
        let backend = file.backends.iter().find(|backend| backend.name == *name).unwrap();
        let mut found = Vec::new();
        let command = compile(&call.command, backend, None, &source, &mut found);
        (tool.name.to_string(), command.unwrap_or_else(|| panic!("{}: {found:?}", tool.name)))
    });
    compiled.collect()
}

/// The arguments of a call in which a value stands in its place.
fn arguments(place: &str, value: &Value) -> Value {
    let key = match place {
        "edgelake_where" | "postgres_where" => "where",
        "edgelake_table" => "table",
        "sqlite_select" => "select",
        "postgres_order" => "order_by",
        _ => "x",
    };
    let mut map: Map = Map::from_iter([("database", "d"), ("table", "t")]);
    map.insert(key, value.clone());
    map.into()
}

#[test]
fn no_argument_changes_the_structure_of_a_command() {
    let commands = commands();
    let values = Value::from_json(&read("values.json")).unwrap();
    let mut told = String::new();
    let (mut refused, mut kept) = (0, 0);
    for value in values.as_array().unwrap().iter() {
        let shown: String = value.to_json().chars().take(60).collect();
        writeln!(told, "{shown}").unwrap();
        for (place, command) in &commands {
            match command.request(&arguments(place, value)) {
                Err(refusal) => {
                    refused += 1;
                    let refusal: String = refusal.to_string().chars().take(200).collect();
                    writeln!(told, "  {place}: refused: {}", refusal.escape_debug()).unwrap();
                }
                Ok(request) => {
                    kept += 1;
                    check_structure(place, &request, value);
                    let request: String = format!("{request:?}").chars().take(300).collect();
                    writeln!(told, "  {place}: {request}").unwrap();
                }
            }
        }
    }
    assert!(refused + kept >= 200, "{refused} + {kept}");
    assert!(refused > 500 && kept > 200, "{refused} refused, {kept} kept");
    let path = folder().join("expected.txt");
    if std::env::var_os("MCPGRAPH_ACCEPT").is_some() {
        std::fs::write(&path, &told).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (expected, told)) in expected.lines().zip(told.lines()).enumerate() {
        assert_eq!(told, expected, "line {} of expected.txt", line + 1);
    }
    assert_eq!(told.lines().count(), expected.lines().count());
}

/// What a request is made of, found out without the code that made it.
fn check_structure(place: &str, request: &Request, value: &Value) {
    let text = value.as_str().unwrap();
    match (place, request) {
        ("edgelake_word", Request::EdgeLake { command, .. }) => {
            assert_eq!(command.split(' ').count(), 10, "{command}");
            one_line(command);
        }
        ("edgelake_quoted", Request::EdgeLake { command, .. }) => {
            let parts: Vec<&str> = command.split('"').collect();
            assert_eq!(parts, ["get columns where dbms = ", text, " and format = json"]);
            one_line(command);
        }
        (_, Request::EdgeLake { command, .. }) => {
            let parts: Vec<&str> = command.split('"').collect();
            let ["sql d format = json ", statement, ""] = parts.as_slice() else {
                panic!("{command}")
            };
            one_line(command);
            check_select(statement, &PostgreSqlDialect {});
        }
        ("argument", Request::Process { argv, .. }) => {
            assert_eq!(argv, &["grep", "-n", text, "data.txt"]);
            assert!(!text.starts_with('-') && !text.contains('\0'));
        }
        ("part_of_argument", Request::Process { argv, .. }) => {
            assert_eq!(argv, &["tool", &format!("--name={text}"), "--", text]);
        }
        (_, Request::Http { url, headers, body, .. }) => {
            let url = Url::parse(url).unwrap();
            assert_eq!(url.origin().ascii_serialization(), "https://api.example.com");
            assert!(url.fragment().is_none(), "{url}");
            let path: Vec<&str> = url.path_segments().unwrap().collect();
            match place {
                "url_path" => {
                    let [v1, items, _, details] = path.as_slice() else { panic!("{url}") };
                    assert_eq!([*v1, *items, *details], ["v1", "items", "details"]);
                    assert_eq!(url.query(), Some("full=1"));
                }
                "url_query" => {
                    let pairs: Vec<_> = url.query_pairs().collect();
                    assert_eq!(pairs[0], ("name".into(), text.into()));
                    assert_eq!(pairs.len(), 2, "{url}");
                }
                "header" => {
                    assert_eq!(headers[0].1, text);
                    one_line(text);
                }
                "form" => {
                    let body = &body.as_ref().unwrap().text;
                    let pairs: Vec<_> = url::form_urlencoded::parse(body.as_bytes()).collect();
                    assert_eq!(pairs, [("name".into(), text.into()), ("kind".into(), "a".into())]);
                }
                "json" => {
                    let body = Value::from_json(&body.as_ref().unwrap().text).unwrap();
                    assert_eq!(body.as_object().unwrap().len(), 2);
                    assert_eq!(body.get("name").unwrap(), value);
                }
                other => panic!("{other}"),
            }
        }
        ("sqlite_parameter", Request::Sql { statement, parameters, .. }) => {
            assert_eq!(statement, "SELECT * FROM items WHERE name = ?1 LIMIT 10");
            assert_eq!(parameters, std::slice::from_ref(value));
        }
        ("raw_statement", Request::Sql { statement, .. }) => {
            let parsed = Parser::parse_sql(&SQLiteDialect {}, statement).unwrap();
            assert!(matches!(parsed.as_slice(), [Statement::Query(_)]), "{statement}");
        }
        ("postgres_identifier", Request::Sql { statement, .. }) => {
            assert_eq!(statement, &format!("SELECT * FROM \"{text}\" LIMIT 10"));
            assert!(!text.contains('"'));
        }
        (_, Request::Sql { statement, .. }) => {
            one_line(statement);
            check_select(statement, &GenericDialect {});
        }
        (place, request) => panic!("{place}: {request:?}"),
    }
}

/// Exactly one SELECT of the one table, with the limit at its end.
fn check_select(statement: &str, dialect: &dyn sqlparser::dialect::Dialect) {
    let parsed = Parser::parse_sql(dialect, statement).unwrap();
    let [Statement::Query(query)] = parsed.as_slice() else { panic!("{statement}") };
    assert!(matches!(query.body.as_ref(), SetExpr::Select(_)), "{statement}");
    assert!(query.limit_clause.is_some() && statement.ends_with(" LIMIT 100"), "{statement}");
    assert_eq!(statement.to_uppercase().matches("SELECT").count(), 1, "{statement}");
    assert!(!statement.contains("--") && !statement.contains("/*"), "{statement}");
}

fn one_line(text: &str) {
    assert!(!text.contains(['\r', '\n', '\0', '\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
}
