/// Whether a text fits a pattern, in which `*` stands for any characters and `?` for one.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the latest star is, and how much of the text it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
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
}
