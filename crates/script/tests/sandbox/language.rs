//! A script is the body of an async function of `context`.

use mcpgraph_script::{ConsoleLevel, Limits, Place, Sandbox, check};

use crate::{error, json, run, run_with};

#[tokio::test]
async fn a_script_returns_what_it_likes() {
    assert_eq!(json("return { a: [1, 'two', null] }").await, r#"{"a":[1,"two",null]}"#);
    assert_eq!(json("return context.request.params.n * 2.5").await, "50");
    assert_eq!(run("").await, Ok(None));
    assert_eq!(run("return undefined").await, Ok(None));
    assert_eq!(json("return null").await, "null");
    assert_eq!(
        json("return { ...context.request, seen: true }").await,
        r#"{"params":{"n":20},"seen":true}"#
    );
}

#[tokio::test]
async fn it_awaits() {
    assert_eq!(json("const x = await Promise.resolve(1); await null; return x + 1").await, "2");
    let slept = "const began = Date.now(); await sleep(30); return Date.now() - began >= 29";
    assert_eq!(json(slept).await, "true");
    let together =
        "return await Promise.all([sleep(20).then(() => 'b'), sleep(5).then(() => 'a')])";
    assert_eq!(json(together).await, r#"["b","a"]"#);
}

#[tokio::test]
async fn what_it_throws_is_told_with_its_place() {
    let text = error("let x = 1;\nthrow new Error('no ' + x);").await;
    assert!(text.starts_with("no 1 (at line 2, column"), "{text}");
    assert!(error("null.x").await.starts_with("TypeError: cannot read property 'x' of null"));
    assert_eq!(error("throw { code: 7 }").await, r#"the script threw {"code":7}"#);
    assert!(error("return 1n").await.contains("TypeError"));
    // What it reads at run time is not its own text.
    let text = error("const text = '{';\nJSON.parse(text)").await;
    assert!(text.starts_with("SyntaxError: ") && text.contains("(at line 2, column"), "{text}");
    assert!(error("new Function('a b')()").await.starts_with("SyntaxError: "));
    assert!(error("throw new SyntaxError('mine')").await.starts_with("SyntaxError: mine (at line"));
    assert!(error("let let = 1").await.starts_with("the script is not valid JavaScript: "));
    assert!(error("return () => 1").await.contains("not JSON"));
    assert!(error("const a = {}; a.a = a; return a").await.contains("circular"));
}

#[tokio::test]
async fn the_console_is_kept() {
    let script = "console.log('a', { b: 1 }, undefined, [2]); console.warn(new Error('w')); \
                  console.error('e'); console.debug(null); throw new Error('end')";
    let report = run_with(&Sandbox::default(), script, Limits::default()).await;
    let lines: Vec<_> =
        report.console.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (ConsoleLevel::Info, r#"a {"b":1} undefined [2]"#),
            (ConsoleLevel::Warn, "Error: w"),
            (ConsoleLevel::Error, "e"),
            (ConsoleLevel::Debug, "null"),
        ]
    );
    assert!(report.outcome.is_err());
}

#[tokio::test]
async fn what_is_logged_never_fails() {
    for (value, expected) in [
        ("10n", "10n"),
        ("{ id: 10n, a: [1n] }", r#"{"id":"10n","a":["1n"]}"#),
        ("(() => { const a = {}; a.a = a; return a })()", "[object: circular reference]"),
        ("{ get a() { throw new Error('no') } }", "[object: no]"),
        ("{ toJSON() { throw 7 } }", "[object]"),
        ("new Proxy({}, { ownKeys() { throw new Error('hidden') } })", "[proxy: hidden]"),
        ("Object.assign(new Error('x'), { toString() { throw new Error('y') } })", "{}"),
        (r"'\ud800'", r#""\ud800""#),
        ("Symbol('s')", "[symbol]"),
        ("() => 1", "[function]"),
    ] {
        let script = format!("console.log('a', {value}); return 'done'");
        let report = run_with(&Sandbox::default(), &script, Limits::default()).await;
        assert_eq!(report.outcome.unwrap().unwrap().to_json(), r#""done""#, "{value}");
        assert_eq!(report.console[0].text, format!("a {expected}"), "{value}");
    }
}

#[test]
fn syntax_is_checked_without_running_anything() {
    assert_eq!(check("while (true) {}"), Ok(()));
    assert_eq!(check("const x = await sleep(1); return { x }"), Ok(()));
    assert_eq!(check(""), Ok(()));
    assert_eq!(check("// a comment at the end"), Ok(()));
    let wrong = check("const a = 1;\nconst b = ;\n").unwrap_err();
    assert_eq!(wrong.place, Some(Place { line: 2, column: 11 }), "{wrong}");
    // What is missing at the end is missing there, and not on a line that nobody wrote.
    let wrong = check("return (").unwrap_err();
    assert_eq!(wrong.place, Some(Place { line: 1, column: 9 }), "{wrong}");
    assert!(check("function (").is_err());
    assert!(check(&"x".repeat(2 << 20)).unwrap_err().message.contains("larger than the limit"));
    assert!(check(&"[".repeat(100_000)).is_err());
    assert!(check("return '\0'").is_err());
}

#[test]
fn a_script_does_not_leave_its_function() {
    assert!(check("}); globalThis.x = 1; (async function () {").is_err());
    assert!(check("} } ); (class { async hook(context) {").is_err());
    assert!(check("return 1 }, function () {").is_err());
    assert!(check("import x from 'y'").is_err());
    assert!(check("export default 1").is_err());
}
