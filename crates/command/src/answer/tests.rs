use mcpgraph_value::Value;

use super::{clean, find_json, only_list};

#[test]
fn json_is_found_among_what_programs_print() {
    let cases = [
        (r#"{"a": 1}"#, Some(r#"{"a":1}"#)),
        ("  [1, 2]\nEL >", Some("[1,2]")),
        ("EL > \n[{\"a\": 1}]\nEL > ", Some(r#"[{"a":1}]"#)),
        ("\r\n[From Node 127.0.0.1:32548] {\"a\": [1]}", Some(r#"{"a":[1]}"#)),
        ("[INFO] starting\n[2026-01-02] x\n{\"a\": \"]}\\\"\"}\ndone", Some(r#"{"a":"]}\""}"#)),
        ("{\"a\": {\"b\": 1}} and [1]", Some(r#"{"a":{"b":1}}"#)),
        ("nothing here", None),
        ("[unclosed {\"a\": ", None),
        ("", None),
        ("42", Some("42")),
        ("\u{feff}[1]", Some("[1]")),
    ];
    for (text, expected) in cases {
        let found = find_json(text, false).map(|value| value.to_json());
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

#[test]
fn an_array_is_preferred_where_it_is_wanted() {
    let text = "status: {\"node\": \"a\", \"up\": true, \"long\": \"longer than the list\"}\n[1]";
    assert_eq!(find_json(text, true).unwrap().to_json(), "[1]");
    assert!(find_json(text, false).unwrap().get("node").is_some());
    assert_eq!(find_json("x {\"a\": 1} y", true).unwrap().to_json(), r#"{"a":1}"#);
}

#[test]
fn policies_may_stand_under_their_kind() {
    for (text, expected) in [
        (r#"{"table": [1, 2]}"#, "[1,2]"),
        (r#"{"table": [1], "more": []}"#, r#"{"table":[1],"more":[]}"#),
        (r#"{"table": {}}"#, r#"{"table":{}}"#),
        ("[1]", "[1]"),
    ] {
        assert_eq!(only_list(Value::from_json(text).unwrap()).to_json(), expected);
    }
}

#[test]
fn prompts_and_marks_are_removed_from_text() {
    assert_eq!(clean("AnyLog@1.2.3.4:1 running\nEL >"), "AnyLog@1.2.3.4:1 running");
    assert_eq!(clean("\r\n[From Node 1.2.3.4:5] running\r\n"), "running");
    assert_eq!(clean("AL my-node +> \na > b\nx >"), "a > b\nx >");
    // Everything else is what was said.
    assert_eq!(clean("\n M a.rs  \n  \n?? b\n\n"), " M a.rs  \n  \n?? b");
    assert_eq!(clean("ALSO >"), "ALSO >");
}

#[test]
fn hostile_texts_end_soon() {
    let brackets = "[".repeat(100_000);
    assert_eq!(find_json(&brackets, true), None);
    let pairs = "{\"a\": [x ".repeat(20_000);
    assert_eq!(find_json(&pairs, true), None);
}
