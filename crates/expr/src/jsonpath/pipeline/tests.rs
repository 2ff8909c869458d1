use mcpgraph_value::Value;

use super::{Filter, Pipeline, Wanted};
use crate::JsonPath;

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

fn pipeline(path: &str) -> Pipeline {
    Pipeline::new(JsonPath::compile(path).unwrap())
}

fn applied(pipeline: &Pipeline, value: &str, arguments: &str) -> String {
    Value::array(pipeline.apply(&json(value), &json(arguments)).unwrap()).to_json()
}

const TABLES: &str = r#"[
    {"table": {"name": "rand", "dbms": "new"}},
    {"table": {"name": "other", "dbms": "test"}},
    {"table": {"dbms": "new"}},
    {"table": "text"}
]"#;

#[test]
fn every_part_works_alone_and_in_order() {
    let mut databases = pipeline("$[*].table.dbms");
    assert_eq!(applied(&databases, TABLES, "{}"), r#"["new","test","new"]"#);
    (databases.unique, databases.sort) = (true, true);
    assert_eq!(applied(&databases, TABLES, "{}"), r#"["new","test"]"#);

    let mut tables = pipeline("$[*].table");
    tables.map = Some("name".into());
    assert_eq!(applied(&tables, TABLES, "{}"), r#"["rand","other","text"]"#);
    tables.filter =
        Some(Filter { field: "dbms".into(), equals: Wanted::Argument("database".into()) });
    assert_eq!(applied(&tables, TABLES, r#"{"database": "test"}"#), r#"["other"]"#);
    assert_eq!(applied(&tables, TABLES, r#"{"database": "none"}"#), "[]");
    // Without the argument nothing is filtered.
    assert_eq!(applied(&tables, TABLES, "{}"), r#"["rand","other","text"]"#);
    tables.filter =
        Some(Filter { field: "dbms".into(), equals: Wanted::Literal(Value::from("new")) });
    assert_eq!(applied(&tables, TABLES, "{}"), r#"["rand"]"#);
}

#[test]
fn the_list_at_a_single_place_is_the_list() {
    assert_eq!(applied(&pipeline("$.Query"), r#"{"Query": [1, 2]}"#, "{}"), "[1,2]");
    assert_eq!(applied(&pipeline("$.Query[*]"), r#"{"Query": [1, 2]}"#, "{}"), "[1,2]");
    assert_eq!(applied(&pipeline("$.Query"), r#"{"Query": {"a": 1}}"#, "{}"), r#"[{"a":1}]"#);
    assert_eq!(applied(&pipeline("$.Query"), r#"{"Statistics": []}"#, "{}"), "[]");
    assert_eq!(applied(&pipeline("$.*"), r#"{"Query": [1, 2]}"#, "{}"), "[[1,2]]");
}

#[test]
fn values_of_all_kinds_are_told_apart_and_sorted() {
    let mixed = r#"["b", 10, 9, "a", null, true, false, 1.0, 1, {"b":1,"a":2}, {"a":2,"b":1}, [2], [1,5], "10", "é", 9007199254740993, 9007199254740992]"#;
    let mut all = pipeline("$[*]");
    all.unique = true;
    assert_eq!(
        applied(&all, mixed, "{}"),
        r#"["b",10,9,"a",null,true,false,1.0,{"b":1,"a":2},[2],[1,5],"10","é",9007199254740993,9007199254740992]"#
    );
    all.sort = true;
    assert_eq!(
        applied(&all, mixed, "{}"),
        r#"[null,false,true,1.0,9,10,9007199254740992,9007199254740993,"10","a","b","é",[1,5],[2],{"b":1,"a":2}]"#
    );
}
