//! Requests taken apart by other means than those that made them.

use std::fmt::Debug;
use std::ops::ControlFlow;

use mcpgraph_command::Request;
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, ObjectName, Query, SetExpr, Statement, TableFactor,
    Visit as _, Visitor,
};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use url::Url;

/// What is in the place of the value.
const GAP: &str = "…";

/// A request in two parts.
#[derive(Debug)]
pub(crate) struct Apart {
    /// Everything but the value: the syntax tree of a statement, and what else there is.
    pub(crate) structure: (String, Option<Query>),
    /// The value, where it stands there as it is.
    pub(crate) value: Option<String>,
}

impl Apart {
    fn new(structure: impl Debug, value: impl Into<Option<String>>) -> Self {
        Self { structure: (format!("{structure:?}"), None), value: value.into() }
    }

    fn with(mut self, query: Query) -> Self {
        self.structure.1 = Some(query);
        self
    }
}

pub(crate) fn take_apart(place: &str, request: &Request) -> Apart {
    match request {
        Request::EdgeLake { command, destination } => {
            assert_eq!(*destination, None);
            one_line(command);
            edgelake(place, command)
        }
        Request::Process { argv, stdin, .. } => program(place, argv, stdin.as_deref()),
        Request::Http { .. } => http(place, request),
        Request::Sql { statement, parameters, gives_rows, .. } => {
            assert!(gives_rows);
            let value = parameters.first().map(|value| match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_json(),
            });
            match place {
                "raw_statement" => {
                    let parsed = Parser::parse_sql(&SQLiteDialect {}, statement).unwrap();
                    assert!(matches!(parsed.as_slice(), [Statement::Query(_)]), "{statement}");
                    Apart::new((), None)
                }
                _ => {
                    let dialect: &dyn Dialect = if place.starts_with("sqlite") {
                        &SQLiteDialect {}
                    } else {
                        &PostgreSqlDialect {}
                    };
                    let (query, name) = select(place, statement, dialect);
                    Apart::new(parameters.len(), value.or(name)).with(query)
                }
            }
        }
    }
}

fn edgelake(place: &str, command: &str) -> Apart {
    let mut parts: Vec<&str> = command.split('"').collect();
    match (place, parts.len()) {
        ("edgelake_word" | "edgelake_id", 1) => {
            let mut words: Vec<&str> = command.split(' ').collect();
            let value = std::mem::replace(&mut words[5], GAP).to_owned();
            Apart::new(words, value)
        }
        ("edgelake_quoted" | "edgelake_string", 3) => {
            let value = std::mem::replace(&mut parts[1], GAP).to_owned();
            Apart::new(parts, value)
        }
        (_, 3) if place.contains("_sql_") || place.contains("_build_") => {
            assert_eq!(parts[2], "", "{command}");
            let (query, name) = select(place, parts[1], &PostgreSqlDialect {});
            let (options, option) = options(place, parts[0]);
            Apart::new(options, name.or(option)).with(query)
        }
        _ => panic!("{place}: {command}"),
    }
}

/// `sql <database> format = json and include = (…)`: the words, and the value among them.
fn options(place: &str, before: &str) -> (Vec<String>, Option<String>) {
    let mut words: Vec<String> = before.split(' ').map(str::to_owned).collect();
    let mut gap = |index: usize| Some(std::mem::replace(&mut words[index], GAP.to_owned()));
    let value = match place {
        "edgelake_build_database" => gap(1),
        "edgelake_build_include_tables" | "edgelake_build_extend_fields" => {
            let (start, inside) = before.split_once(" = (").unwrap();
            let inside = inside.strip_suffix(") ").unwrap();
            assert!(!inside.contains(['(', ')', '=', '"']), "{before}");
            words = start.split(' ').map(str::to_owned).collect();
            Some(inside.to_owned())
        }
        _ => None,
    };
    (words, value)
}

fn program(place: &str, argv: &[String], stdin: Option<&str>) -> Apart {
    let mut argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    assert!(argv.iter().all(|argument| !argument.contains('\0')));
    let value = match place {
        "argument" | "number" => {
            let value = std::mem::replace(&mut argv[2], GAP);
            assert!(place == "number" || !value.starts_with('-'), "{value}");
            value
        }
        "part_of_argument" => {
            let value = std::mem::replace(&mut argv[3], GAP);
            assert_eq!(argv[1].strip_prefix("--name="), Some(value));
            argv[1] = GAP;
            value
        }
        "stdin" => stdin.unwrap(),
        other => panic!("{other}"),
    };
    Apart::new(argv, value.to_owned())
}

