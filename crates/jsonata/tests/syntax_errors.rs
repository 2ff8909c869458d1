//! What the parser says about sources that are not JSONata.

use mcpgraph_jsonata::{MAX_DEPTH, parse};

/// Codes, tokens and the underlined text of all errors.
fn errors(source: &str) -> Vec<(&'static str, Option<String>, String)> {
    let errors = parse(source).err().unwrap_or_default();
    errors.into_iter().map(|e| (e.code, e.token, source[e.span].to_owned())).collect()
}

#[track_caller]
fn check(source: &str, expected: &[(&str, Option<&str>, &str)]) {
    let got = errors(source);
    let got: Vec<_> =
        got.iter().map(|(code, token, text)| (*code, token.as_deref(), text.as_str())).collect();
    assert_eq!(got, expected, "{source}");
}

#[test]
fn errors_point_at_their_cause() {
    check("\"abc", &[("S0101", None, "\"abc")]);
    check("1e999", &[("S0102", Some("1e999"), "1e999")]);
    check(r#""a\qb""#, &[("S0103", Some("q"), r"\q")]);
    check(r#""a\u12x4""#, &[("S0104", None, r"\u")]);
    check("a.`b", &[("S0105", None, "`b")]);
    check("a /* b", &[("S0106", None, "/*")]);
    check("a b", &[("S0201", Some("b"), "b")]);
    check("1 .. 2", &[("S0201", Some(".."), "..")]);
    check("[1, 2", &[("S0203", Some("(end)"), "")]);
    check("a ! b", &[("S0204", Some("!"), "!"), ("S0201", Some("b"), "b")]);
    check("a +", &[("S0207", Some("(end)"), "")]);
    check("", &[("S0207", Some("(end)"), "")]);
    check("function(a){1}", &[("S0208", Some("a"), "a")]);
    check("a := 1", &[("S0212", Some("a"), "a")]);
    check("a.1", &[("S0213", None, "1")]);
    check("a@b", &[("S0214", Some("@"), "b")]);
    check("%", &[("S0217", Some("parent"), "%")]);
    check("a ~> /x", &[("S0302", None, "/x")]);
    check("λ($x)<s<n>>{$x}", &[("S0401", None, "<")]);
}

#[test]
fn several_errors_are_reported() {
    check(
        "[1, +] & (2 *) & {\"a\" 3}",
        &[("S0211", Some("+"), "+"), ("S0211", Some(")"), ")"), ("S0202", Some("3"), "3")],
    );
}

#[test]
fn depth_is_limited_without_overflowing_the_stack() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("-", ""), ("{\"a\":", "}"), ("f(", ")"), ("a[", "]")]
    {
        let source = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let errors = parse(&source).unwrap_err();
        assert_eq!(errors[0].code, "S0501", "{open}");
        assert!(errors[0].message.contains(&MAX_DEPTH.to_string()));
    }
    assert_eq!(parse(&format!("a{}", "+a".repeat(100_000))).unwrap_err()[0].code, "S0501");
    let deep = format!("{}1{}", "(".repeat(MAX_DEPTH - 2), ")".repeat(MAX_DEPTH - 2));
    parse(&deep).unwrap();
    parse(&format!("a{}", "&a".repeat(MAX_DEPTH - 2))).unwrap();
}
