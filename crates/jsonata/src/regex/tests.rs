use super::Regex;
use crate::syntax::ast::RegexFlags;

fn first(pattern: &str, text: &str) -> Option<String> {
    let regex = Regex::new(pattern, RegexFlags::default()).unwrap();
    regex.find(text, 0).unwrap().map(|found| text[found.range].to_owned())
}

#[test]
fn classes_are_ascii() {
    assert_eq!(first(r"\w+", "é_a").as_deref(), Some("_a"));
    assert_eq!(first(r"\d", "٣4").as_deref(), Some("4"));
    assert_eq!(first(r"\s", "a\u{a0}b").as_deref(), Some("\u{a0}"));
    assert_eq!(first(r"[^\W]+", "é_a").as_deref(), Some("_a"));
    assert_eq!(first(r"a\b", "aé").as_deref(), Some("a"));
    assert_eq!(first(r"a.b", "a\rb"), None);
}

#[test]
fn look_around_and_references_backtrack() {
    assert_eq!(first(r"\d+(?=€)", "10$ 20€").as_deref(), Some("20"));
    assert_eq!(first(r"(?<!\$)\b\d+", "$10 20").as_deref(), Some("20"));
    assert_eq!(first(r"(\w)\1", "abccd").as_deref(), Some("cc"));
    assert_eq!(first(r"(?<q>['x]).*?\k<q>", "a'b'").as_deref(), Some("'b'"));
    assert_eq!(first(r"\Bb", "b ab").as_deref(), Some("b"));
}

#[test]
fn lenient_syntax_is_accepted() {
    assert_eq!(first(r"a{,2}", "a{,2}").as_deref(), Some("a{,2}"));
    assert_eq!(first(r"{", "{").as_deref(), Some("{"));
    assert_eq!(first(r"[[&&]+", "&[").as_deref(), Some("&["));
    assert_eq!(first(r"\a\-\/", "a-/").as_deref(), Some("a-/"));
    assert_eq!(first(r"[\d-x]+", "1-x").as_deref(), Some("1-x"));
    assert_eq!(first(r"[^]", "\n").as_deref(), Some("\n"));
    assert_eq!(first(r"[]", "a"), None);
    assert_eq!(first(r"\u0041\x42", "AB").as_deref(), Some("AB"));
    assert!(Regex::new("(", RegexFlags::default()).is_err());
    assert!(Regex::new("[a", RegexFlags::default()).is_err());
}

#[test]
fn catastrophic_patterns_end() {
    let text = "a".repeat(40);
    assert_eq!(first("(a+)+$", &format!("{text}b")), None);
    let regex = Regex::new(r"(a*)*\1(?=b)c", RegexFlags::default()).unwrap();
    assert_eq!(regex.find(&text, 0).unwrap_err().code, "U1004");
}
