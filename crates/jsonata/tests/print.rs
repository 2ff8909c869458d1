//! Printing and parsing again gives the same tree.

mod common;

use mcpgraph_jsonata::parse;

fn printed(source: &str) -> String {
    parse(source).expect(source).syntax().to_string()
}

#[test]
fn the_normal_form() {
    for (source, expected) in [
        (" a .b[ 0 ] [] ", "a.b[][0]"),
        ("/* sum */ $sum(a.(b*c))", "$sum(a.(b * c))"),
        ("'it''s'", ""),
        ("`a b`.'c d'", "`a b`.\"c d\""),
        ("λ($x)<n:n>{$x+1}", "function($x)<n:n>{ $x + 1 }"),
        ("a^(<b,>c){d:e}", "a^(b, >c){d: e}"),
        ("x~>|a|{'b':1},'c'|", "x ~> |a|{\"b\": 1}, \"c\"|"),
        ("($a:=1;$a?$a:2;)", "($a := 1; $a ? $a : 2)"),
        ("$f(?,1)", "$f(?, 1)"),
        ("a@$b#$c.%.**", "a@$b#$c.%.**"),
        ("$match(x, /a\\/b/im)", "$match(x, /a\\/b/im)"),
        ("\"\\n\\u0001\"", "\"\\n\\u0001\""),
        ("`and` and and", "`and` and `and`"),
    ] {
        if expected.is_empty() {
            assert!(parse(source).is_err());
        } else {
            assert_eq!(printed(source), expected);
        }
    }
}

#[test]
fn the_suite_survives_a_round_trip() {
    let Some(suite) = common::suite() else { return };
    for case in common::cases(&suite) {
        let Ok(program) = parse(&case.expr) else { continue };
        let once = program.syntax().to_string();
        let again = parse(&once).unwrap_or_else(|errors| {
            panic!("{}: {} became {once}: {}", case.name, case.expr, errors[0])
        });
        assert_eq!(again.syntax().to_string(), once, "{}", case.name);
        assert_eq!(shape(program.syntax()), shape(again.syntax()), "{}: {once}", case.name);
    }
}

/// The tree without its places.
fn shape(expr: &mcpgraph_jsonata::ast::Expr) -> String {
    let text = format!("{expr:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(place) = rest.find("Span {") {
        out.push_str(&rest[..place]);
        let end = rest[place..].find('}').unwrap_or(0);
        rest = &rest[place + end..];
    }
    out.push_str(rest);
    out
}
