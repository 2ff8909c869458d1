use mcpgraph_diagnostics::Source;
use mcpgraph_value::Value;
use proptest::prelude::*;

use super::*;

/// Whatever is written is read back as it was, by the reader of this project.
fn check(value: &Value) {
    let text = format!("tests:\n{}", list_item(value, 2));
    let (file, _) = mcpgraph_config::read_tests(&Source::new("t", text.as_str()));
    let tests = file.expect(&text).tree.pointer("/tests").expect("the list").to_value();
    assert_eq!(tests, Value::array(vec![value.clone()]), "{text}");
}

fn json() -> impl Strategy<Value = Value> {
    let string = prop_oneof!["[a-z ./:#-]{0,12}", "\\PC{0,80}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        string.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::array),
            prop::collection::vec((string.clone(), inner), 0..6)
                .prop_map(|members| members.into_iter().collect::<Map>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_value_is_read_again(value in json()) {
        check(&value);
    }
}

#[test]
fn what_readers_stumble_over_is_read_again() {
    let values = [
        r#""plain text""#,
        r#"["yes", "No", "null", "~", "1", "-", "a: b", "a #b", "", " a", "a ", "...", "…"]"#,
        r"[1, -2.5, 1e3, 12345678901234567890, true, false, null]",
        r#"["../a/b.yaml", "./c.yaml", "./", "..", ".5", "./1"]"#,
        r#"{"path": ["aaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbb", "...", "ccccccccccccccccccccccccc",
            "ddddddddddddddddddddddddddddd", "eeeeeeeeeeeeeeeeeeee", "a: b", "ffffffffffffffffffffff"]}"#,
        r#"{"a": {}, "b": [], "": [[]], "a key": {"x: y": 1}}"#,
        r#"["line\nline\n", "tab\t", "\u0000\u001b\u007f\u0085\u2028\ufeff", "日本 🦀", "\\ \" '"]"#,
        r#"{"long": ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
            ["cccccccccccccccccccccccccccccccccccccccc", "dddddddddddddddddddddddddddddddddddddddddddddddddddddd"],
            {"e": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", "f": "ffffffffffffffffffffffffffffffffffffffffff"}]}"#,
    ];
    for json in values {
        check(&Value::from_json(json).unwrap());
    }
}

#[test]
fn what_is_short_is_on_one_line() {
    let value = Value::from_json(r#"{"name": "a test", "input": {"id": 7, "tags": ["x", "y z"]}}"#);
    let text = list_item(&value.unwrap(), 0);
    assert_eq!(text, "- { name: a test, input: { id: 7, tags: [x, y z] } }\n");
}
