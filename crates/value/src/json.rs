//! Values as JSON text.
//!
//! The text is the one that `serde_json` writes. Long texts without anything to escape, which is
//! what large payloads are made of, are copied instead of being looked at byte by byte.

use serde::Serialize as _;

use crate::Value;

/// How many bytes are looked at together; a compiler makes few instructions of that.
const TOGETHER: usize = 64;

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

/// Adds a text in quotes.
fn write_text(out: &mut Vec<u8>, text: &str) {
    let has_escapes = |bytes: &[u8]| {
        bytes.iter().fold(false, |found, byte| found | matches!(byte, ..0x20 | b'"' | b'\\'))
    };
    if text.as_bytes().chunks(TOGETHER).any(has_escapes) {
        serde_json::to_writer(out, text).unwrap_or_default();
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
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
}
