use crate::{Map, Number, Value};

#[track_caller]
fn round_trip(text: &str) {
    assert_eq!(Value::from_json(text).unwrap().to_json(), text);
    let through_serde: serde_json::Value = serde_json::from_str(text).unwrap();
    let value = Value::from(through_serde.clone());
    assert_eq!(value.to_json(), text);
    assert_eq!(serde_json::Value::from(&value), through_serde);
}

#[test]
fn text_survives_a_pass_through() {
    for text in [
        "null",
        "true",
        "[]",
        "{}",
        r#"{"z":1,"a":[1,2,{"b":"é\n\u0001"}],"m":null}"#,
        "123456789012345678901234567890",
        "-0",
        "0.1",
        "1.0",
        "1e+400",
        "1e-7",
        "18446744073709551615",
        "-9223372036854775808",
        "90.57000000000001",
    ] {
        round_trip(text);
    }
}

#[test]
fn numbers_compare_by_value() {
    let number = |text| Number::from_json(text).unwrap();
    assert_eq!(number("1"), number("1.0"));
    assert_eq!(number("100"), number("1e2"));
    assert_ne!(number("123456789012345678901234567890"), number("123456789012345678901234567891"));
    assert_eq!(number("1.0").as_i64(), Some(1));
    assert_eq!(number("1.5").as_i64(), None);
    for not_a_number in ["", "-", "01", "1.", ".5", "1e", "NaN", "Infinity", "+1", "0x1", "1_0"] {
        assert!(Number::from_json(not_a_number).is_none(), "{not_a_number}");
    }
}

#[test]
fn computed_whole_numbers_are_integers() {
    assert_eq!(Value::from(3.0).to_json(), "3");
    assert_eq!(Value::from(0.5).to_json(), "0.5");
    assert_eq!(Value::from(f64::NAN), Value::Null);
    assert_eq!(Value::from(u64::MAX).to_json(), "18446744073709551615");
}

#[test]
fn depth_costs_no_stack() {
    let mut deep = Value::Null;
    for level in 0..1_000_000 {
        deep = if level % 2 == 0 {
            Value::array(vec![deep])
        } else {
            Value::object(Map::from_iter([("a", deep)]))
        };
    }
    assert!(deep.is_deeper_than(crate::MAX_DEPTH));
    assert!(deep.approximate_bytes() > 1_000_000);
    drop(deep);
    assert!(Value::from_json(&"[".repeat(100_000)).is_err());
}

#[test]
fn clones_share() {
    let value = Value::from_json(r#"{"a":[1]}"#).unwrap();
    let copy = value.clone();
    assert!(value.as_object().unwrap().is_same(copy.as_object().unwrap()));
    let mut changed = copy.as_object().unwrap().clone();
    changed.make_mut().insert("a", 2);
    assert_eq!(value.to_json(), r#"{"a":[1]}"#);
    assert_eq!(changed.get("a"), Some(&Value::from(2)));
}

#[test]
fn pointers_follow_rfc_6901() {
    let value = Value::from_json(r#"{"a/b":[{"m~n":7}]}"#).unwrap();
    assert_eq!(value.pointer("/a~1b/0/m~0n"), Some(&Value::from(7)));
    assert_eq!(value.pointer(""), Some(&value));
    assert_eq!(value.pointer("/a~1b/1"), None);
    assert_eq!(value.pointer("a"), None);
}
