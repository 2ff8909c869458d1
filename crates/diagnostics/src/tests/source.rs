use crate::{Position, Source, Span};

fn position(text: &str, offset: usize) -> (usize, usize) {
    let Position { line, column } = Source::new("x", text).position(offset);
    (line, column)
}

#[test]
fn lines_and_columns_count_from_one_in_characters() {
    assert_eq!(position("", 0), (1, 1));
    assert_eq!(position("ab\ncd", 1), (1, 2));
    assert_eq!(position("ab\ncd", 2), (1, 3), "the line break belongs to its line");
    assert_eq!(position("ab\ncd", 3), (2, 1));
    assert_eq!(position("äö\nü x", 8), (2, 3), "two bytes are one character");
    assert_eq!(position("äö", 1), (1, 1), "inside a character counts as its start");
    assert_eq!(position("a\n", 99), (2, 1), "behind the end counts as the end");
}

#[test]
fn all_line_endings_count() {
    assert_eq!(position("a\r\nb", 3), (2, 1));
    assert_eq!(position("a\rb", 2), (2, 1));
    let source = Source::new("x", "one\r\ntwo\rthree\n");
    assert_eq!(source.line_count(), 4);
    let lines: Vec<&str> = (0..=5).map(|line| source.slice(source.line_span(line))).collect();
    assert_eq!(lines, ["", "one", "two", "three", "", ""]);
}

#[test]
fn slices_never_panic() {
    let source = Source::new("x", "aä");
    assert_eq!(source.slice(Span::new(0, 2)), "a", "half a character is left out");
    assert_eq!(source.slice(Span::new(5, 9)), "");
    assert_eq!(source.slice(Span { start: 3, end: 1 }), "");
}
