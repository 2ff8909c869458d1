use super::*;

#[test]
fn stars_and_question_marks() {
    for (pattern, text, wanted) in [
        ("*", "", true),
        ("x__*", "x__a", true),
        ("x__*", "y__a", false),
        ("*_file", "read_file", true),
        ("*_file", "read_files", false),
        ("a*b*c", "a1b2b3c", true),
        ("a*b*c", "a1c2b", false),
        ("?é", "éé", true),
        ("", "", true),
        ("", "a", false),
        ("a", "A", false),
    ] {
        assert_eq!(fits(pattern, text), wanted, "{pattern} {text}");
    }
}

#[test]
fn many_stars_take_no_time() {
    let pattern = "*a".repeat(200) + "b";
    assert!(!fits(&pattern, &"a".repeat(20_000)));
}
