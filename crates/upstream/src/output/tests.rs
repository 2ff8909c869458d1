use super::*;

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

/// What the rule makes of a result, both as JSON texts.
#[track_caller]
fn check(result: &str, expected: &str) {
    match output_of(&json(result)) {
        NodeOutput::Value(value) => assert_eq!(value.to_json(), expected, "{result}"),
        NodeOutput::Error { text, .. } => panic!("{result} is an error: {text}"),
    }
}

#[test]
fn structured_content_comes_first() {
    check(r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}"#, r#"{"a":1}"#);
    check(r#"{"structuredContent":[1,2]}"#, "[1,2]");
    check(r#"{"structuredContent":0,"content":[]}"#, "0");
}

#[test]
fn null_beside_content_is_no_structured_content_before_the_modern_era() {
    check(r#"{"structuredContent":null,"content":[{"type":"text","text":"x"}]}"#, r#""x""#);
    check(r#"{"structuredContent":null,"content":[]}"#, "null");
    check(
        r#"{"resultType":"complete","structuredContent":null,"content":[{"type":"text","text":"x"}]}"#,
        "null",
    );
}

#[test]
fn a_single_text_is_read_as_json_where_it_is_json() {
    for (text, expected) in [
        (r"42", "42"),
        (r"1.50", "1.50"),
        (r"123456789012345678901234567890", "123456789012345678901234567890"),
        (r" true ", "true"),
        (r"null", "null"),
        (r#"\"quoted\""#, r#""quoted""#),
        (r#"{\"b\":1,\"a\":2}"#, r#"{"b":1,"a":2}"#),
        (r"[1, 2]", "[1,2]"),
        (r"plain text", r#""plain text""#),
        (r"", r#""""#),
        (r"42 files", r#""42 files""#),
        (r"{not json}", r#""{not json}""#),
        (r"NaN", r#""NaN""#),
        (r"[FILE] a.txt\n[DIR] b", r#""[FILE] a.txt\n[DIR] b""#),
    ] {
        check(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#), expected);
    }
}

#[test]
fn several_items_are_an_array() {
    check(
        r#"{"content":[{"type":"text","text":"1"},{"type":"text","text":"one"},{"type":"image","data":"AA==","mimeType":"image/png"}]}"#,
        r#"[1,"one",{"type":"image","data":"AA==","mimeType":"image/png"}]"#,
    );
}

#[test]
fn what_is_not_text_stays_what_it_is() {
    for item in [
        r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
        r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#,
        r#"{"type":"resource_link","uri":"a:b"}"#,
        r#"{"type":"resource","resource":{"uri":"a:b","text":"42"}}"#,
        r#"{"type":"video","vendor":true}"#,
        r#"{"type":"text"}"#,
    ] {
        check(&format!(r#"{{"content":[{item}]}}"#), item);
    }
}

#[test]
fn no_content_is_null() {
    check(r#"{"content":[]}"#, "null");
    check("{}", "null");
    check(r#"{"content":"lies"}"#, "null");
    check("7", "null");
}

#[test]
fn a_failure_carries_the_text_and_the_whole_result() {
    for (result, expected) in [
        (r#"{"isError":true,"content":[{"type":"text","text":"42"}]}"#, "42"),
        (
            r#"{"isError":true,"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}"#,
            "a\nb",
        ),
        (r#"{"isError":true,"structuredContent":{"code":7},"content":[]}"#, r#"{"code":7}"#),
        (r#"{"isError":true}"#, "the tool failed and did not say why"),
    ] {
        let NodeOutput::Error { text, result: whole } = output_of(&json(result)) else {
            panic!("{result} is no error");
        };
        assert_eq!(text, expected);
        assert_eq!(whole, json(result));
    }
    // Only the boolean counts; the string is a lie some servers tell.
    check(r#"{"isError":"false","content":[{"type":"text","text":"1"}]}"#, "1");
    check(r#"{"isError":false,"content":[{"type":"text","text":"1"}]}"#, "1");
}

#[test]
fn text_that_nests_too_deep_stays_text() {
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
    check(&format!(r#"{{"content":[{{"type":"text","text":"{deep}"}}]}}"#), &format!("\"{deep}\""));
}
