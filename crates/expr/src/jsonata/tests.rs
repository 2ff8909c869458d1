use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_value::{Map, Value};

use super::Jsonata;
use crate::{Env, ExprError, PlainScope, Read, Scope};

/// A run of three nodes: `first`, `loop` twice, then the expression.
struct History;

impl Scope for History {
    fn output(&self, node: &str) -> Option<Value> {
        self.executions(node).pop()
    }

    fn names(&self) -> Vec<Arc<str>> {
        ["first", "loop"].map(Arc::from).to_vec()
    }

    fn previous(&self, steps_back: usize) -> Option<Value> {
        let all = [self.executions("first"), self.executions("loop")].concat();
        all.len().checked_sub(steps_back).and_then(|index| all.get(index).cloned())
    }

    fn execution_count(&self, node: &str) -> usize {
        self.executions(node).len()
    }

    fn execution(&self, node: &str, index: i64) -> Option<Value> {
        let all = self.executions(node);
        let from_start = if index < 0 { i64::try_from(all.len()).unwrap() + index } else { index };
        all.get(usize::try_from(from_start).ok()?).cloned()
    }

    fn executions(&self, node: &str) -> Vec<Value> {
        match node {
            "first" => vec![json(r#"{"n": 1}"#)],
            "loop" => vec![json(r#"{"n": 2}"#), json(r#"{"n": 3}"#)],
            _ => Vec::new(),
        }
    }
}

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

fn eval_in(scope: &Arc<dyn Scope>, source: &str) -> Result<Option<Value>, ExprError> {
    Jsonata::compile(source)?.eval(scope, &Env::at(1_510_067_557_121))
}

#[track_caller]
fn history(source: &str, expected: &str) {
    let scope: Arc<dyn Scope> = Arc::new(History);
    assert_eq!(eval_in(&scope, source), Ok(Some(json(expected))), "{source}");
}

#[track_caller]
fn check(context: &str, source: &str, expected: Option<&str>) {
    let scope = PlainScope::shared(json(context));
    assert_eq!(eval_in(&scope, source), Ok(expected.map(json)), "{source}");
}

#[test]
fn history_functions() {
    history("$previousNode()", r#"{"n": 3}"#);
    history("$previousNode(1).n", "3");
    history("$previousNode(3).n", "1");
    for nothing in ["$previousNode(0)", "$previousNode(4)", "$previousNode(-1)"] {
        history(nothing, "null");
    }
    history("$executionCount('loop')", "2");
    history("$executionCount('never')", "0");
    history("$nodeExecution('loop', 0).n", "2");
    history("$nodeExecution('loop', -1).n", "3");
    history("$nodeExecution('loop', -2).n", "2");
    for nothing in ["$nodeExecution('loop', 2)", "$nodeExecution('loop', -3)"] {
        history(nothing, "null");
    }
    history("$nodeExecution('never', 0)", "null");
    history("$nodeExecutions('loop').n", "[2, 3]");
    history("$nodeExecutions('loop')", r#"[{"n": 2}, {"n": 3}]"#);
    history("[$nodeExecutions('never')]", "[]");
}

#[test]
fn history_functions_are_ordinary_functions() {
    history("$map(['first', 'loop'], $executionCount)", "[1, 2]");
    history("'loop' ~> $executionCount", "2");
    history("$eval('$previousNode().n')", "3");
    history("($count := $executionCount; $count('loop'))", "2");
    let scope: Arc<dyn Scope> = Arc::new(History);
    for wrong in ["$executionCount(1)", "$nodeExecution('loop')", "$previousNode('loop')"] {
        assert_eq!(eval_in(&scope, wrong).unwrap_err().code, "T0410", "{wrong}");
    }
    history("$executionCount($.missing)", "0");
    history("$nodeExecutions('first')", r#"[{"n": 1}]"#);
    history("$eval('$' & 'executionCount(\"loop\")')", "2");
    check("{}", "[$previousNode(), $executionCount('a'), $nodeExecutions('a')]", Some("[null, 0]"));
}

#[test]
fn the_context_is_the_latest_outputs() {
    history("$", r#"{"first": {"n": 1}, "loop": {"n": 3}}"#);
    history("$$", r#"{"first": {"n": 1}, "loop": {"n": 3}}"#);
    history("$.loop.n + loop.n + $$.first.n", "7");
    history("$keys($)", r#"["first", "loop"]"#);
}

#[test]
fn plain_paths_mean_what_the_engine_says() {
    let context = r#"{
        "o": {"p": {"q": 1}, "nil": null, "list": [1], "none": [], "text": "abc", "a b": 2},
        "list": [{"x": 1}, {"x": [2, 3]}, {"y": 4}],
        "nested": [[{"x": 1}], [{"x": 2}]]
    }"#;
    let scope = PlainScope::shared(json(context));
    for path in [
        "o",
        "$.o",
        "$$.o",
        "o.p.q",
        "$.o.p.q",
        "o.nil",
        "o.nil.x",
        "o.list",
        "o.none",
        "o.text.x",
        "o.missing",
        "missing",
        "missing.x",
        "o.list.x",
        "list.x",
        "list.y",
        "nested.x",
        "$.list.z",
        "o.`a b`",
        "o.'a b'",
        "o.\"a b\"",
        "`o`.p",
        "'o'.p",
        "$",
        "$$",
        "o.p[]",
        "o.list[]",
        "$.$",
    ] {
        // A conditional makes the engine evaluate what would be followed natively.
        let by_engine = eval_in(&scope, &format!("true ? {path} : 0"));
        assert_eq!(eval_in(&scope, path), by_engine, "{path}");
    }
    check(context, "'o'", Some(r#""o""#));
    check("[{\"a\": 1}, {\"a\": 2}]", "a", Some("[1, 2]"));
    check("5", "$", Some("5"));
}

#[test]
fn plain_paths_share_and_keep_digits() {
    let context = json(r#"{"n": {"id": 123456789012345678901234567890, "list": [1, 2]}}"#);
    let scope = PlainScope::shared(context.clone());
    let id = eval_in(&scope, "$.n.id").unwrap().unwrap();
    assert_eq!(id.to_json(), "123456789012345678901234567890");
    let list = eval_in(&scope, "n.list").unwrap().unwrap();
    assert!(
        list.as_array().unwrap().is_same(context.pointer("/n/list").unwrap().as_array().unwrap())
    );
}

#[test]
fn every_way_of_reading_sees_the_whole_context() {
    let item = r#"{"a": {"b": {"c": 1, "d": 2}, "e": [3, 4]}, "f": 5}"#;
    let context = format!(r#"{{"x": {item}, "y": [{item}, {item}], "z": {{"f": 5}}}}"#);
    // Each reads more than the names of its paths tell.
    for (source, expected) in [
        ("x.a.b.c + x.f", "6"),
        ("{'all': x.a, 'c': x.a.b.c}", r#"{"all": {"b": {"c": 1, "d": 2}, "e": [3, 4]}, "c": 1}"#),
        ("y[f = 5].a.b.c", "[1, 1]"),
        ("y.a[b.d = 2].b.c", "[1, 1]"),
        ("y^(f).a.e[0]", "[3, 3]"),
        ("$sum(y.a.b.(c + d))", "6"),
        ("y.a.b.{'c': c, 'd': d}", r#"[{"c": 1, "d": 2}, {"c": 1, "d": 2}]"#),
        ("$map(y, function($i){ $i.f })", "[5, 5]"),
        ("x.a.b.c.%.d", "2"),
        ("x.a.b.(%.e)", "[3, 4]"),
        ("x.a.(%.f)", "5"),
        ("x@$i.z@$j.($i.f + $j.f)", "10"),
        ("x.($$.z.f)", "5"),
        ("$lookup($$, 'z').f", "5"),
        ("$keys().($lookup($$, $).f)", "[5, 5, 5, 5]"),
        ("$count(**)", "27"),
        ("*.f", "[5, 5, 5, 5]"),
        ("$eval('z.f')", "5"),
        ("$ ~> |z|{'f': 6}| ~> $lookup('z')", r#"{"f": 6}"#),
        ("($f := function($c)<o-:o>{ $c.z }; $f())", r#"{"f": 5}"#),
        ("$merge([x.a.b, z])", r#"{"c": 1, "d": 2, "f": 5}"#),
        ("x.a.b ~> $keys", r#"["c", "d"]"#),
    ] {
        check(&context, source, Some(expected));
    }
}

#[test]
fn reading_a_small_field_of_a_large_payload_is_cheap() {
    let payload = |bytes: usize| {
        let items =
            (0..bytes / 64).map(|n| json(&format!(r#"{{"id": {n}, "text": "some text"}}"#)));
        let members = [("items", Value::array(items.collect())), ("total", Value::from(7))];
        PlainScope::shared(Value::object(Map::from_iter([(
            "node",
            Value::object(Map::from_iter(members)),
        )])))
    };
    let time = |scope: &Arc<dyn Scope>| {
        let expression = Jsonata::compile("{'double': $.node.total * 2}").unwrap();
        let rounds = (0..5).map(|_| {
            let start = Instant::now();
            for _ in 0..20 {
                expression.eval(scope, &Env::at(0)).unwrap();
            }
            start.elapsed()
        });
        rounds.min().unwrap()
    };
    let (small, large) = (time(&payload(1024)), time(&payload(10 * 1024 * 1024)));
    assert!(
        large < small * 3 + Duration::from_millis(1),
        "{small:?} with 1 KiB, {large:?} with 10 MiB"
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let error = Jsonata::compile("$.a + + )").unwrap_err();
    assert!(error.code.starts_with('S'), "{error:?}");
    let position = error.position.unwrap();
    assert!((4..=8).contains(&position), "{error:?}");
    assert!(Jsonata::problems("$.a").is_empty());
    assert!(!Jsonata::problems("(1 +").is_empty());
    let error = Jsonata::compile("'é' & )").unwrap_err();
    assert_eq!((error.position, error.token.as_deref()), (Some(7), Some(")")));
}

#[test]
fn errors_have_the_codes_of_the_reference() {
    let scope = PlainScope::shared(json("{}"));
    for (source, code) in [
        ("'a' + 1", "T2001"),
        ("1 + 'a'", "T2002"),
        ("$nope()", "T1006"),
        ("$error('no')", "D3137"),
        ("(1", "S0203"),
        ("$number('x')", "D3030"),
    ] {
        assert_eq!(eval_in(&scope, source).unwrap_err().code, code, "{source}");
    }
    assert_eq!(eval_in(&scope, "$error('no')").unwrap_err().message, "no");
}

#[test]
fn what_is_no_function_is_named() {
    let scope = PlainScope::shared(json("{}"));
    for (source, message) in [
        ("$nope()", "there is no function `$nope`"),
        ("( $f := 1; $f(2) )", "`$f` is not a function"),
        ("nope(1)", "`nope` is not a function"),
        ("(1)(2)", "what is called is not a function"),
    ] {
        assert_eq!(eval_in(&scope, source).unwrap_err().message, message, "{source}");
    }
}

#[test]
fn errors_of_evaluation_have_a_place() {
    let scope = PlainScope::shared(json(r#"{"a": "x"}"#));
    let error = eval_in(&scope, "1 + $number($.a)").unwrap_err();
    assert_eq!((error.code, error.position), ("D3030", Some(4)));
    let error = eval_in(&scope, "(1; $.a + 1)").unwrap_err();
    assert_eq!((error.code, error.token.as_deref()), ("T2001", Some("+")));
}

#[test]
fn reads_tell_names_and_places() {
    let expression =
        Jsonata::compile("$.list_dir.files[0].name & $executionCount('loop')").unwrap();
    let reads = expression.reads();
    assert!(!reads.whole);
    let names = |read: &Read| read.names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&reads.paths[0]), ["list_dir", "files", "name"]);
    let span = reads.paths[0].span.clone().unwrap();
    assert_eq!(&expression.source()[span], "list_dir");
    assert_eq!(names(&reads.history[0]), ["loop"]);
    assert!(Jsonata::compile("$keys($)").unwrap().reads().whole);
}

#[test]
fn the_time_is_given_and_stands_still() {
    check("{}", "$now()", Some(r#""2017-11-07T15:12:37.121Z""#));
    check("{}", "$now('[Y]-[M01]-[D01]')", Some(r#""2017-11-07""#));
    check("{}", "$now('[h]:[m][P]', '-0500')", Some(r#""10:12am""#));
    check("{}", "$millis()", Some("1510067557121"));
}

#[test]
fn functions_of_text_follow_the_reference() {
    check("{}", "$encodeUrlComponent('a.b-c d/é')", Some(r#""a.b-c%20d%2F%C3%A9""#));
    check("{}", "$encodeUrl('http://x/a b?c=d%')", Some(r#""http://x/a%20b?c=d%25""#));
    check("{}", "$encodeUrl($.missing)", None);
    check("{}", "$pad('x', -3) & '|'", Some(r#""  x|""#));
    check("{}", "'a' & 1 & $.missing & true & [1, 2] & null", Some(r#""a1true[1,2]null""#));
    check("{}", "$formatInteger(14, 'I')", Some(r#""XIV""#));
    check("{}", "['a', 'bc'].$pad(-3)", Some(r#"["  a", " bc"]"#));
    check("{}", "['a', 'bc'].$pad(-3, '.')", Some(r#"["..a", ".bc"]"#));
    check("{}", "['a b'].$encodeUrl() & [4].$formatInteger('i')", Some(r#""a%20biv""#));
    check("{}", "'a' ~> $pad(-3) ~> $encodeUrl", Some(r#""%20%20a""#));
}

#[test]
fn what_json_cannot_write_is_left_out() {
    check("{}", "function($x){ $x }", None);
    check("{}", "{'n': $.missing, 'one': 1}", Some(r#"{"one": 1}"#));
    check("{}", "$.missing", None);
    check("{}", "[1, $.missing, 2]", Some("[1, 2]"));
}

#[test]
fn expressions_are_shared_between_threads() {
    let expression = Arc::new(Jsonata::compile("$sum(list) & ''").unwrap());
    let scope = PlainScope::shared(json(r#"{"list": [1, 2, 3]}"#));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (expression, scope) = (Arc::clone(&expression), Arc::clone(&scope));
            std::thread::spawn(move || expression.eval(&scope, &Env::at(0)))
        })
        .collect();
    for worker in workers {
        assert_eq!(worker.join().unwrap(), Ok(Some(Value::from("6"))));
    }
}
