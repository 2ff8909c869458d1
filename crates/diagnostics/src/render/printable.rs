use std::borrow::Cow;

/// The text with everything a terminal would obey made visible instead: control characters become
/// their pictures, and characters that hide or reorder others become U+FFFD.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(visible).collect())
    }
}

/// The text on one line, printable, and cut after `limit` characters with `…` where it is longer:
/// how names and values from a file are quoted in messages.
pub fn shortened(text: &str, limit: usize) -> String {
    let mut shown: String = text.chars().take(limit).map(visible).collect();
    if text.chars().nth(limit).is_some() {
        shown.push('…');
    }
    shown
}

/// The character that stands for `character` on a terminal.
pub(crate) fn visible(character: char) -> char {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if is_plain(character) => character,
        _ => '\u{fffd}',
    }
}

fn is_plain(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
