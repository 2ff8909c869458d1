use proptest::prelude::*;

use super::{marked, problem};
use crate::codes::{DUPLICATE_KEY, TOOL_NAME};
use crate::{Colour, Diagnostic, Diagnostics, Source, Span, to_terminal};

fn plain(text: &str) -> String {
    to_terminal(&problem(text), Colour::Plain)
}

#[test]
fn the_whole_block() {
    let text = format!("{}name: x\n«name»: y\n", "# line\n".repeat(9));
    let (source, span) = marked(&text);
    let mut all = Diagnostics::from(
        Diagnostic::error(DUPLICATE_KEY, "the key `name` is written twice")
            .at(&source, span, "written again here")
            .also(&source, Span::new(63, 67), "first written here")
            .hint("keep one of them\nand remove the other"),
    );
    all.push(Diagnostic::warning(TOOL_NAME, "a problem without a place"));
    insta::assert_snapshot!(to_terminal(&all, Colour::Plain), @r#"
    error[MG0108]: the key `name` is written twice
      --> graph.yaml:11:1
       |
    11 | name: y
       | ^^^^ written again here
      ::: graph.yaml:10:1
       |
    10 | name: x
       | ---- first written here
       hint: keep one of them
             and remove the other

    warning[MG0118]: a problem without a place
    "#);
}

#[test]
fn tabs_and_wide_characters_keep_the_underline_in_place() {
    insta::assert_snapshot!(plain("\t日本: «値段»: x"), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:1:6
      |
    1 |     日本: 値段: x
      |           ^^^^ here
    "#);
}

#[test]
fn a_span_of_several_lines_is_shown_by_its_first() {
    insta::assert_snapshot!(plain("a:\n  «b: 1\n  c: 2»\n"), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:2:3
      |
    2 |   b: 1
      |   ^^^^ here
    "#);
}

#[test]
fn an_empty_span_and_the_end_of_the_file_have_a_mark() {
    insta::assert_snapshot!(plain("a: «»1"), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:1:4
      |
    1 | a: 1
      |    ^ here
    "#);
    insta::assert_snapshot!(plain("a: 1\n«»"), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:2:1
      |
    2 |
      | ^ here
    "#);
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let line = format!("{}«wrong»{}", "x".repeat(500), "y".repeat(500));
    insta::assert_snapshot!(plain(&line), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:1:501
      |
    1 | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxwrongyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
      |                                          ^^^^^ here
    "#);
    let line = format!("«{}»", "z".repeat(500));
    insta::assert_snapshot!(plain(&line), @r#"
    error[MG0113]: something is wrong
     --> graph.yaml:1:1
      |
    1 | zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
    "#);
}

#[test]
fn colours_are_only_added() {
    let problem = problem("a: «1»");
    let coloured = to_terminal(&problem, Colour::Ansi);
    assert!(coloured.contains('\u{1b}'));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = escape.split_once('m').expect("the end of the escape").1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, to_terminal(&problem, Colour::Plain));
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let source = Source::new("a\u{1b}[2J.yaml", "k: \u{1b}]0;owned\u{7}\u{202e}x\u{9b}\n");
    let all = Diagnostics::from(
        Diagnostic::error(TOOL_NAME, "bad \u{1b}[31m name\r\n")
            .at(&source, Span::new(3, 9), "label \u{8}")
            .hint("hint \u{1b}c"),
    );
    let shown = to_terminal(&all, Colour::Plain);
    let controls: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert!(controls.is_empty(), "{controls:?}");
    insta::assert_snapshot!(shown, @r#"
    error[MG0118]: bad ␛[31m name␍␊
     --> a␛[2J.yaml:1:4
      |
    1 | k: ␛]0;owned␇�x�
      |    ^^^^^^ label ␈
      hint: hint ␛c
    "#);
}

proptest! {
    /// Any text and any span can be shown, without control characters and in bounded lines.
    #[test]
    fn everything_can_be_shown(text in "\\PC{0,40}|[ \t\r\na-zäß\u{1b}\u{202e}日]{0,300}", start in 0..320_usize, len in 0..320_usize) {
        let source = Source::new("x", text);
        let all = Diagnostics::from(
            Diagnostic::error(TOOL_NAME, "m").at(&source, Span::new(start, start + len), "l"),
        );
        let shown = to_terminal(&all, Colour::Plain);
        prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert!(shown.lines().all(|line| line.chars().count() < 300));
    }
}
