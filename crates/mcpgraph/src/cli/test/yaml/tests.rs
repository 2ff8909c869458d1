use mcpgraph_diagnostics::Source;
use mcpgraph_value::Value;

use super::*;

/// Whatever is written is read back as it was, by the reader of this project.
#[test]
fn what_is_written_is_read_again() {
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
        let value = Value::from_json(json).unwrap();
        let text = format!("tests:\n{}", list_item(&value, 2));
        let (file, _) = mcpgraph_config::read_tests(&Source::new("t", text.as_str()));
        let tests = file.expect(&text).tree.pointer("/tests").expect("the list").to_value();
        assert_eq!(tests, Value::array(vec![value]), "{text}");
    }
}

#[test]
fn what_is_short_is_on_one_line() {
    let value = Value::from_json(r#"{"name": "a test", "input": {"id": 7, "tags": ["x", "y z"]}}"#);
    let text = list_item(&value.unwrap(), 0);
    assert_eq!(text, "- { name: a test, input: { id: 7, tags: [x, y z] } }\n");
}