fn http(place: &str, request: &Request) -> Apart {
    let Request::Http { method, url, headers, body } = request else { panic!("{request:?}") };
    let url = Url::parse(url).unwrap();
    assert!(url.fragment().is_none() && url.username().is_empty() && url.password().is_none());
    let mut segments: Vec<String> = url.path_segments().unwrap().map(str::to_owned).collect();
    let mut query: Vec<(String, String)> =
        url.query_pairs().map(|(key, value)| (key.into(), value.into())).collect();
    let mut headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut content = body.as_ref().map(|body| body.text.clone());
    let decoded = |segment: &str| {
        percent_encoding::percent_decode_str(segment).decode_utf8().unwrap().into_owned()
    };
    let value = match place {
        "url_path" => decoded(&std::mem::replace(&mut segments[2], GAP.to_owned())),
        "url_file" => {
            let file = decoded(&std::mem::replace(&mut segments[2], GAP.to_owned()));
            file.strip_suffix(".json").unwrap().to_owned()
        }
        "url_query" => std::mem::replace(&mut query[0].1, GAP.to_owned()),
        "header" => {
            one_line(headers[0].1);
            std::mem::replace(&mut headers[0].1, GAP).to_owned()
        }
        "form" => {
            let form = content.replace(String::new()).unwrap();
            let mut pairs = url::form_urlencoded::parse(form.as_bytes());
            let (name, value) = pairs.next().unwrap();
            assert_eq!((&*name, pairs.next().unwrap()), ("name", ("kind".into(), "a".into())));
            assert_eq!(pairs.next(), None);
            value.into_owned()
        }
        "json" => {
            let json = mcpgraph_value::Value::from_json(&content.replace(String::new()).unwrap());
            let json = json.unwrap();
            let keys: Vec<&str> = json.as_object().unwrap().keys().map(|key| &**key).collect();
            assert_eq!(keys, ["name", "kind"]);
            assert_eq!(json.get("kind").unwrap(), &mcpgraph_value::Value::from("a"));
            json.get("name").unwrap().as_str().unwrap().to_owned()
        }
        other => panic!("{other}"),
    };
    let media_type = body.as_ref().map(|body| body.media_type);
    let origin = url.origin().ascii_serialization();
    Apart::new((method, origin, segments, query, headers, media_type, content), value)
}

/// The one SELECT of a statement without the part that a value stands in, and the value where it is
/// a name or a literal.
fn select(place: &str, statement: &str, dialect: &dyn Dialect) -> (Query, Option<String>) {
    one_line(statement);
    let tokens = Tokenizer::new(dialect, statement).tokenize().unwrap();
    let is_comment = |token: &Token| match token {
        Token::Whitespace(space) => *space != Whitespace::Space,
        _ => false,
    };
    assert!(!tokens.iter().any(is_comment), "{statement}");
    let parsed = Parser::parse_sql(dialect, statement).unwrap();
    let mut only = parsed.into_iter();
    let (Some(Statement::Query(query)), None) = (only.next(), only.next()) else {
        panic!("{statement}")
    };
    let mut found = Found::default();
    assert!(query.visit(&mut found).is_continue());
    assert_eq!((found.queries, found.relations.len()), (1, 1), "{statement}");
    let mut query = *query;
    let SetExpr::Select(select) = query.body.as_mut() else { panic!("{statement}") };
    let [from] = select.from.as_mut_slice() else { panic!("{statement}") };
    assert!(from.joins.is_empty(), "{statement}");
    let TableFactor::Table { name, .. } = &mut from.relation else { panic!("{statement}") };
    let part = place.split_once("_build_").map_or(place, |(_, part)| part);
    let value = match part {
        "table" | "postgres_id" | "edgelake_sql_name" => {
            let parts: Vec<&str> =
                name.0.iter().map(|part| &*part.as_ident().unwrap().value).collect();
            let value = parts.join(".");
            *name = ObjectName(Vec::new());
            Some(value)
        }
        "edgelake_sql_value" | "edgelake_sql_text" => {
            let Some(Expr::BinaryOp { op: BinaryOperator::Eq, right, .. }) = &mut select.selection
            else {
                panic!("{statement}")
            };
            let literal =
                std::mem::replace(right, Box::new(Expr::value(sqlparser::ast::Value::Null)));
            Some(match &*literal {
                Expr::Value(value) => match value.value.clone().into_string() {
                    Some(text) => text,
                    None => value.to_string(),
                },
                // A number below zero stands in brackets.
                Expr::Nested(inner) => inner.to_string(),
                other => panic!("{other}"),
            })
        }
        "select" => {
            select.projection.clear();
            None
        }
        "where" => {
            select.selection = None;
            None
        }
        "group_by" => {
            select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
            None
        }
        "order_by" => {
            query.order_by = None;
            None
        }
        "limit" => {
            let limit = query.limit_clause.take().unwrap().to_string();
            Some(limit.trim().strip_prefix("LIMIT ").unwrap().to_owned())
        }
        _ => None,
    };
    (query, value)
}

/// How many queries there are, and of which tables.
#[derive(Default)]
struct Found {
    queries: usize,
    relations: Vec<String>,
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.relations.push(relation.to_string());
        ControlFlow::Continue(())
    }
}

fn one_line(text: &str) {
    assert!(!text.contains(['\r', '\n', '\0', '\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
}
