use std::cmp::Ordering;

/// Compares strings by UTF-16 code units, as `<` does in JavaScript.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).position(|(a, b)| a != b);
    let Some(place) = differing else { return a.len().cmp(&b.len()) };
    let (high_a, high_b) = (a.as_bytes()[place], b.as_bytes()[place]);
    // Only from U+E000 on does the order of code units differ from that of code points.
    if high_a < 0xEE || high_b < 0xEE {
        return high_a.cmp(&high_b);
    }
    a.encode_utf16().cmp(b.encode_utf16())
}

/// The length in UTF-16 code units.
pub(crate) fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The byte at which the UTF-16 code unit `index` begins; inside a pair, where the pair does.
pub(crate) fn byte_of_utf16(text: &str, index: usize) -> usize {
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        if units + c.len_utf16() > index {
            return byte;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// What JavaScript takes for white space.
pub(crate) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_code_units() {
        assert_eq!(compare("a", "b"), Ordering::Less);
        assert_eq!(compare("ab", "a"), Ordering::Greater);
        // U+1F600 is written with the surrogate D83D, which comes before U+FF5E.
        assert_eq!(compare("\u{1F600}", "\u{FF5E}"), Ordering::Less);
        assert_eq!(utf16_len("a\u{1F600}"), 3);
        assert_eq!(byte_of_utf16("a\u{1F600}b", 3), 5);
    }
}
