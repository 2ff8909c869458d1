//! Where values stand in the file.

use mcpgraph_diagnostics::{Source, Span};
use proptest::prelude::*;

use super::tree;
use crate::{Kind, Text, Tree};

/// What is written at the place of the part at `pointer`.
fn written(text: &str, pointer: &str) -> String {
    let (source, tree) = tree(text);
    source.slice(tree.pointer(pointer).expect("the part").span).to_owned()
}

#[test]
fn every_kind_of_value_has_its_place() {
    let text = "
# a comment
key: plain text   # behind
single: 'it''s'
double: \"a\\tb\"
number: 12
empty:
list:
  - one
  - {k: [1, 2]}   # flow
map:
  deep:
    x: 1

  last: 2
# the end
";
    let cases = [
        ("/key", "plain text"),
        ("/single", "'it''s'"),
        ("/double", "\"a\\tb\""),
        ("/number", "12"),
        ("/empty", ""),
        ("/list", "- one\n  - {k: [1, 2]}"),
        ("/list/1", "{k: [1, 2]}"),
        ("/list/1/k/1", "2"),
        ("/map", "deep:\n    x: 1\n\n  last: 2"),
        ("/map/deep", "x: 1"),
    ];
    for (pointer, expected) in cases {
        assert_eq!(written(text, pointer), expected, "{pointer}");
    }
    let (source, tree) = tree(text);
    let key = &tree.get("list").expect("the list").key;
    assert_eq!(source.slice(key.span()), "list");
}

#[test]
fn aliases_and_merged_values_stand_where_they_are_defined() {
    let text = "a: &a\n  x: 1\nb: *a\nc:\n  <<: *a\n  y: 2\n";
    for pointer in ["/a/x", "/b/x", "/c/x"] {
        let (source, tree) = tree(text);
        let span = tree.pointer(pointer).expect("the part").span;
        assert_eq!(source.position(span.start).line, 2, "{pointer}");
        assert_eq!(tree.pointer_to(span).as_deref(), Some("/a/x"));
    }
    assert_eq!(written(text, "/c"), "<<: *a\n  y: 2");
}

#[test]
fn pointers_are_found_from_places() {
    let text = "a/b:\n  - {~x: [1, 22]}\nc: 3\n";
    let (source, tree) = tree(text);
    let at = |part: &str| {
        let start = source.text().find(part).expect("the part");
        tree.pointer_to(Span::new(start, start + part.len())).expect("a pointer")
    };
    assert_eq!(at("22"), "/a~1b/0/~0x/1");
    assert_eq!(at("~x"), "/a~1b/0/~0x");
    assert_eq!(at("a/b"), "/a~1b");
    assert_eq!(at("[1, 22]"), "/a~1b/0/~0x");
    assert_eq!(at("c: 3"), "");
    assert_eq!(at("1, 2"), "/a~1b/0/~0x");
}

/// What is written at the place of `part` of the text at `/e`.
fn located(yaml: &str, part: &str) -> (String, usize, usize) {
    let (source, tree) = tree(yaml);
    let text = tree.get("e").expect("the key").value.as_text().expect("text").clone();
    let start = text.find(part).expect("the part");
    let span = text.locate(&source, start..start + part.len());
    let place = source.position(span.start);
    (source.slice(span).to_owned(), place.line, place.column)
}

#[test]
fn places_inside_texts_are_exact() {
    let cases = [
        ("e: $.a + $.bad", "bad", (1, 12)),
        ("e: '$.a + $.bad'", "bad", (1, 13)),
        ("e: \"$.a + $.bad\"", "bad", (1, 13)),
        ("x: 1\ne: |\n  one\n    two bad\n\n  three\n", "bad", (4, 9)),
        ("x: 1\ne: |\n  one\n    two\n\n  three bad\n", "bad", (6, 9)),
        ("e: |\n\n\n  bad\n", "bad", (4, 3)),
        ("e: |2-\n    bad\n  x\n", "bad", (2, 5)),
        ("e: |\r\n  one\r\n  two bad\r\n", "bad", (3, 7)),
        ("e: >\n  one\n  two bad\n\n  three\n", "bad", (3, 7)),
        ("e: >\n  one\n\n\n    two bad\n  three\n", "bad", (5, 9)),
        ("e: one\n  two bad\n  three", "bad", (2, 7)),
        ("e: 'one\n  it''s\n\n  bad'", "bad", (4, 3)),
        ("e: \"one \\\n   two\\n bad\"", "bad", (2, 10)),
        ("e: \"\\u00e4\\ud83d\\ude00 bad\"", "bad", (1, 24)),
        ("e: 'ä日 bad'", "bad", (1, 8)),
    ];
    for (yaml, part, place) in cases {
        let (text, line, column) = located(yaml, part);
        assert_eq!((text.as_str(), (line, column)), (part, place), "{yaml}");
    }
}

