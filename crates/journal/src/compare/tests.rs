use std::time::Duration;

use mcpgraph_engine::{ErrorKind, RunError};

use super::*;

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

#[test]
fn a_mask_stands_for_any_text() {
    let cases = [
        ("[redacted]", "s3cret", true),
        ("Bearer [redacted]", "Bearer s3cret", true),
        ("Bearer [redacted]", "Basic s3cret", false),
        ("a [redacted] b [redacted] c", "a 1 b 2 c", true),
        ("a [redacted] b [redacted] c", "a 1 b 2 d", false),
        ("a [redacted] b [redacted] c", "a 1 c", false),
        ("[redacted][redacted]", "ab", true),
        ("x[redacted]x", "x", false),
        ("[redacted]é", "日é", true),
        ("plain", "plain", true),
        ("plain", "plain ", false),
        ("", "", true),
        ("", "x", false),
    ];
    for (recorded, now, expected) in cases {
        assert_eq!(matches_text(recorded, now), expected, "{recorded:?} {now:?}");
    }
}

#[test]
fn masks_are_found_wherever_the_record_has_them() {
    let cases = [
        // A field that was masked by its name.
        (r#"{"token": "[redacted]", "n": 1}"#, r#"{"token": {"a": [1]}, "n": 1}"#, true),
        (r#"{"token": "[redacted]", "n": 1}"#, r#"{"token": "x", "n": 2}"#, false),
        (r#"{"token": "[redacted]"}"#, r#"{"token": "x", "more": 1}"#, false),
        // A secret in a list, a number, a name.
        (r#"["a", "[redacted]"]"#, r#"["a", "s3cret"]"#, true),
        (r#"["a", "[redacted]"]"#, r#"["a", "s3cret", 1]"#, false),
        (r#""12[redacted]""#, "123456", true),
        (r#""12[redacted]""#, "323456", false),
        (r#"{"key-[redacted]": 1}"#, r#"{"key-s3cret": 1}"#, true),
        (r#"{"key-[redacted]": 1}"#, r#"{"key-s3cret": 2}"#, false),
        (r#"{"[redacted]": 1}"#, r#"{"s3cret": 1, "t0ken": 1}"#, true),
        // JSON inside a text was written anew without its spaces.
        (r#""{\"token\":\"[redacted]\",\"n\":1}""#, r#""{ \"token\": \"x\", \"n\": 1 }""#, true),
        (r#""{\"token\":\"[redacted]\",\"n\":1}""#, r#""{ \"token\": \"x\", \"n\": 2 }""#, false),
        // Without a mask everything counts.
        (r#""{\"n\":1}""#, r#""{ \"n\": 1 }""#, false),
        ("1", r#""1""#, false),
        (r#""1""#, "1", false),
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, true),
    ];
    for (recorded, now, expected) in cases {
        assert_eq!(matches(&json(recorded), &json(now)), expected, "{recorded} {now}");
    }
}

#[test]
fn events_are_compared_by_what_they_tell() {
    let finished = |output: &str, edge: &str, at| Event::StepFinished {
        step: 1,
        output: json(output),
        edge: Some(edge.into()),
        at: Duration::from_micros(at),
    };
    let recorded = finished(r#"{"token": "[redacted]"}"#, "exit", 1);
    assert!(is_same(&recorded, &finished(r#"{"token": "x"}"#, "exit", 2)));
    assert!(!is_same(&recorded, &finished(r#"{"token": "x"}"#, "other", 2)));
    assert!(!is_same(&recorded, &finished(r#"{"name": "x"}"#, "exit", 2)));

    let failed = |message: &str, data: &str| Event::Finished {
        outcome: Err(RunError::new(ErrorKind::ToolError, message).with_data(json(data))),
        at: Duration::ZERO,
    };
    let recorded = failed("no [redacted] here", r#"["[redacted]"]"#);
    assert!(is_same(&recorded, &failed("no s3cret here", r#"["s3cret"]"#)));
    assert!(!is_same(&recorded, &failed("no s3cret there", r#"["s3cret"]"#)));
    assert!(!is_same(&recorded, &failed("no s3cret here", r#"["s3cret", 1]"#)));
    assert!(!is_same(&recorded, &finished("1", "exit", 0)));
}

#[test]
fn values_tell_whether_they_are_masked() {
    for text in [r#""a [redacted]""#, r#"[{"x": "[redacted]"}]"#, r#"{"[redacted]": 1}"#] {
        assert!(is_masked(&json(text)), "{text}");
    }
    for text in ["null", "1", r#"{"redacted": ["x"]}"#] {
        assert!(!is_masked(&json(text)), "{text}");
    }
}
