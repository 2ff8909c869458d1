//! Labels come out of the parser as they are written.
//!
//! It treats them as HTML and takes out what a browser should not show, so that `<order_id>` would
//! be gone. What makes text HTML is therefore hidden from it, byte for byte.

/// Stands for `<` where it begins no arrow.
const LESS: u8 = 1;

/// Stands for `&` where it begins a character reference.
const AND: u8 = 2;

/// The references that are read as the characters they mean.
const REFERENCES: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];

/// Hides what would make text HTML, but not in `@{ … }`, which is read as YAML.
pub(super) fn hide(text: &mut [u8]) {
    let mut is_yaml = false;
    for at in 0..text.len() {
        let rest = &text[at..];
        match rest {
            [b'@', b'{', ..] => is_yaml = true,
            [b'}', ..] => is_yaml = false,
            _ if is_yaml => {}
            // `<-->`, `<-.->` and `<==>` are arrows.
            [b'<', b'-', b'-' | b'.', ..] | [b'<', b'=', b'=', ..] => {}
            [b'<', ..] => text[at] = LESS,
            [b'&', ..] if is_reference(&rest[1..]) => text[at] = AND,
            _ => {}
        }
    }
}

/// Whether `lt;` or the like stands here.
fn is_reference(rest: &[u8]) -> bool {
    const LONGEST: usize = 12;
    let end = rest.iter().take(LONGEST).position(|byte| *byte == b';');
    end.is_some_and(|end| {
        end > 0 && rest[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
    })
}

/// A label, or a message that quotes one, as it is written.
pub(super) fn restored(text: &str) -> String {
    let mut restored = text.replace(char::from(LESS), "<").replace(char::from(AND), "&");
    if restored.contains('&') {
        for (reference, character) in REFERENCES {
            restored = restored.replace(reference, character);
        }
    }
    restored
}
