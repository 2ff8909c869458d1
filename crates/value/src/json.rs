//! Values as JSON text.
//!
//! The text is the one that `serde_json` writes. Long texts without anything to escape, which is
//! what large payloads are made of, are copied instead of being looked at byte by byte.

use serde::Serialize as _;

use crate::Value;

/// How many times eight bytes are looked at before it is asked what was found.
const TOGETHER: usize = 8;

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
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

/// Whether something in a text cannot stand there as it is: a control character, `"` or `\`.
///
/// Eight bytes are looked at at once, however the program is built: one that is built small has no
/// loops that a compiler made so.
fn has_escapes(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| special_bytes(u64::from_ne_bytes(*bytes));
    let (groups, single) = words.as_chunks::<TOGETHER>();
    groups.iter().any(|group| group.iter().fold(0, |found, bytes| found | word(bytes)) != 0)
        || single.iter().any(|bytes| word(bytes) != 0)
        || match text.last_chunk::<8>() {
            // Some of them for the second time, which costs less than one by one.
            Some(last) => !rest.is_empty() && word(last) != 0,
            None => rest.iter().any(|byte| matches!(byte, ..0x20 | b'"' | b'\\')),
        }
}

/// Not 0 if one of eight bytes has to be escaped. In a byte that is below a limit, and only there
/// first, taking the limit away borrows from the highest bit, which was not set. A byte that is another
/// one is 0, and so below 1, after both were put together; its highest bit stays as it was.
fn special_bytes(word: u64) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = EACH << 7;
    let control = word.wrapping_sub(EACH * 0x20);
    let is = |byte: u8| (word ^ (EACH * u64::from(byte))).wrapping_sub(EACH);
    (control | is(b'"') | is(b'\\')) & !word & HIGHEST
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
        for length in [1, 7, 8, 9, 63, 64, 65, 200] {
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
