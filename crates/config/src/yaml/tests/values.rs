//! What values mean.

use super::{json, problems};

#[test]
fn plain_scalars_follow_the_core_schema() {
    let cases = [
        ("null", "null"),
        ("~", "null"),
        ("", "null"),
        ("true", "true"),
        ("False", "false"),
        ("yes", "\"yes\""),
        ("on", "\"on\""),
        ("12", "12"),
        ("-3", "-3"),
        ("+3", "3"),
        ("0", "0"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("1.0", "1.0"),
        ("1.10", "1.10"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-.5e3", "-0.5e3"),
        ("1e3", "1e3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1_000", "\"1_000\""),
        ("1.2.3", "\"1.2.3\""),
        ("2024-01-01", "\"2024-01-01\""),
        ("-", "[null]"),
        ("0x", "\"0x\""),
        ("1e", "\"1e\""),
        (".", "\".\""),
        ("'12'", "\"12\""),
        ("\"true\"", "\"true\""),
        ("!!str 12", "\"12\""),
        ("!!int \"12\"", "12"),
        ("!!null ''", "null"),
    ];
    for (yaml, expected) in cases {
        assert_eq!(json(yaml), expected, "{yaml}");
    }
}

#[test]
fn json_is_yaml() {
    let text =
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"args\": [1, \"\\u00e4\\ud83d\\ude00\"]}\n\t}\n}";
    assert_eq!(json(text), r#"{"mcpServers":{"a":{"args":[1,"ä😀"]}}}"#);
}

#[test]
fn anchors_and_merge_keys_are_applied() {
    let text = "
base: &base {timeoutMs: 5, retry: {times: 1}}
more: &more {timeoutMs: 9, server: s}
one: {<<: *base, id: a}
two: {id: b, timeoutMs: 7, <<: [*base, *more]}
copy: *base
text: {'<<': plain}
";
    let root = super::tree(text).1.to_value();
    let part = |key: &str| root.get(key).expect("the key").to_json();
    assert_eq!(part("one"), r#"{"timeoutMs":5,"retry":{"times":1},"id":"a"}"#);
    assert_eq!(part("two"), r#"{"id":"b","timeoutMs":7,"retry":{"times":1},"server":"s"}"#);
    assert_eq!(part("copy"), r#"{"timeoutMs":5,"retry":{"times":1}}"#);
    assert_eq!(part("text"), r#"{"<<":"plain"}"#);
}

#[test]
fn keys_are_text() {
    assert_eq!(
        json("1: a\ntrue: b\n1.50: c\nnull: d"),
        r#"{"1":"a","true":"b","1.50":"c","null":"d"}"#
    );
    assert_eq!(json("&k key: 1\nother: *k"), r#"{"key":1,"other":"key"}"#);
}

#[test]
fn every_problem_of_the_values_is_reported() {
    let text = "\
a: 012
b: .inf
c: !secret x
d: !!int x
e: *nowhere
f: &f [*f]
? [x]
: y
g: {<<: 3}
a: 2
h: !set {x}
";
    insta::assert_snapshot!(problems(text), @r#"
    error[MG0109]: `012` starts with a zero, which readers of YAML understand differently
     --> test.yaml:1:4
      |
    1 | a: 012
      |    ^^^
      hint: put it in quotes if it is text; else write it as JSON does

    error[MG0109]: `.inf` is a number that JSON cannot hold
     --> test.yaml:2:4
      |
    2 | b: .inf
      |    ^^^^
      hint: put it in quotes if it is text; else write it as JSON does

    error[MG0109]: the tag `!secret` has no meaning here
     --> test.yaml:3:4
      |
    3 | c: !secret x
      |    ^^^^^^^
      hint: remove the tag; put text that starts with `!` in quotes

    error[MG0109]: the value does not fit its tag `!!int`
     --> test.yaml:4:10
      |
    4 | d: !!int x
      |          ^

    error[MG0105]: the alias `*nowhere` has no anchor before it
     --> test.yaml:5:4
      |
    5 | e: *nowhere
      |    ^^^^^^^^
      hint: put text that starts with `*` in quotes

    error[MG0105]: the alias `*f` stands inside what it names
     --> test.yaml:6:8
      |
    6 | f: &f [*f]
      |        ^^

    error[MG0107]: a key needs to be text, not a list
     --> test.yaml:7:3
      |
    7 | ? [x]
      |   ^^^

    error[MG0106]: `<<` needs a mapping or a list of them, not a number
     --> test.yaml:9:5
      |
    9 | g: {<<: 3}
      |     ^^
     ::: test.yaml:9:9
      |
    9 | g: {<<: 3}
      |         - this is not a mapping
      hint: write `<<: *anchor`, where `&anchor` stands before a mapping

    error[MG0109]: the tag `!set` has no meaning here
      --> test.yaml:11:4
       |
    11 | h: !set {x}
       |    ^^^^
       hint: remove the tag; put text that starts with `!` in quotes

    error[MG0108]: the key `a` is written twice
      --> test.yaml:10:1
       |
    10 | a: 2
       | ^ written again here
      ::: test.yaml:1:1
       |
     1 | a: 012
       | - first written here
       hint: keep one of them; only the first is used
    "#);
}

#[test]
fn syntax_errors_have_a_place_and_a_hint() {
    let cases = [
        "a: b: c",
        "a:\n\tb: 1",
        "a: [1,\n b: 2\n",
        "a: 'x\n",
        "a: \"\\q\"",
        "a: @x",
        "a:\n  b: 1\n c: 2\n",
        "a: 1\n---\nb: 2\n",
        "{\"a\": 1,,}",
        "a: { b: ${C}, d: 1 }",
    ];
    let shown: Vec<String> = cases.iter().map(|case| problems(case)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    error[MG0101]: invalid YAML: mapping values are not allowed in this context
     --> test.yaml:1:5
      |
    1 | a: b: c
      |     ^
      hint: put text that contains `: ` in quotes

    error[MG0101]: invalid YAML: tabs disallowed within this context (block indentation)
     --> test.yaml:2:2
      |
    2 |     b: 1
      |     ^
      hint: indent with spaces; YAML does not allow tabs there

    error[MG0101]: invalid YAML: unclosed bracket '['
     --> test.yaml:1:4
      |
    1 | a: [1,
      |    ^
      hint: look for a bracket that is not closed, or a comma that is missing or too many

    error[MG0101]: invalid YAML: invalid indentation in multiline quoted scalar
     --> test.yaml:2:1
      |
    2 |
      | ^
      hint: look for quotes that are not closed in a line above, or indent this line

    error[MG0101]: invalid YAML: while parsing a quoted scalar, found unknown escape character
     --> test.yaml:1:4
      |
    1 | a: "\q"
      |    ^
      hint: use single quotes, in which a backslash is only a backslash, or write `\\`

    error[MG0101]: invalid YAML: unexpected character: `@'
     --> test.yaml:1:4
      |
    1 | a: @x
      |    ^
      hint: put text that starts with this character in quotes

    error[MG0101]: invalid YAML: while parsing a block mapping, did not find expected key
     --> test.yaml:3:2
      |
    3 |  c: 2
      |  ^
      hint: look at the indentation of this line and the one before, and for a missing `:`

    error[MG0110]: the file holds more than one document
     --> test.yaml:2:1
      |
    2 | ---
      | ^^^ a second one starts here
      hint: remove the `---`, or put the second document in a file of its own

    error[MG0101]: invalid YAML: unexpected EOF while parsing an implicit flow mapping
     --> test.yaml:1:9
      |
    1 | {"a": 1,,}
      |         ^
      hint: look for a bracket that is not closed, or a comma that is missing or too many

    error[MG0101]: invalid YAML: while parsing a flow mapping, did not find expected ',' or '}'
     --> test.yaml:1:10
      |
    1 | a: { b: ${C}, d: 1 }
      |          ^
      hint: close the bracket before, write a comma, or put text with a bracket in quotes: "${NAME}"
    "#);
}
