use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use crate::{Env, ExprError, JsonLogic, PlainScope, Scope, code, truthy};

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const CONTEXT: &str = r#"{
    "entry": {"price": 150, "status": "active", "tags": ["a", "b"], "none": null, "empty": ""},
    "items": [{"id": 1, "qty": 2}, {"id": 2, "qty": 0}],
    "code": {"unknown": ["x"]},
    "path": "entry.price"
}"#;

fn eval(rule: &str) -> Result<Value, ExprError> {
    let compiled = JsonLogic::compile(&json(rule)).map_err(|errors| errors[0].clone())?;
    compiled.eval(&PlainScope::shared(json(CONTEXT)), &Env::at(0))
}

#[track_caller]
fn check(rule: &str, expected: &str) {
    assert_eq!(eval(rule), Ok(json(expected)), "{rule}");
}

#[test]
fn var_is_jsonata() {
    check(r#"{"var": "entry.price"}"#, "150");
    check(r#"{"var": "$.entry.price"}"#, "150");
    check(r#"{"var": "$sum(items.qty) + 1"}"#, "3");
    check(r#"{"var": "items[id = 2].qty"}"#, "0");
    check(r#"{"var": "$executionCount('entry')"}"#, "0");
    check(r#"{">": [{"var": "$count(entry.tags)"}, 1]}"#, "true");
}

#[test]
fn what_is_undefined_is_the_default_or_null() {
    check(r#"{"var": "nope.x"}"#, "null");
    check(r#"{"var": ["nope.x", 7]}"#, "7");
    check(r#"{"var": ["nope.x", {"var": "path"}]}"#, r#""entry.price""#);
    check(r#"{"var": ["entry.none", 7]}"#, "null");
    check(r#"{"===": [{"var": "nope"}, null]}"#, "true");
}

#[test]
fn paths_of_json_logic_that_jsonata_cannot_read() {
    check(r#"{"var": "items.1.id"}"#, "2");
    check(r#"{"var": ["items.9.id", "no"]}"#, r#""no""#);
    check(r#"{"map": [[[1, 2], [3]], {"var": 0}]}"#, "[1, 3]");
    check(r#"{"map": [[[1, 2], [3]], {"var": ["1", "none"]}]}"#, r#"[2, "none"]"#);
    check(r#"{"map": [[[1]], {"var": "00"}]}"#, "[null]");
}

#[test]
fn the_whole_scope() {
    for whole in [r#"{"var": ""}"#, r#"{"var": null}"#, r#"{"var": []}"#, r#"{"var": "$"}"#] {
        assert_eq!(eval(whole), Ok(json(CONTEXT)), "{whole}");
    }
    check(r#"{"filter": [[1, 2, 3], {">": [{"var": ""}, 1]}]}"#, "[2, 3]");
}

#[test]
fn iterators_see_the_element() {
    check(r#"{"map": [{"var": "items"}, {"*": [{"var": "id"}, 10]}]}"#, "[10, 20]");
    check(r#"{"filter": [{"var": "items"}, {"var": "qty"}]}"#, r#"[{"id": 1, "qty": 2}]"#);
    check(r#"{"all": [{"var": "items"}, {">": [{"var": "id"}, 0]}]}"#, "true");
    check(r#"{"some": [{"var": "items"}, {"==": [{"var": "qty"}, 0]}]}"#, "true");
    check(r#"{"none": [{"var": "items"}, {"==": [{"var": "entry.price"}, 150]}]}"#, "true");
    let sum = r#"{"reduce": [{"var": "items"},
        {"+": [{"var": "current.qty"}, {"var": "accumulator"}]}, 5]}"#;
    check(sum, "7");
    check(r#"{"map": [{"var": "items"}, {"var": "$executionCount('a') + id"}]}"#, "[1, 2]");
}

#[test]
fn evaluation_is_lazy() {
    let fails = r#"{"var": "$error('evaluated')"}"#;
    assert!(eval(fails).is_err());
    check(&format!(r#"{{"and": [false, {fails}]}}"#), "false");
    check(&format!(r#"{{"or": [1, {fails}]}}"#), "1");
    check(&format!(r#"{{"if": [true, 1, {fails}]}}"#), "1");
    check(&format!(r#"{{"?:": [false, {fails}, 2]}}"#), "2");
    check(&format!(r#"{{"var": ["entry.price", {fails}]}}"#), "150");
    check(
        &format!(r#"{{"some": [[1, 2], {{"or": [{{"==": [{{"var": ""}}, 1]}}, {fails}]}}]}}"#),
        "true",
    );
}

#[test]
fn data_is_never_a_rule() {
    check(r#"{"var": "code"}"#, r#"{"unknown": ["x"]}"#);
    check(r#"{"if": [{"var": "code"}, {"var": "code"}]}"#, r#"{"unknown": ["x"]}"#);
    check(r#"{"merge": [[{"var": "code"}]]}"#, r#"[{"unknown": ["x"]}]"#);
    check(r#"{"a": 1, "b": {"var": "x"}}"#, r#"{"a": 1, "b": {"var": "x"}}"#);
}

#[test]
fn computed_operands() {
    check(r#"{"var": {"var": "path"}}"#, "150");
    check(r#"{"var": {"cat": ["entry.", "status"]}}"#, r#""active""#);
    check(r#"{"var": {"cat": []}}"#, &json(CONTEXT).to_json());
    let error = eval(r#"{"!": [{"var": [{"cat": ["entry", "."]}]}]}"#).unwrap_err();
    assert!(error.code.starts_with('S'), "{error:?}");
    assert_eq!(error.pointer.as_deref(), Some("/!/0/var/0"));
}

#[test]
fn missing_keys() {
    check(
        r#"{"missing": ["entry.price", "nope", "entry.empty", "entry.none"]}"#,
        r#"["nope", "entry.empty", "entry.none"]"#,
    );
    check(r#"{"missing": [["nope", "path"]]}"#, r#"["nope"]"#);
    check(r#"{"missing": {"merge": ["nope", "path"]}}"#, r#"["nope"]"#);
    check(r#"{"missing_some": [1, ["nope", "path"]]}"#, "[]");
    check(r#"{"missing_some": [2, ["nope", "path"]]}"#, r#"["nope"]"#);
    check(r#"{"missing": "items.0.id"}"#, "[]");
}

#[test]
fn coercion_is_that_of_javascript() {
    for (rule, expected) in [
        (r#"{"==": [1, "1"]}"#, "true"),
        (r#"{"==": [null, 0]}"#, "false"),
        (r#"{"==": [[1], "1"]}"#, "true"),
        (r#"{"==": [[], false]}"#, "true"),
        (r#"{"==": [[1], [1]]}"#, "false"),
        (r#"{"==": [{"var": "items"}, {"var": "items"}]}"#, "true"),
        (r#"{"===": [1, "1"]}"#, "false"),
        (r#"{"==": [{"+": ["x"]}, null]}"#, "false"),
        (r#"{"<": ["10", "9"]}"#, "true"),
        (r#"{"<": ["10", 9]}"#, "false"),
        (r#"{"<": [null, 1]}"#, "true"),
        (r#"{">=": ["a", 1]}"#, "false"),
        (r#"{"<": [1, 2, 3]}"#, "true"),
        (r#"{"<=": [1, 4, 3]}"#, "false"),
        (r#"{"+": ["3.5kg", 1]}"#, "4.5"),
        (r#"{"-": ["0x10"]}"#, "-16"),
        (r#"{"-": [" 5 ", true]}"#, "4"),
        (r#"{"/": [1, 0]}"#, "null"),
        (r#"{"%": [-5, 3]}"#, "-2"),
        (r#"{"max": []}"#, "null"),
        (r#"{"max": [1, "3", 2]}"#, "3"),
        (r#"{"max": [1, "x"]}"#, "null"),
        (
            r#"{"cat": [1e21, " ", 1e-7, " ", 0.000001, " ", 123456789012345680000]}"#,
            r#""1e+21 1e-7 0.000001 123456789012345680000""#,
        ),
        (
            r#"{"cat": [null, true, [1, [2, null]], {"x": 1, "y": 2}]}"#,
            r#""true1,2,[object Object]""#,
        ),
        (r#"{"substr": ["jsonlogic", -5]}"#, r#""logic""#),
        (r#"{"substr": ["jsonlogic", 4, -2]}"#, r#""log""#),
        (r#"{"substr": ["é😀x", 3]}"#, r#""x""#),
        (r#"{"in": ["ing", "Spring"]}"#, "true"),
        (r#"{"in": [1, ["1"]]}"#, "false"),
        (r#"{"in": [[1], [[1]]]}"#, "false"),
        (r#"{"merge": [1, [2, [3]]]}"#, "[1, 2, [3]]"),
        (r#"{"and": []}"#, "null"),
        (r#"{"!": [[]]}"#, "true"),
        (r#"{"!!": ["0"]}"#, "true"),
    ] {
        check(rule, expected);
    }
}

#[test]
fn truth_is_that_of_json_logic() {
    for no in ["null", "false", "0", "-0", "0.0", "\"\"", "[]"] {
        assert!(!truthy(&json(no)), "{no}");
    }
    for yes in ["true", "1", "-1", "\"0\"", "[0]", "{}"] {
        assert!(truthy(&json(yes)), "{yes}");
    }
}

#[test]
fn every_fault_is_reported_with_its_place() {
    let rule =
        r#"{"and": [{"=<": [1, 2]}, {"var": "a ="}, {"filtr": [{"var": ["b +"]}]}, {"*": []}]}"#;
    let errors = JsonLogic::compile(&json(rule)).unwrap_err();
    let found: Vec<_> =
        errors.iter().map(|error| (error.code, error.pointer.as_deref().unwrap())).collect();
    assert_eq!(found[0], (code::UNKNOWN_OPERATOR, "/and/0/=<"));
    assert!(found[1].0.starts_with('S') && found[1].1 == "/and/1/var", "{found:?}");
    assert!(found.contains(&(code::UNKNOWN_OPERATOR, "/and/2/filtr")), "{found:?}");
    assert!(found.contains(&(code::OPERANDS, "/and/3/*")), "{found:?}");
    assert!(errors[1].position.is_some());
    let misspelt = errors.iter().find(|error| error.token.as_deref() == Some("filtr")).unwrap();
    assert_eq!(misspelt.message, "unknown operator `filtr`");
    assert_eq!(misspelt.hint().as_deref(), Some("did you mean `filter`?"));
}

#[test]
fn data_is_no_condition() {
    let faults = |rule: &str| -> Vec<String> {
        let errors = JsonLogic::condition(&json(rule)).err().unwrap_or_default();
        let fault = |error: ExprError| {
            assert_eq!(error.code, code::NOT_A_RULE, "{rule}");
            error.pointer.unwrap_or_default().into_string()
        };
        errors.into_iter().map(fault).collect()
    };
    for (rule, expected) in [
        (r#""$.a > 1""#, vec![""]),
        ("5", vec![""]),
        ("[]", vec![""]),
        ("{}", vec![""]),
        (r#"{">": [{"var": "a"}, 1], "<": [{"var": "a"}, 5]}"#, vec![""]),
        (r#"{"and": [{"var": "a"}, "b > 1", {"<": [1, 2], ">": []}]}"#, vec!["/and/1", "/and/2"]),
        (r#"{"!": "a"}"#, vec!["/!"]),
        (r#"{"if": ["a", true, {"var": "b", "<": 1}]}"#, vec!["/if/0", "/if/2"]),
        (r#"{"==": [{"some": [{"var": "f"}, "x"]}, true]}"#, vec!["/==/0/some/1"]),
        (r#"{"==": [{"var": "a", "+": 1}, 2]}"#, vec!["/==/0"]),
        // Rules, and data where values are.
        ("true", vec![]),
        (r#"{"var": "a"}"#, vec![]),
        (r#"{"and": [{"var": "a"}, true]}"#, vec![]),
        (r#"{"==": [{"or": [{"var": "a"}, "none"]}, "none"]}"#, vec![]),
        (r#"{"in": [{"var": "a"}, ["x", {"k": 1, "l": 2}]]}"#, vec![]),
        (r#"{"if": [{"var": "a"}, "yes", ""]}"#, vec![]),
        (r#"{"!": [{"missing": ["a", "b"]}]}"#, vec![]),
        (r#"{"reduce": [{"var": "f"}, {"+": [{"var": "current"}, 1]}, 0]}"#, vec![]),
    ] {
        assert_eq!(faults(rule), expected, "{rule}");
    }
    let deep = (0..1000).fold(json("1"), |inner, _| Value::array(vec![inner]));
    assert!(JsonLogic::condition(&Value::object(Map::from_iter([("!", deep)]))).is_err());
}

#[test]
fn errors_of_var_say_where() {
    let error = eval(r#"{"or": [false, {"var": ["'a' + 1", 2]}]}"#).unwrap_err();
    assert_eq!((error.code, error.pointer.as_deref()), ("T2001", Some("/or/1/var/0")));
}

#[test]
fn reads_are_those_of_the_context() {
    let rule = r#"{"and": [
        {"var": "a.b"}, {"var": ["$executionCount('c')", 1]}, {"missing": ["d"]}, {"var": "e.0"},
        {"some": [{"var": "f"}, {"var": "inner"}]}
    ]}"#;
    let rule = JsonLogic::compile(&json(rule)).unwrap();
    let reads = rule.reads();
    let names: Vec<_> = reads.paths.iter().map(|read| read.names[0].to_string()).collect();
    assert_eq!(names, ["a", "d", "e", "f"]);
    let places: Vec<_> = reads.paths.iter().map(|read| read.pointer.as_deref().unwrap()).collect();
    assert_eq!(places, ["/and/0/var", "/and/2/missing/0", "/and/3/var", "/and/4/some/0/var"]);
    assert_eq!(reads.paths[0].span, Some(0..1));
    assert_eq!(reads.history[0].pointer.as_deref(), Some("/and/1/var/0"));
    assert!(!reads.whole);
    for whole in [r#"{"var": ""}"#, r#"{"var": {"var": "a"}}"#, r#"{"missing": {"var": "a"}}"#] {
        assert!(JsonLogic::compile(&json(whole)).unwrap().reads().whole, "{whole}");
    }
}

#[test]
fn rules_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let rule = JsonLogic::compile(&json(r#"{"var": {"var": "path"}}"#)).unwrap();
    shared(&rule);
    let scope: Arc<dyn Scope> = PlainScope::shared(json(CONTEXT));
    shared(&scope);
}
