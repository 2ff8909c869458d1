use mcpgraph_config::read_tests;
use mcpgraph_diagnostics::Source;

use super::*;

fn expected(path: &str) -> Vec<PathItem> {
    let text = format!("tests: [{{name: n, tool: t, expect: {{path: [{path}]}}}}]");
    let (file, diagnostics) = read_tests(&Source::new("t", text));
    assert!(diagnostics.is_empty());
    file.unwrap().tests[0].expect.path.clone().unwrap()
}

fn difference(path: &str, actual: &str) -> Option<(usize, Option<usize>)> {
    let actual: Vec<Arc<str>> = actual.split_whitespace().map(Arc::from).collect();
    first_difference(&expected(path), &actual)
}

#[test]
fn a_path_is_followed_through_gaps() {
    for path in
        ["a, b, c", "...", "a, ...", "..., c", "a, …, c", "..., b, ..., ...", "a, ..., b, c"]
    {
        assert_eq!(difference(path, "a b c"), None, "{path}");
    }
    // A gap may have to give back what it took.
    assert_eq!(difference("..., b, c, ..., d", "a b b c c d d"), None);
    assert_eq!(difference("", ""), None);
    assert_eq!(difference("...", ""), None);
}

#[test]
fn the_first_place_that_differs_is_told() {
    let cases = [
        ("a, b, c", "a x c", Some((1, Some(1)))),
        ("a, b", "a b c", Some((2, None))),
        ("a, b, c", "a b", Some((2, Some(2)))),
        ("a, ..., c", "a b", Some((2, Some(2)))),
        ("..., b", "a b c", Some((2, None))),
        ("..., b, ..., d", "a b c", Some((3, Some(3)))),
        ("", "a", Some((0, None))),
    ];
    for (path, actual, told) in cases {
        assert_eq!(difference(path, actual), told, "{path} / {actual}");
    }
}

#[test]
fn a_long_path_is_shown_around_its_difference() {
    let names: Vec<String> = (0..40).map(|n| format!("n{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(
        around(&names, 20),
        "… n14, n15, n16, n17, n18, n19, n20, n21, n22, n23, n24, n25, n26 …"
    );
    assert_eq!(around(&names[..3], 3), "n0, n1, n2");
}
