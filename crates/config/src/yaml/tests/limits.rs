//! Input that would cost too much.

use mcpgraph_diagnostics::{Colour, Source, codes, to_terminal};

use super::found;
use crate::{MAX_DEPTH, MAX_FILE_BYTES};

fn code(text: &str) -> Option<mcpgraph_diagnostics::Code> {
    found(text).iter().map(|diagnostic| diagnostic.code).next()
}

#[test]
fn a_large_file_is_not_read() {
    assert_eq!(code(&" ".repeat(MAX_FILE_BYTES + 1)), Some(codes::FILE_TOO_LARGE));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(code(&nested(MAX_DEPTH)), None);
    assert_eq!(code(&nested(MAX_DEPTH + 1)), Some(codes::TOO_DEEP));
    assert_eq!(code(&nested(1_000_000)), Some(codes::TOO_DEEP));
    let block: Vec<String> =
        (0..=MAX_DEPTH).map(|level| format!("{}a:", " ".repeat(level))).collect();
    assert_eq!(code(&block.join("\n")), Some(codes::TOO_DEEP));
    assert_eq!(code(&"- ".repeat(MAX_DEPTH + 1)), Some(codes::TOO_DEEP));
}

#[test]
fn aliases_cannot_nest_deeper_than_text() {
    let levels = (1..200).map(|level| format!("a{level}: &a{level} [*a{}]", level - 1));
    let lines: Vec<String> = std::iter::once("a0: &a0 [x]".to_owned()).chain(levels).collect();
    assert_eq!(code(&lines.join("\n")), Some(codes::TOO_DEEP));
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut lines = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x, x]".to_owned()];
    for level in 1..40 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        lines.push(format!("a{level}: &a{level} [{aliases}]"));
    }
    assert_eq!(code(&lines.join("\n")), Some(codes::TOO_MANY_VALUES));
}

#[test]
fn merge_keys_cannot_multiply_without_end() {
    let keys: Vec<String> = (0..2000).map(|key| format!("k{key}: 1")).collect();
    let mut lines = vec![format!("base: &base {{{}}}", keys.join(", "))];
    lines.extend((0..2000).map(|index| format!("m{index}: {{<<: *base}}")));
    assert_eq!(code(&lines.join("\n")), Some(codes::TOO_MANY_VALUES));
}

/// Files made to keep the reader busy: many problems, on one long line or in one long text.
#[test]
fn floods_of_problems_take_bounded_time() {
    let started = std::time::Instant::now();
    let keys: Vec<String> = (0..50_000).map(|key| format!("\"k{key}\": 1")).collect();
    let strange = format!("{{{}}}", keys.join(", "));
    let variables = "${X}".repeat(200_000);
    let unset = format!("mcpServers: {{s: {{command: \"{variables}\"}}}}");
    for text in [strange, unset] {
        let source = Source::new("test.yaml", text);
        let (_, diagnostics) = crate::read_graph(&source, &|_| None);
        assert!(diagnostics.left_out() > 0);
        assert!(to_terminal(&diagnostics, Colour::Plain).len() < 10_000_000);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
