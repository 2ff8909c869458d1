use mcpgraph_value::Value;

use super::*;

fn masker(secrets: &[&str], fields: &[&str]) -> Masker {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Masker::new(&Redaction { secrets: owned(secrets), fields: owned(fields) })
}

#[track_caller]
fn check(masker: &Masker, json: &str, masked: &str) {
    let value = Value::from_json(json).unwrap();
    let result =
        if masker.suspects(value.to_json().as_bytes()) { masker.value(&value) } else { value };
    assert_eq!(result.to_json(), masked);
}

#[test]
fn secrets_are_masked_wherever_they_are() {
    let masker = masker(&["hunter2", "line\n\"two\"", "123456"], &[]);
    check(&masker, r#"{"a":"x hunter2 y"}"#, r#"{"a":"x [redacted] y"}"#);
    check(&masker, r#"["line\n\"two\""]"#, r#"["[redacted]"]"#);
    check(&masker, r#"{"hunter2":1}"#, r#"{"[redacted]":1}"#);
    check(&masker, r"[912345678]", r#"["9[redacted]78"]"#);
    check(&masker, r#"{"a":"HUNTER2"}"#, r#"{"a":"HUNTER2"}"#);
    assert_eq!(masker.text("line\n\"two\"!"), "[redacted]!");
}

#[test]
fn the_longer_of_two_secrets_is_masked_whole() {
    check(
        &masker(&["pass", "password1"], &[]),
        r#"["password1 pass"]"#,
        r#"["[redacted] [redacted]"]"#,
    );
}

#[test]
fn fields_are_masked_by_name() {
    let masker = masker(&[], &["Authorization", "token"]);
    check(
        &masker,
        r#"{"authorization":{"x":[1]},"b":2}"#,
        r#"{"authorization":"[redacted]","b":2}"#,
    );
    check(&masker, r#"["token"]"#, r#"["token"]"#);
    check(
        &masker,
        r#"{"text":"{ \"token\": \"abc\", \"n\": 1 }"}"#,
        r#"{"text":"{\"token\":\"[redacted]\",\"n\":1}"}"#,
    );
}

#[test]
fn a_secret_in_json_in_a_string_is_masked() {
    let secret = "a\"b\\c d";
    let inner = object("k", secret).to_json();
    let outer = object("t", &inner);
    let masker = masker(&[secret], &[]);
    assert!(masker.suspects(outer.to_json().as_bytes()));
    let masked = masker.value(&outer).to_json();
    assert!(masked.contains(MASK), "{masked}");
}

#[test]
fn short_secrets_are_left() {
    check(&masker(&["abc", ""], &[""]), r#"["abc"]"#, r#"["abc"]"#);
}

/// An object of one string.
fn object(key: &str, text: &str) -> Value {
    Map::from_iter([(key, text)]).into()
}
