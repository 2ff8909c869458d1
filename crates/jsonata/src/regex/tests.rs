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

#[test]
fn lines_end_as_in_javascript() {
    let all = |pattern: &str, text: &str| {
        let flags = RegexFlags { multi_line: true, ..RegexFlags::default() };
        let regex = Regex::new(pattern, flags).unwrap();
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(next) = regex.find(text, from).unwrap() {
            found.push(next.range.clone());
            from = next.range.end + usize::from(next.range.is_empty());
            if from > text.len() {
                break;
            }
        }
        assert_eq!(regex.is_match(text).unwrap(), !found.is_empty());
        found
    };
    // Around the pattern, inside of it, on one side, in a group, and not at all.
    for pattern in ["^b?$", "(?:^b?$)", "(?:^)b?$", "^b?(?=$)"] {
        assert_eq!(all(pattern, "a\r\nb\rc"), [2..2, 3..4], "{pattern}");
        assert_eq!(all(pattern, "b\nb"), [0..1, 2..3], "{pattern}");
    }
    assert_eq!(all("^.", "ab\u{2028}cd\u{2029}ef"), [0..1, 5..6, 10..11]);
    assert_eq!(all(".$", "ab\u{2028}cd\u{2029}ef"), [1..2, 6..7, 11..12]);
    assert_eq!(all("a$|^b", "a\rb"), [0..1, 2..3]);
    assert_eq!(all(r"a\$", "a\na$").first(), Some(&(2..4)));
    assert_eq!(all("[$^]", "a\n$").first(), Some(&(2..3)));
    // What begins the text begins no line behind it, and the end of a line can be a match.
    assert_eq!(all("^[^]$", "\nab\n\n").first(), Some(&(4..5)));
    assert_eq!(all("[^]$", "a\n\nb"), [0..1, 1..2, 3..4]);
    // A long text with other line ends is no trouble where the pattern stands between them.
    assert_eq!(all("^x$", &("a\r\n".repeat(20_000) + "x")).len(), 1);
}
