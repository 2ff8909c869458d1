//! Expressions that want to hang, to overflow the stack or to eat the memory end in an error, on a
//! thread with an ordinary stack.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::time::{Duration, Instant};

use mcpgraph_expr::{
    Budget, Cancel, Env, ExprError, JsonLogic, JsonPath, Jsonata, Limit, PlainScope, code,
};
use mcpgraph_value::{Map, Value};

/// The stack of a thread that nobody asked anything special of.
const STACK: usize = 2 * 1024 * 1024;

/// A budget that ends soon.
fn env() -> Env {
    let budget = Budget { time: Duration::from_millis(500), ..Budget::default() };
    Env { budget, ..Env::at(0) }
}

/// A budget with time enough for another limit to be reached first.
fn patient() -> Env {
    let budget = Budget { time: Duration::from_mins(1), bytes: 64 << 20, ..Budget::default() };
    Env { budget, ..Env::at(0) }
}

/// Runs `work` on an ordinary thread and sees to it that it ends soon.
#[track_caller]
fn on_a_small_stack<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let start = Instant::now();
    let result = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(10), "took {took:?}");
    result
}

#[track_caller]
fn jsonata(source: &str) -> Result<Option<Value>, ExprError> {
    jsonata_with(source, env())
}

#[track_caller]
fn jsonata_with(source: &str, env: Env) -> Result<Option<Value>, ExprError> {
    let source = source.to_owned();
    on_a_small_stack(move || {
        let scope = PlainScope::shared(Value::object(Map::new()));
        Jsonata::compile(&source)?.eval(&scope, &env)
    })
}

#[track_caller]
fn exceeds(limit: Limit, source: &str) {
    let env = if limit == Limit::Time { env() } else { patient() };
    let error = jsonata_with(source, env).expect_err(source);
    assert_eq!(error.limit, Some(limit), "{source}: {error:?}");
}

/// Some limit stops it; which one depends on how fast the machine is.
#[track_caller]
fn ends(source: &str) {
    let error = jsonata(source).expect_err(source);
    assert!(error.limit.is_some(), "{source}: {error:?}");
}

#[test]
fn recursion_without_an_end() {
    exceeds(Limit::Depth, "($f := function($x){ 1 + $f($x + 1) }; $f(0))");
    exceeds(Limit::Depth, "($f := function($x){ [$f($x)] }; $f(0))");
    exceeds(Limit::Depth, "($f := function($x){ $map([$x], $f) }; $f(0))");
    exceeds(Limit::Depth, "($f := function($x){ 1 + $eval('$f(1)') }; $f(0))");
    exceeds(Limit::Time, "($f := function($x){ $f($x + 1) }; $f(0))");
    exceeds(Limit::Time, "($f := function($x){ $g($x) }; $g := function($x){ $f($x) }; $f(0))");
    exceeds(Limit::Time, "($f := function($x){ $x > 0 ? $f($x + 1) : 0 }; $f(1))");
}

#[test]
fn sequences_without_an_end() {
    exceeds(Limit::Sequence, "[1..10000000]");
    exceeds(Limit::Sequence, "$count([1..10000000])");
    exceeds(Limit::Sequence, "$sum([0..9999999])");
    ends("[1..2000].([1..2000])");
    exceeds(Limit::Sequence, "$reduce([1..40], function($a, $i){ $append($a, $a) }, [1, 2])");
    exceeds(Limit::Time, "$map([1..1000000], function($i){ $sum([1..1000]) })");
}

#[test]
fn strings_without_an_end() {
    exceeds(Limit::Bytes, "$pad('', 1e12)");
    exceeds(Limit::Bytes, "$pad('', -1e12, '.')");
    exceeds(Limit::Bytes, "$pad('x', 1e300)");
    exceeds(Limit::Bytes, "$formatInteger(1e21, 'I')");
    exceeds(Limit::Bytes, "$reduce([1..60], function($a, $i){ $a & $a }, 'x')");
    exceeds(Limit::Bytes, "($f := function($s){ $f($s & $s) }; $f('x'))");
    exceeds(Limit::Bytes, "[1..10000].$pad('', 100000)");
    exceeds(Limit::Bytes, "$reduce([1..40], function($a, $i){ $join([$a, $a]) }, 'x')");
    exceeds(Limit::Bytes, "$reduce([1..40], function($a, $i){ $replace($a, 'x', 'xxxx') }, 'x')");
}

#[test]
fn values_that_nobody_could_write() {
    exceeds(Limit::Depth, "$reduce([1..100000], function($a, $i){ [[$a]] }, 1)");
    exceeds(Limit::Depth, "$reduce([1..100000], function($a, $i){ {'a': $a} }, 1)");
    let tree = "$reduce([1..60], function($a, $i){ {'a': $a, 'b': $a} }, 1)";
    exceeds(Limit::Bytes, tree);
    ends(&format!("$string({tree})"));
    ends(&format!("{tree} = {tree}"));
    ends(&format!("$count({tree}.**)"));
}

#[test]
fn catastrophic_regular_expressions() {
    let text = "a".repeat(60);
    for pattern in ["(a+)+$", "(a|a)*$", "(.*)*x", "([a-z]+)*=", r"(a*)*\1b", "(?=(a+)+$)b"] {
        // Linear engines just answer; others run into their limit. Both end.
        drop(jsonata(&format!("$match('{text}!', /{pattern}/)")));
        drop(jsonata(&format!("$replace('{text}!', /{pattern}/, '')")));
    }
}