#[test]
fn an_escape_is_marked_whole() {
    assert_eq!(located("e: \"a\\u00e4b\"", "ä").0, "\\u00e4");
    assert_eq!(located("e: \"a\\ud83d\\ude00b\"", "😀").0, "\\ud83d\\ude00");
    assert_eq!(located("e: 'it''s'", "'").0, "''");
    assert_eq!(located("e: |\n  a\n  b\n", "a\nb").0, "a\n  b");
}

#[test]
fn places_outside_a_text_do_no_harm() {
    let (source, tree) = tree("e: abc");
    let text = tree.get("e").expect("the key").value.as_text().expect("text").clone();
    assert_eq!(text.locate(&source, 3..3), Span::empty(6));
    assert_eq!(text.locate(&source, 1..1), Span::empty(4));
    assert_eq!(text.locate(&source, 90..99), Span::new(6, 6));
    let other = Source::new("other.yaml", "ü");
    assert_eq!(text.locate(&other, 1..2).len(), 0);
}

/// Every text of a tree, keys included.
fn texts<'a>(tree: &'a Tree, found: &mut Vec<&'a Text>) {
    match &tree.kind {
        Kind::String(text) => found.push(text),
        Kind::Seq(items) => items.iter().for_each(|item| texts(item, found)),
        Kind::Map(members) => {
            for member in members {
                found.push(&member.key);
                texts(&member.value, found);
            }
        }
        _ => {}
    }
}

fn assert_places(source: &Source, tree: &Tree) {
    let mut found = Vec::new();
    texts(tree, &mut found);
    for text in found {
        let mut last = 0;
        for (at, character) in text.char_indices() {
            let span = text.locate(source, at..at + character.len_utf8());
            assert!(text.span().contains(span), "{text:?} {at}: {span:?}");
            assert!(span.start >= last, "{text:?} {at}: places go backwards");
            last = span.start;
            let written = source.slice(span);
            if character.is_alphanumeric() && !written.starts_with('\\') {
                assert_eq!(written, character.to_string(), "{text:?} {at}");
                let found = text.range_at(source, span);
                assert_eq!(found, Some(at..at + character.len_utf8()), "{text:?} {at}");
            }
        }
    }
}

proptest! {
    /// Whatever is written, each letter of a text is found where it stands.
    #[test]
    fn letters_are_found_where_they_stand(
        header in prop::sample::select(vec!["|", ">", "|-", ">-", "|+", ">+", "", "'", "\""]),
        lines in prop::collection::vec("[ ]{0,3}[a-zä日']{0,4}( [a-z]{1,3}){0,3} {0,2}", 1..6),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let close = if header.len() == 1 && "'\"".contains(header) { header } else { "" };
        let body: Vec<String> = lines.iter().map(|line| {
            let line = if close == "'" { line.replace('\'', "''") } else { line.clone() };
            format!("  {line}")
        }).collect();
        let text = format!("e: {header}{ending}{}{close}{ending}", body.join(ending));
        let source = Source::new("test.yaml", text);
        if let (Some(tree), _) = super::parse(&source) {
            assert_places(&source, &tree);
        }
    }

    /// Any text at all is read without a panic, and places are right when it is YAML.
    #[test]
    fn anything_can_be_read(text in "[a-c:\\- \n\t\r\\[\\]{},&*!|>'\"%@#~<0-9.ä\u{feff}\u{1b}\\\\]{0,60}") {
        let source = Source::new("test.yaml", text);
        if let (Some(tree), _) = super::parse(&source) {
            assert_places(&source, &tree);
        }
    }
}
