//! What a host gives to an evaluation: functions, variables, the clock, limits, cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mcpgraph_jsonata::{Environment, EvalError, Limits, Program, parse};
use mcpgraph_value::Value;

fn evaluate(
    source: &str,
    input: &str,
    environment: &Environment,
) -> Result<Option<Value>, EvalError> {
    let input = Value::from_json(input).expect(input);
    parse(source).expect(source).evaluate(Some(&input), environment)
}

#[track_caller]
fn check(source: &str, input: &str, environment: &Environment, expected: &str) {
    let result = evaluate(source, input, environment).expect(source);
    let result = result.map_or("undefined".to_owned(), |value| value.to_json());
    assert_eq!(result, expected, "{source}");
}

fn with_history() -> Environment {
    let mut environment = Environment::default();
    environment
        .bindings
        .set("tool", "search")
        .function("previousNode", "<s?n?:x>", |arguments| {
            let name = arguments[0].as_ref().and_then(Value::as_str).unwrap_or("last");
            Ok(Some(format!("output of {name}").into()))
        })
        .expect("a signature")
        .function("executionCount", "<s-:n>", |arguments| {
            Ok(arguments[0].as_ref().and_then(Value::as_str).map(|name| name.len().into()))
        })
        .expect("a signature")
        .function("broken", "<:x>", |_| Err(EvalError::new("H0001", "it is broken")))
        .expect("a signature");
    environment
}