#[test]
fn sources_that_nest() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{'a':", "}"), ("-", ""), ("$f(", ")"), ("a[", "]")]
    {
        let source = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(jsonata(&source).is_err(), "{open}");
        // What is only a little deep is no reason to fail badly either.
        let source = format!("{}1{}", open.repeat(400), close.repeat(400));
        drop(jsonata(&source));
    }
    for operator in ["+", "&", " and ", ".", "~>"] {
        drop(jsonata(&vec!["$x"; 20_000].join(operator)));
    }
}

#[test]
fn another_thread_can_cancel() {
    let cancel = Cancel::new();
    let switch = cancel.clone();
    let start = Instant::now();
    let worker = std::thread::spawn(move || {
        let env = Env { cancel, ..Env::at(0) };
        let scope = PlainScope::shared(Value::object(Map::new()));
        Jsonata::compile("($f := function($x){ $f($x + 1) }; $f(0))").unwrap().eval(&scope, &env)
    });
    std::thread::sleep(Duration::from_millis(50));
    switch.cancel();
    assert_eq!(worker.join().unwrap().unwrap_err().code, code::CANCELLED);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[track_caller]
fn logic(rule: &str, data: Value, env: Env) -> Result<Value, ExprError> {
    let rule = Value::from_json(rule).unwrap();
    on_a_small_stack(move || {
        let compiled = JsonLogic::compile(&rule).map_err(|errors| errors[0].clone())?;
        compiled.eval(&PlainScope::shared(data), &env)
    })
}

#[test]
fn rules_that_grow() {
    let many = Value::array((0..10_000).map(Value::from).collect());
    let reduce = |body: &str, start: &str| {
        let rule = format!(r#"{{"reduce": [{{"var": "$"}}, {body}, {start}]}}"#);
        logic(&rule, many.clone(), patient()).expect_err(body).limit
    };
    let twice = r#"[{"var": "accumulator"}, {"var": "accumulator"}]"#;
    assert_eq!(reduce(&format!(r#"{{"cat": {twice}}}"#), r#""x""#), Some(Limit::Bytes));
    assert_eq!(reduce(&format!(r#"{{"merge": {twice}}}"#), "[1]"), Some(Limit::Sequence));
    assert_eq!(reduce(twice, "1"), Some(Limit::Depth));
    let texts = format!(r#"{{"map": [{{"var": "$"}}, {{"cat": ["{}"]}}]}}"#, "x".repeat(10_000));
    assert_eq!(logic(&texts, many, patient()).unwrap_err().limit, Some(Limit::Bytes));
}

#[test]
fn rules_that_nest() {
    let mut rule = Value::from(1);
    for level in 0..100_000 {
        rule = match level % 3 {
            0 => Value::array(vec![rule]),
            1 => Value::object(Map::from_iter([("!", rule)])),
            _ => Value::object(Map::from_iter([("missing", Value::array(vec![rule]))])),
        };
    }
    let error = on_a_small_stack(move || JsonLogic::compile(&rule).unwrap_err());
    assert_eq!((error[0].code, error[0].limit), (code::RULE_DEPTH, Some(Limit::Depth)));

    let deepest = format!("{}1{}", r#"{"!":["#.repeat(60), "]}".repeat(60));
    assert_eq!(logic(&deepest, Value::Null, env()), Ok(Value::Bool(true)));
}

#[test]
fn computed_operands_are_bounded_too() {
    let hostile = Value::string("($f := function($x){ $f($x + 1) }; $f(0))");
    let data = Value::object(Map::from_iter([("code", hostile)]));
    let error = logic(r#"{"var": {"var": "code"}}"#, data, env()).unwrap_err();
    assert_eq!((error.limit, error.pointer.as_deref()), (Some(Limit::Time), Some("/var")));
}

#[test]
fn deep_values_are_refused_where_they_would_be_walked() {
    let mut deep = Value::from(1);
    for _ in 0..100_000 {
        deep = Value::array(vec![deep]);
    }
    let scope = PlainScope::shared(Value::object(Map::from_iter([("a", deep)])));
    on_a_small_stack(move || {
        let whole = Jsonata::compile("$string(a)").unwrap().eval(&scope, &env());
        assert_eq!(whole.unwrap_err().limit, Some(Limit::Depth));
        assert!(Jsonata::compile("a").unwrap().eval(&scope, &env()).unwrap().is_some());
        let text = JsonLogic::compile(&Value::from_json(r#"{"cat": {"var": "a"}}"#).unwrap());
        assert_eq!(text.unwrap().eval(&scope, &env()).unwrap_err().limit, Some(Limit::Depth));
        let query = JsonPath::compile("$..a").unwrap().query(&scope.context());
        assert_eq!(query.unwrap_err().limit, Some(Limit::Depth));
    });
}

#[test]
fn queries_that_multiply() {
    let mut nested = Value::from(1);
    for _ in 0..100 {
        nested = Value::array(vec![nested, Value::Null]);
    }
    let wide = Value::array((0..3000).map(Value::from).collect());
    let cases = [
        (format!("${}", "..*".repeat(20)), nested, true),
        (format!("${}", "[*,*,*,*]".repeat(20)), Value::array(vec![wide.clone()]), true),
        ("$[?$[?$[?@ == 1]]]".to_owned(), wide.clone(), true),
        ("$[*]".to_owned(), wide, false),
    ];
    on_a_small_stack(move || {
        for (source, value, refused) in cases {
            let outcome = JsonPath::compile(&source).unwrap().query(&value);
            assert_eq!(outcome.is_err(), refused, "{source}");
        }
        for source in [format!("$[?{}@{}]", "(".repeat(126), ")".repeat(126)), "[".repeat(100_000)]
        {
            drop(JsonPath::compile(&source));
        }
    });
}
