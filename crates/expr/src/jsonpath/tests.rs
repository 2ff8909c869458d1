use mcpgraph_value::Value;

use super::JsonPath;
use crate::code;

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

#[test]
fn what_is_selected_is_shared() {
    let value = json(r#"{"items": [{"n": [1]}, {"n": [123456789012345678901234567890]}]}"#);
    let found = JsonPath::compile("$.items[*].n").unwrap().query(&value).unwrap();
    assert_eq!(found.len(), 2);
    let original = value.pointer("/items/1/n").unwrap();
    assert!(found[1].as_array().unwrap().is_same(original.as_array().unwrap()));
    assert_eq!(found[1].to_json(), "[123456789012345678901234567890]");
}

#[test]
fn single_steps_need_no_copy_and_count_from_the_end() {
    let value = json(r#"{"a": [1, 2, 3]}"#);
    for (source, expected) in [
        ("$", r#"[{"a": [1, 2, 3]}]"#),
        ("$.a[0]", "[1]"),
        ("$['a'][-1]", "[3]"),
        ("$.a[-3]", "[1]"),
        ("$.a[-4]", "[]"),
        ("$.a[3]", "[]"),
        ("$.b.c", "[]"),
        ("$.a.b", "[]"),
    ] {
        let found = JsonPath::compile(source).unwrap().query(&value).unwrap();
        assert_eq!(Value::array(found), json(expected), "{source}");
    }
}

#[test]
fn places_are_normalized() {
    let value = json(r#"{"a": [1, {"b'c": 2}]}"#);
    let found = JsonPath::compile("$..[?@ > 1]").unwrap().query_located(&value).unwrap();
    assert_eq!(found[0].path, r"$['a'][1]['b\'c']");
    assert_eq!(found[0].value, Value::from(2));
}

#[test]
fn errors_have_a_place() {
    let error = JsonPath::compile("$.a[").unwrap_err();
    assert_eq!(error.code, code::JSONPATH);
    assert!(error.position.is_some(), "{error:?}");
}

#[test]
fn long_lists_of_names_are_cheap() {
    let names: Vec<_> = (0..50).map(|n| format!("'{n}'")).collect();
    let query = JsonPath::compile(&format!("$[{}]", names.join(", "))).unwrap();
    assert!(query.query(&json(r#"{"1": 2}"#)).is_ok());
}
