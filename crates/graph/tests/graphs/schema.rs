//! Schemas as tools use them.

use mcpgraph_graph::Schema;
use mcpgraph_value::Value;

fn value(json: &str) -> Value {
    Value::from_json(json).unwrap()
}

fn schema(json: &str) -> Schema {
    Schema::compile(&value(json)).unwrap()
}

fn filled(schema_json: &str, json: &str) -> String {
    schema(schema_json).with_defaults(&value(json)).to_json()
}

#[test]
fn a_missing_property_gets_its_default() {
    let schema = r#"{"properties": {"a": {"default": 1}, "b": {"default": null}, "c": {}}}"#;
    assert_eq!(filled(schema, "{}"), r#"{"a":1,"b":null}"#);
}

#[test]
fn what_is_there_is_kept() {
    let schema = r#"{"properties": {"a": {"default": 1}}}"#;
    assert_eq!(filled(schema, r#"{"a": null}"#), r#"{"a":null}"#);
    assert_eq!(filled(schema, r#"{"z": 0, "a": 2}"#), r#"{"z":0,"a":2}"#);
}

#[test]
fn defaults_are_filled_in_at_any_depth() {
    let schema = r#"{"properties": {
        "outer": {"properties": {"inner": {"default": "x"}}},
        "list": {"items": {"properties": {"n": {"default": 0}}}}
    }}"#;
    assert_eq!(
        filled(schema, r#"{"outer": {}, "list": [{}, {"n": 5}, 7]}"#),
        r#"{"outer":{"inner":"x"},"list":[{"n":0},{"n":5},7]}"#
    );
    assert_eq!(filled(schema, "{}"), "{}", "a default does not make the object it stands in");
}

#[test]
fn defaults_come_through_references_and_all_of() {
    let schema = r##"{
        "$defs": {"page": {"properties": {"size": {"default": 10}}}},
        "properties": {"page": {"$ref": "#/$defs/page"}},
        "allOf": [{"properties": {"flag": {"default": false}}}]
    }"##;
    assert_eq!(filled(schema, r#"{"page": {}}"#), r#"{"page":{"size":10},"flag":false}"#);
}

#[test]
fn a_default_behind_a_reference_is_found() {
    let schema = r##"{
        "$defs": {"size": {"type": "integer", "default": 10}},
        "properties": {"size": {"$ref": "#/$defs/size"}}
    }"##;
    assert_eq!(filled(schema, "{}"), r#"{"size":10}"#);
}

#[test]
fn a_default_is_filled_in_itself() {
    let schema = r#"{"properties": {"page": {
        "default": {}, "properties": {"size": {"default": 10}}
    }}}"#;
    assert_eq!(filled(schema, "{}"), r#"{"page":{"size":10}}"#);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let tree = schema(
        r##"{"type": "object", "properties": {
            "children": {"type": "array", "items": {"$ref": "#"}},
            "name": {"type": "string", "default": "none"}
        }}"##,
    );
    let filled = tree.with_defaults(&value(r#"{"children": [{"children": [{}]}]}"#));
    assert_eq!(
        filled.to_json(),
        r#"{"children":[{"children":[{"name":"none"}],"name":"none"}],"name":"none"}"#
    );
    assert!(tree.violations(&filled).is_empty());
}

#[test]
fn defaults_that_bring_ever_more_defaults_end() {
    let growing = schema(
        r##"{"properties": {
            "a": {"$ref": "#", "default": {}},
            "b": {"$ref": "#", "default": {}}
        }}"##,
    );
    assert!(growing.with_defaults(&value("{}")).approximate_bytes() < 10_000_000);

    let parts = vec![r##"{"$ref": "#"}"##; 50].join(",");
    let circle = format!(r#"{{"allOf": [{parts}], "properties": {{"a": {{"default": 1}}}}}}"#);
    assert_eq!(filled(&circle, "{}"), r#"{"a":1}"#);
}

#[test]
fn a_reference_to_itself_does_not_overflow_the_stack() {
    let parts =
        r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {"default": 1}}}"##;
    for source in [r##"{"$ref": "#", "properties": {"a": {"default": 1}}}"##, parts] {
        if let Ok(circle) = Schema::compile(&value(source)) {
            assert_eq!(circle.with_defaults(&value("{}")).to_json(), r#"{"a":1}"#);
            assert!(circle.violations(&value("{}")).is_empty());
        }
    }
}

#[test]
fn every_violation_is_told_with_its_place() {
    let schema = schema(
        r#"{"type": "object", "required": ["x"], "properties": {
            "n": {"type": "integer", "minimum": 1},
            "list": {"items": {"type": "string"}}
        }}"#,
    );
    let violations = schema.violations(&value(r#"{"n": 0, "list": ["a", 1]}"#));
    let mut pointers: Vec<&str> = violations.iter().map(|v| v.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["", "/list/1", "/n"]);
    assert!(schema.violations(&value(r#"{"x": 1, "n": 5}"#)).is_empty());
}

#[test]
fn violations_are_bounded_in_number_and_length() {
    let schema = schema(r#"{"items": {"type": "string"}}"#);
    let many = Value::array((0..1000).map(|n| Value::from(i64::from(n))).collect());
    assert_eq!(schema.violations(&many).len(), 20);

    let long = Value::array(vec![Value::array(vec![Value::string("x".repeat(100_000))])]);
    let violations = schema.violations(&long);
    assert!(violations[0].message.len() < 400, "{}", violations[0].message.len());
    assert!(violations[0].message.contains("string"), "{}", violations[0].message);
}

#[test]
fn nothing_outside_is_fetched() {
    for target in ["https://example.com/s.json", "http://127.0.0.1:9/s", "file:///etc/hostname"] {
        let source = value(&format!(r#"{{"properties": {{"a": {{"$ref": "{target}"}}}}}}"#));
        assert!(Schema::compile(&source).is_err(), "{target}");
    }
}

#[test]
fn a_schema_that_is_not_one_says_where() {
    let error =
        Schema::compile(&value(r#"{"properties": {"a": {"type": "numbre"}}}"#)).unwrap_err();
    assert_eq!(error.pointer, "/properties/a/type");
    assert!(error.message.contains("numbre"), "{}", error.message);
}

#[test]
fn a_pattern_cannot_take_exponential_time() {
    let schema = schema(r#"{"type": "string", "pattern": "^(a+)+$"}"#);
    let text = Value::string(format!("{}b", "a".repeat(50_000)));
    assert_eq!(schema.violations(&text).len(), 1);
}

#[test]
fn patterns_may_look_around_and_refer_back() {
    for (pattern, fits, does_not) in [
        (r"^(?!x).*$", "ax", "xa"),
        (r"^(?=.*\\d).+$", "a1", "ab"),
        (r"^(a|b)\\1$", "bb", "ab"),
        (r"(?<=a)b", "cab", "cb"),
    ] {
        let schema = schema(&format!(r#"{{"type": "string", "pattern": "{pattern}"}}"#));
        assert!(schema.violations(&Value::string(fits)).is_empty(), "{pattern}");
        let violations = schema.violations(&Value::string(does_not));
        assert_eq!(violations.len(), 1, "{pattern}");
        assert!(violations[0].message.contains("does not match"), "{violations:?}");
    }
}

#[test]
fn a_pattern_that_goes_back_too_often_is_told_and_never_passes() {
    let text = format!("{}!", "a".repeat(5_000));
    for keywords in [
        r#""pattern": "^(a|a)*\\1b$""#,
        r#""not": {"pattern": "^(a|a)*\\1b$"}"#,
        r#""anyOf": [{"pattern": "^(a|a)*\\1b$"}, {"type": "number"}]"#,
        r#""if": {"pattern": "^(a|a)*\\1b$"}, "then": {}, "else": false"#,
    ] {
        let schema = schema(&format!(r#"{{"properties": {{"t": {{{keywords}}}}}}}"#));
        let violations = schema.violations(&value(&format!(r#"{{"t": "{text}"}}"#)));
        assert_eq!(violations.len(), 1, "{keywords}");
        assert!(violations[0].message.contains("50000 steps back"), "{violations:?}");
        assert!(violations[0].message.contains("/properties/t"), "{violations:?}");
    }
}

#[test]
fn many_texts_for_such_a_pattern_do_not_add_up() {
    let schema = schema(r#"{"items": {"pattern": "^(a|a)*\\1b$"}}"#);
    let text = Value::string(format!("{}!", "a".repeat(30)));
    let violations = schema.violations(&Value::array(vec![text.clone(); 1_000]));
    assert!(violations[0].message.contains("steps back"), "{violations:?}");
    let violations = schema.violations(&Value::array(vec![text; 2_000]));
    assert!(violations[0].message.contains("at most 32768 bytes"), "{violations:?}");
}

#[test]
fn only_texts_that_such_a_pattern_sees_are_limited() {
    let long = "a".repeat(40_000);
    let schema = schema(
        r#"{"properties": {
            "id": {"pattern": "^(?!x)"}, "note": {"type": "string", "pattern": "^a+$"},
            "tag": {"anyOf": [{"pattern": "^(?!x)"}, {"type": "null"}]}
        }, "patternProperties": {"^note": {"maxLength": 50000}}}"#,
    );
    assert!(schema.violations(&value(&format!(r#"{{"id": "a", "note": "{long}"}}"#))).is_empty());
    for name in ["id", "tag"] {
        let violations = schema.violations(&value(&format!(r#"{{"{name}": "{long}"}}"#)));
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].pointer, format!("/{name}"));
        assert!(violations[0].message.contains("at most 32768 bytes"), "{violations:?}");
    }
}

#[test]
fn large_numbers_keep_their_digits() {
    let schema = schema(r#"{"type": "integer"}"#);
    assert!(schema.violations(&value("123456789012345678901234567890")).is_empty());
    assert!(!schema.violations(&value("1.5")).is_empty());
}
