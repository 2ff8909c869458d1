//! Values as JSON text.
//!
//! The text is the one that `serde_json` writes. Long texts without anything to escape, which is
//! what large payloads are made of, are copied instead of being looked at byte by byte.

use serde::Serialize as _;
use wide::u8x16;

use crate::Value;

impl Value {
    /// Adds the value as JSON on one line.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            // Writing to memory does not fail.
            Self::Number(number) => {
                number.serialize(&mut serde_json::Serializer::new(&mut *out)).unwrap_or_default();
            }
            Self::String(text) => write_text(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write_json(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (index, (key, member)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_text(out, key);
                    out.push(b':');
                    member.write_json(out);
                }
                out.push(b'}');
            }
        }
    }
}

/// Adds a text as a string of JSON.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    if has_escapes(text.as_bytes()) {
        serde_json::to_writer(out, text).unwrap_or_default();
    } else {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

/// Whether something in a text cannot stand there as it is: a control character, `"` or `\`.
///
/// Sixteen bytes are looked at at once, however the program is built: one that is built small has no
/// loops that a compiler made so. What is shorter, as most names are, fits in two words.
fn has_escapes(text: &[u8]) -> bool {
    let (pieces, rest) = text.as_chunks::<16>();
    let Some(last) = text.last_chunk::<16>() else { return has_escapes_short(text) };
    let (groups, single) = pieces.as_chunks::<4>();
    groups.iter().any(|[a, b, c, d]| (special(a) | special(b) | special(c) | special(d)).any())
        || single.iter().any(|piece| special(piece).any())
        // Some of them for the second time, which costs less than one by one.
        || !rest.is_empty() && special(last).any()
}

/// Which of sixteen bytes have to be escaped.
fn special(bytes: &[u8; 16]) -> u8x16 {
    let bytes = u8x16::new(*bytes);
    // This puts `"` in the place of the space, next to the control characters, which stay together.
    let moved = bytes ^ u8x16::splat(b' ' ^ b'"');
    moved.min(u8x16::splat(b' ')).cmp_eq(moved) | bytes.cmp_eq(u8x16::splat(b'\\'))
}

/// The same for fewer than sixteen bytes, of which those in the middle may be looked at twice.
fn has_escapes_short(text: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        return has_special(u64::from_ne_bytes(*first)) || has_special(u64::from_ne_bytes(*last));
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let (first, last) = (u32::from_ne_bytes(*first), u32::from_ne_bytes(*last));
        return has_special(u64::from(first) | u64::from(last) << 32);
    }
    text.iter().any(|byte| matches!(byte, ..0x20 | b'"' | b'\\'))
}

/// Whether one of the eight bytes of a word has to be escaped.
fn has_special(word: u64) -> bool {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    // The highest bit of some byte is set if one is less than that; with a byte that is one is
    // taken from its neighbour, so that this tells whether there is one, and not which.
    let less = |word: u64, than: u8| word.wrapping_sub(each(than)) & !word & each(0x80);
    let is = |byte: u8| less(word ^ each(byte), 1);
    less(word, 0x20) | is(b'"') | is(b'\\') != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_text_that_serde_writes() {
        let long = "x".repeat(200);
        for text in [
            "null".to_owned(),
            "[true,false,0,-1,1.5,1e300,123456789012345678901234567890,0.10]".to_owned(),
            r#"{"":"","a\"b":{"c":[[],{}]},"é":"日本 😀"}"#.to_owned(),
            r#"["\u0000\u001f\b\f\n\r\t\"\\/\u007f\u2028"]"#.to_owned(),
            format!(r#"["{long}","{long}\n","\n{long}","{long}\\{long}"]"#),
        ] {
            let value = Value::from_json(&text).unwrap();
            let mut written = Vec::new();
            value.write_json(&mut written);
            assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(&value).unwrap());
        }
    }

    #[test]
    fn what_has_to_be_escaped_is_found_wherever_it_stands() {
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200] {
            for place in 0..length {
                for byte in 0..=u8::MAX {
                    // Beside bytes from which something could be borrowed.
                    for other in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                        let mut text = vec![other; length];
                        text[place] = byte;
                        let expected = byte < 0x20 || byte == b'"' || byte == b'\\';
                        assert_eq!(has_escapes(&text), expected, "{byte} at {place} of {length}");
                    }
                }
            }
        }
    }
}
