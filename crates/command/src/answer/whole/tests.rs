use super::whole_json;

/// What programs print, and the JSON that it is. None is a text.
const CASES: &[(&str, Option<&str>)] = &[
    // JSON and nothing else.
    (r#"{"a": 1}"#, Some(r#"{"a":1}"#)),
    ("42\n", Some("42")),
    ("\u{feff}[1]\n", Some("[1]")),
    ("{\n  \"a\": 1\n}\n", Some(r#"{"a":1}"#)),
    // One value after the other.
    ("{\"a\":1}\n{\"b\":2}\n", Some(r#"[{"a":1},{"b":2}]"#)),
    ("{\"a\":1}\r\n{\"b\":2}\r\n", Some(r#"[{"a":1},{"b":2}]"#)),
    ("{\n  \"a\": 1\n}\n\n[\n  2\n]\n", Some(r#"[{"a":1},[2]]"#)),
    ("1\n2\n3\n", None),
    ("{\"a\":1} {\"b\":2}\n", None),
    ("{\"a\":1}\n{\"b\":\n", None),
    // Noise before it and behind it.
    ("EL > \n[{\"a\": 1}]\nEL > ", Some(r#"[{"a":1}]"#)),
    ("\r\n[From Node 127.0.0.1:32548] {\"a\": [1]}", Some(r#"{"a":[1]}"#)),
    ("[INFO] starting [1]\n[2026-01-02] x\n{\"a\": \"]}\\\"\"}\n", Some(r#"{"a":"]}\""}"#)),
    ("2026-01-02T03:04:05Z start\n[1]\n03:04:06 done\n", Some("[1]")),
    ("2026-01-02 03:04:05,123 start\n[1]\n", Some("[1]")),
    ("DEBUG x\nwarning: y\n[debug] z\n\n{\"a\":1}\nINFO: end", Some(r#"{"a":1}"#)),
    ("INFO start\n{\"a\":1}\n{\"b\":2}\n", Some(r#"[{"a":1},{"b":2}]"#)),
    // Texts in which brackets stand.
    ("array index [0] out of range", None),
    ("usage: foo {} bar", None),
    ("Set this:\n\n{\"k\": 1}\n", None),
    ("# Title\n\n```json\n{\"k\": 1}\n```\n", None),
    ("{\"k\": 1}\n\nis all you need\n", None),
    ("2024 {\"log\":1}\n{\"log\":2}\n", None),
    ("[1] and [2]", None),
    // What must not get lost.
    ("ERROR: half of it failed\n{\"a\":1}\n", None),
    ("INFO a\n{\"a\":1}\nINFO b\n{\"b\":2}\n", None),
    ("info about this\n[1]\n", None),
    ("2026-01-02 42\n[1]\n", None),
    ("INFO only\n", None),
    ("nothing here", None),
    ("[unclosed {\"a\": ", None),
    ("", None),
];

#[test]
fn json_counts_where_nothing_else_is_said() {
    for (text, expected) in CASES {
        let found = whole_json(text).map(|value| value.to_json());
        assert_eq!(found.as_deref(), *expected, "{text}");
    }
}

#[test]
fn hostile_texts_end_soon() {
    assert_eq!(whole_json(&"[".repeat(100_000)), None);
    assert_eq!(whole_json(&"[]\n[".repeat(100_000)), None);
    assert_eq!(whole_json(&"INFO\n".repeat(100_000)), None);
}
