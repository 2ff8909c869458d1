use std::time::{Duration, Instant};

use mcpgraph_value::Value;
use proptest::prelude::*;

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
        r#"{"text":"{ \"token\": \"[redacted]\", \"n\": 1 }"}"#,
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

#[test]
fn fields_are_masked_in_json_that_is_a_part_of_a_text() {
    let masker = masker(&[], &["password"]);
    let check = |text: &str, masked: &str| {
        assert_eq!(masker.message(text), masked);
        let value = object("s", text);
        assert!(masker.suspects(value.to_json().as_bytes()), "{text}");
        assert_eq!(masker.value(&value), object("s", masked));
    };
    check(
        r#"it failed: {"v": {"password": "x"}}"#,
        r#"it failed: {"v": {"password": "[redacted]"}}"#,
    );
    check(r#"{"password": {"a": ["}", 1]}} trailing"#, r#"{"password": "[redacted]"} trailing"#);
    check("{\"a\":1}\n{\"Password\" : 12}\n", "{\"a\":1}\n{\"Password\" : \"[redacted]\"}\n");
    check(r#"["{\"password\":null}"]"#, r#"["{\"password\":\"[redacted]\"}"]"#);
    check(r#"5" {{[ {"password":"a\"b"}"#, r#"5" {{[ {"password":"[redacted]"}"#);
    check(r#"body="{\"password\":\"x\"}" end"#, r#"body="{\"password\":\"[redacted]\"}" end"#);
    // What was cut short.
    check(r#"{"a":1,"password":["x","#, r#"{"a":1,"password":"[redacted]""#);
    // What need not be escaped, and is.
    check(r#"{"pass\u0077ord":"x"}"#, r#"{"pass\u0077ord":"[redacted]"}"#);
    check(
        r#"{"s":"{\u0022password\u0022:1}"}"#,
        r#"{"s":"{\u0022password\u0022:\"[redacted]\"}"}"#,
    );
}

#[test]
fn what_is_no_field_is_left() {
    let masker = masker(&[], &["password"]);
    for text in
        [r#"say "password" {"#, r#"["password"]"#, r#"{"a":"password"}"#, r#"{"passwords":1}"#]
    {
        assert_eq!(masker.message(text), text);
    }
    // A graph says what its tools take.
    assert_eq!(
        masker.text(r#"{"password":{"type":"string"}}"#),
        r#"{"password":{"type":"string"}}"#
    );
}

#[test]
fn a_secret_is_masked_however_it_is_escaped() {
    let masker = masker(&["s3/cré\"t"], &[]);
    for text in [r#"["s3/cré\"t"]"#, r#"["s3\/cr\u00e9\u0022t"]"#, r#"["[\"s3\/cré\\\"t\"]"]"#] {
        let masked = masker.text(text);
        assert!(masked.contains(MASK) && !masked.contains("s3"), "{masked}");
    }
}

#[test]
fn a_text_takes_time_by_its_length() {
    let masker = masker(&["hunter22"], &["password", "token"]);
    let began = Instant::now();
    for piece in
        ["[", "{", "\"", "\\", "{\"", "[\"", "\\\"", "\\u005cu005c", "\"password\":", "\"passwor"]
    {
        let text = format!("\"password\" {} hunter22", piece.repeat(500_000 / piece.len()));
        assert!(!masker.message(&text).contains("hunter22"));
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// Something with a field in it, somewhere: as an object, an array, or a text with JSON in it.
fn with_field() -> impl Strategy<Value = Value> {
    let around = prop::sample::select(vec!["", "it failed: ", "a \"b\" {[ ", "\n", "C:\\dir "]);
    let secret = prop::sample::select(vec![
        r#""TOPSECRET""#,
        r#"{"x":["TOPSECRET","}\""]}"#,
        r#"["a\\",{"password":"TOPSECRET"}]"#,
        r#""{\"k\":\"TOPSECRET\\\"\"}""#,
    ]);
    let field = secret.prop_map(|secret| {
        Value::from_json(&format!(r#"{{"a":1,"password":{secret},"z":"\\"}}"#)).unwrap()
    });
    field.prop_recursive(4, 16, 1, move |inner| {
        let text = (around.clone(), inner.clone(), around.clone());
        prop_oneof![
            inner.clone().prop_map(|inner| Value::array(vec!["x\"".into(), inner, 1.into()])),
            inner.prop_map(|inner| Map::from_iter([("k\\", inner)]).into()),
            text.prop_map(|(before, inner, after)| {
                Value::from(format!("{before}{}{after}", inner.to_json()))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_field_is_never_written(value in with_field()) {
        let json = value.to_json();
        let (masker, other) = (masker(&[], &["PassWord"]), masker(&[], &["word"]));
        prop_assert!(masker.suspects(json.as_bytes()));
        let masked = masker.value(&value).to_json();
        prop_assert!(!masked.contains("TOPSECRET"), "{}", masked);
        prop_assert!(!masker.message(&json).contains("TOPSECRET"));
        // What has no such field stays as it is, however suspicious it looks.
        prop_assert_eq!(&other.value(&value), &value);
        prop_assert_eq!(other.message(&json), json.as_str());
    }
}

/// An object of one string.
fn object(key: &str, text: &str) -> Value {
    Map::from_iter([(key, text)]).into()
}
