//! What an expression reads, told from its text.

use mcpgraph_jsonata::parse;

/// The paths, an exclamation mark if the whole context may be read, and the literal calls.
fn reads(source: &str) -> String {
    let reads = parse(source).expect(source).reads();
    let mut parts: Vec<String> = Vec::new();
    for path in &reads.paths {
        for segment in &path.segments {
            let written = &source[segment.span.range()];
            assert_eq!(written.trim_matches(['`', '"', '\'']), &*segment.name, "{source}");
        }
        parts.push(path.segments.iter().map(|s| &*s.name).collect::<Vec<_>>().join("."));
    }
    parts.extend(reads.literal_calls.iter().map(|call| {
        assert_eq!(&source[call.function_span.range()], format!("${}", call.function));
        let quoted = &source[call.argument_span.range()];
        assert_eq!(&quoted[1..quoted.len() - 1], &*call.argument);
        format!("${}({})", call.function, call.argument)
    }));
    if reads.whole_context {
        parts.push("!".to_owned());
    }
    parts.join(" ")
}

#[test]
fn functions_that_nothing_explains() {
    for (source, expected) in [
        ("$nope(1)", "nope"),
        ("node ~> $nope", "nope"),
        ("node ~> $nope()", "nope"),
        ("node.$nope()", "nope"),
        ("$nope(?, 1)", "nope"),
        ("$map([1], function($v) { $nop($v) })", "nop"),
        ("$sum([1]) ~> $string", ""),
        ("( $f := function($x) { $x }; $f(1) )", ""),
        ("$map([1], function($f) { $f(1) })", ""),
        ("(function($x) { $x })(1)", ""),
        ("$.f(1)", ""),
        ("$map([1], $nope)", ""),
    ] {
        let reads = parse(source).expect(source).reads();
        let names: Vec<&str> = reads.free_functions.iter().map(|free| &*free.name).collect();
        assert_eq!(names.join(" "), expected, "{source}");
        for free in &reads.free_functions {
            assert_eq!(&source[free.span.range()], format!("${}", free.name));
        }
    }
}

#[test]
fn paths_from_the_root() {
    for (source, expected) in [
        ("node.a.b", "node.a.b"),
        ("$.node.a", "node.a"),
        ("$$.node.`a b`.\"c\"", "node.a b.c"),
        ("node.a + $.other.b", "node.a other.b"),
        ("node.items[0].name", "node.items.name"),
        ("node.items[].name^(price)", "node.items.name"),
        ("(node.a).b", "node.a.b"),
        ("{\"x\": node.a, \"y\": [$.b, c..d]}", "node.a b c d"),
        ("( $x := node.a; $x.b )", "node.a"),
        ("node.a ? b : c ?? d ?: e", "node.a b c d e"),
        ("'node'.a", "node.a"),
        ("'node'", ""),
        ("1 + 2", ""),
        ("$uppercase(node.a)", "node.a"),
        ("node.a ~> $uppercase()", "node.a"),
        ("node.a.$uppercase()", "node.a"),
        // What is applied to the root reads from there.
        ("$.{\"x\": node.a, \"y\": b}", "node.a b"),
        ("$.(node.a + b)", "node.a b"),
        ("$.( $x := node.a; $x.b & $.c )", "node.a c"),
        ("$$.[node.a, b].c", "node.a b"),
        ("$[limit > 1].node", "limit node"),
        ("$^(a).node", "a node"),
        ("${kind: node.a}", "kind node.a !"),
        ("$.$uppercase(node.a)", "node.a"),
        ("$.(node.(a))", "node"),
    ] {
        assert_eq!(reads(source), expected, "{source}");
    }
}

#[test]
fn what_is_relative_is_not_reported() {
    for (source, expected) in [
        ("node.items[price > limit].name", "node.items.name"),
        ("node.items[price > $$.limit]", "limit node.items"),
        ("node.items.(a + b)", "node.items"),
        ("node.items.{\"k\": a}", "node.items"),
        ("node.items{kind: $sum(price)}", "node.items"),
        ("node.items^(price).x", "node.items.x"),
        ("node.items@$i.other", "node.items"),
        ("node.items#$i.name", "node.items.name"),
        ("node ~> |a.b|{\"c\": d}|", "node"),
        // The body of a function keeps the context in which it was written.
        ("$map(node.a, function($v){ $v.b + limit })", "node.a limit"),
        ("node.a.$map(b, function($v){ c })", "node.a"),
        ("$x.a", ""),
    ] {
        assert_eq!(reads(source), expected, "{source}");
    }
}

#[test]
fn the_whole_context() {
    for (source, expected) in [
        ("$", "!"),
        ("$$", "!"),
        ("*", "!"),
        ("**.name", "!"),
        ("$.*", "!"),
        ("$lookup($, \"a\")", "!"),
        ("$eval(\"a\")", "$eval(a) !"),
        ("$keys()", "!"),
        ("$string(a)", "a"),
        ("a.%", "a !"),
        ("a.$keys()", "a"),
        ("$.$keys()", "!"),
        ("$.($)", "!"),
        ("$map(a, function($v){ $$ })", "a !"),
    ] {
        assert_eq!(reads(source), expected, "{source}");
    }
}

#[test]
fn calls_with_a_literal_argument() {
    for (source, expected) in [
        ("$previousNode(\"a\").x", "$previousNode(a)"),
        ("$nodeExecution('b', 2) & $executionCount('b')", "$nodeExecution(b) $executionCount(b)"),
        ("$map([1], function($i){ $nodeExecution('b', $i) })", "$nodeExecution(b)"),
        ("( $previousNode := $string; $previousNode('a') )", ""),
        ("$previousNode(name)", "name"),
    ] {
        assert_eq!(reads(source), expected, "{source}");
    }
}