#[test]
fn host_functions_work_wherever_built_ins_do() {
    let environment = with_history();
    let input = r#"{"names":["a","bcd"]}"#;
    check("$previousNode('x')", input, &environment, r#""output of x""#);
    check("$previousNode()", input, &environment, r#""output of last""#);
    check("$map(names, $executionCount)", input, &environment, "[1,3]");
    check(
        "$map(names, function($n){ $previousNode($n) })[1]",
        input,
        &environment,
        r#""output of bcd""#,
    );
    check("names.$executionCount()", input, &environment, "[1,3]");
    check("'ab' ~> $executionCount()", input, &environment, "2");
    check("'ab' ~> $executionCount ~> $string", input, &environment, r#""2""#);
    check("$eval('$previousNode(\"e\")')", input, &environment, r#""output of e""#);
    check("$executionCount(missing)", input, &environment, "undefined");
    check("$tool & '!'", input, &environment, r#""search!""#);
}

#[test]
fn functions_made_once_work_on_the_state_of_each_evaluation() {
    let mut environment = Environment::default();
    environment
        .bindings
        .function_on("count", "<:n>", |count: &u64, _| Ok(Some((*count).into())))
        .expect("a signature");
    for count in [1_u64, 2] {
        let environment = Environment { state: Some(Arc::new(count)), ..environment.clone() };
        check("$count()", "{}", &environment, &count.to_string());
    }
    let error = evaluate("$count()", "{}", &environment).unwrap_err();
    assert_eq!(error.code, "U1005");
}

#[test]
fn errors_of_host_functions_are_placed() {
    let environment = with_history();
    let error = evaluate("1 + $broken()", "{}", &environment).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), ("H0001", "it is broken"));
    assert_eq!(error.token.as_deref(), Some("broken"));
    assert_eq!(error.span.map(|span| &"1 + $broken()"[span.range()]), Some("$broken"));
    let error = evaluate("$previousNode(true)", "{}", &environment).unwrap_err();
    assert_eq!(error.code, "T0410");
    let mut bindings = mcpgraph_jsonata::Bindings::new();
    assert!(bindings.function("f", "<s<n>>", |_| Ok(None)).is_err());
}

#[test]
fn errors_point_at_the_operator_or_function() {
    let environment = Environment::default();
    for (source, code, token, underlined) in [
        ("a + 'x'", "T2002", "+", "+"),
        ("$sum('x')", "T0412", "sum", "$sum"),
        ("( $f := function($x){ $x * 'y' }; $f(1) )", "T2002", "*", "*"),
        ("sum([1])", "T1005", "sum", "sum"),
        ("nothing(1)", "T1006", "nothing", "nothing"),
        ("-'x'", "D1002", "-", "-'x'"),
        ("é and $error('no')", "D3137", "and", "$error"),
        ("{1: 2}", "T1003", "", "{"),
    ] {
        let error = evaluate(source, r#"{"a":1,"é":true}"#, &environment).unwrap_err();
        assert_eq!(error.code, code, "{source}");
        assert_eq!(error.token.as_deref().unwrap_or_default(), token, "{source}");
        let span = error.span.unwrap_or_default();
        assert_eq!(&source[span.range()], underlined, "{source}");
    }
}

#[test]
fn the_clock_is_given() {
    let environment = Environment { now_millis: 1_530_000_000_123, ..Environment::default() };
    check("$millis()", "{}", &environment, "1530000000123");
    check("$now()", "{}", &environment, r#""2018-06-26T08:00:00.123Z""#);
    check("$now('[Y]', '+0100')", "{}", &environment, r#""2018""#);
}

#[test]
fn selecting_a_part_shares_it() {
    let input = Value::from_json(r#"{"a":{"b":[{"c":[1,2]}]}}"#).unwrap();
    let program: Program = "a.b[0].c".parse().unwrap();
    let result = program.evaluate(Some(&input), &Environment::default()).unwrap().unwrap();
    let original = input.pointer("/a/b/0/c").unwrap();
    assert!(result.as_array().unwrap().is_same(original.as_array().unwrap()));
    // The digits of a number that no double holds survive too.
    let input = Value::from_json(r#"{"n":123456789012345678901234567890}"#).unwrap();
    let program: Program = "{'m': n}".parse().unwrap();
    let result = program.evaluate(Some(&input), &Environment::default()).unwrap().unwrap();
    assert_eq!(result.to_json(), r#"{"m":123456789012345678901234567890}"#);
}

#[test]
fn programs_are_shared_between_threads() {
    let program: Program = "$sum(items.(price * $count($match(name, /a/))))".parse().unwrap();
    let input =
        Value::from_json(r#"{"items":[{"price":2,"name":"aa"},{"price":3,"name":"ab"}]}"#).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let result = program.evaluate(Some(&input), &Environment::default());
                assert_eq!(result.unwrap().unwrap().to_json(), "7");
            });
        }
    });
}

fn limited(change: impl FnOnce(&mut Limits)) -> Environment {
    let mut environment = Environment::default();
    change(&mut environment.limits);
    environment
}

#[test]
fn every_limit_is_named_in_its_error() {
    let loops = "( $f := function($n){ $f($n + 1) }; $f(0) )";
    let recursion = "( $f := function($n){ 1 + $f($n) }; $f(0) )";
    for (source, environment, code, named) in [
        (loops, limited(|l| l.steps = 10_000), "U1001", "10000 steps"),
        (loops, limited(|l| l.time = Duration::from_millis(50)), "D1012", "50 ms"),
        (recursion, limited(|l| l.depth = 500), "D1011", "500 levels"),
        ("$pad('', 1e12)", limited(|l| l.bytes = 1_000_000), "U1002", "1000000 bytes"),
        ("[1..1000]", limited(|l| l.sequence = 100), "D2015", "100 items"),
        (
            "$match('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac', /(a*)*\\1(?=b)c/)",
            limited(|_| {}),
            "U1004",
            "1000000",
        ),
    ] {
        let error = evaluate(source, "{}", &environment).unwrap_err();
        assert_eq!(error.code, code, "{source}");
        assert!(error.message.contains(named), "{}", error.message);
        assert!(error.is_limit());
    }
    // A limit that is reached inside `$eval` is still that limit.
    let error = evaluate("$eval('[1..1000]')", "{}", &limited(|l| l.sequence = 100)).unwrap_err();
    assert_eq!(error.code, "D2015");
}

#[test]
fn a_cancelled_evaluation_ends_at_once() {
    let flag = Arc::new(AtomicBool::new(false));
    let environment = Environment {
        cancelled: Some(flag.clone()),
        limits: Limits { time: Duration::from_mins(1), steps: u64::MAX, ..Limits::default() },
        ..Environment::default()
    };
    let running = std::thread::spawn(move || {
        let result = evaluate("( $f := function(){ $f() }; $f() )", "{}", &environment);
        (result.unwrap_err(), Instant::now())
    });
    std::thread::sleep(Duration::from_millis(50));
    let asked = Instant::now();
    flag.store(true, Ordering::Relaxed);
    let (error, ended) = running.join().unwrap();
    assert_eq!(error.code, "U1003");
    assert!(ended.duration_since(asked) < Duration::from_millis(500));
}

#[test]
fn tail_calls_take_no_stack() {
    let source =
        "( $f := function($n, $sum){ $n = 0 ? $sum : $f($n - 1, $sum + $n) }; $f(100000, 0) )";
    check(source, "{}", &limited(|l| l.depth = 100), "5000050000");
}

#[test]
fn deep_recursion_fits_a_small_stack() {
    let source = "( $f := function($n){ $n = 0 ? 0 : 1 + $f($n - 1) }; $f(1500) )";
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        check(source, "{}", &Environment::default(), "1500");
        let nested = format!("{}1{}", "[".repeat(900), "]".repeat(900));
        evaluate(&nested, "{}", &Environment::default()).unwrap();
    });
    thread.unwrap().join().unwrap();
}
