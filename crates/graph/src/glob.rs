//! Patterns for names, as people write them.

/// Whether a name fits one of the choices of a pattern, between which there is `|`.
pub(crate) fn fits_any(pattern: &str, name: &str) -> bool {
    pattern.split('|').any(|choice| fits(choice.trim(), name))
}

/// Whether a name fits: `*` stands for any text, `?` for one character.
///
/// It remembers the last star only, so that it takes at most the product of both lengths.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    at = from + 1;
                    seen = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::{fits, fits_any};

    #[test]
    fn patterns() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "anything"),
            ("read_*", "read_file"),
            ("*_file", "read_file"),
            ("r*d*f?le", "read_file"),
            ("a|b|c*", "cd"),
            (" a | b ", "b"),
            ("größe?", "größen"),
            ("**a**", "bab"),
        ] {
            assert!(fits_any(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("read_*", "write"), ("?", ""), ("?", "ab"), ("a|b", "ab"), ("*a", "ab")]
        {
            assert!(!fits_any(pattern, name), "{pattern} {name}");
        }
        let (pattern, name) = ("*a".repeat(1000) + "b", "a".repeat(2000));
        assert!(!fits_any(&pattern, &name));
    }

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
}
