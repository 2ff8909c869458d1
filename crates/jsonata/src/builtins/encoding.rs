use mcpgraph_value::Value;

use super::take;
use crate::error::{Outcome, fail};
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;

const HEX: &[u8; 16] = b"0123456789ABCDEF";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The string that is the first argument, after paying for a result of `factor` times its length.
fn subject(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    factor: usize,
) -> Outcome<Option<std::sync::Arc<str>>> {
    let [item] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    evaluator.budget.steps(text.len() / 16)?;
    evaluator.budget.allocate(text.len() * factor)?;
    Ok(Some(text.clone()))
}

/// As the reference does, every UTF-16 code unit is one byte, the lower half of it.
pub(super) fn base64_encode(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let Some(text) = subject(evaluator, arguments, 4)? else { return Ok(None) };
    let bytes: Vec<u8> = text.encode_utf16().map(|unit| unit as u8).collect();
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, &byte| group << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (group >> (18 - 6 * place)) & 0x3F;
            out.push(if place <= chunk.len() { char::from(BASE64[digit as usize]) } else { '=' });
        }
    }
    Ok(Some(Item::string(out)))
}

/// As lenient as the reference: what is no digit is passed over, both alphabets are read, and every
/// byte becomes the character with that code.
pub(super) fn base64_decode(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let Some(text) = subject(evaluator, arguments, 2)? else { return Ok(None) };
    let mut out = String::with_capacity(text.len());
    let (mut group, mut bits) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        group = (group << 6 | u32::from(digit)) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(char::from((group >> bits) as u8));
        }
    }
    Ok(Some(Item::string(out)))
}

/// What `encodeURIComponent` leaves as it is, besides letters and digits.
const UNRESERVED: &[u8] = b"-_.!~*'()";
/// What `encodeURI` leaves too.
const RESERVED: &[u8] = b";/?:@&=+$,#";

fn encode(text: &str, also_plain: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) || also_plain.contains(&byte)
        {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 0xF].map(|digit| char::from(HEX[usize::from(digit)])));
        }
    }
    out
}

pub(super) fn encode_url_component(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let Some(text) = subject(evaluator, arguments, 3)? else { return Ok(None) };
    Ok(Some(Item::string(encode(&text, b""))))
}

pub(super) fn encode_url(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    let Some(text) = subject(evaluator, arguments, 3)? else { return Ok(None) };
    Ok(Some(Item::string(encode(&text, RESERVED))))
}

/// Decodes `%XX`, but leaves those that stand for one of `kept`.
fn decode(text: &str, kept: &[u8]) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(&byte) = bytes.get(place) {
        if byte != b'%' {
            out.push(byte);
            place += 1;
            continue;
        }
        let decoded = hex_pair(bytes, place + 1)?;
        if kept.contains(&decoded) {
            out.extend_from_slice(&bytes[place..place + 3]);
        } else {
            out.push(decoded);
            // The rest of a character must be written in the same way.
            let more = match decoded {
                0..0x80 => 0,
                0xC2..0xE0 => 1,
                0xE0..0xF0 => 2,
                0xF0..0xF5 => 3,
                _ => return None,
            };
            for _ in 0..more {
                place += 3;
                if bytes.get(place) != Some(&b'%') {
                    return None;
                }
                out.push(hex_pair(bytes, place + 1)?);
            }
        }
        place += 3;
    }
    String::from_utf8(out).ok()
}

fn hex_pair(bytes: &[u8], place: usize) -> Option<u8> {
    let digit = |place: usize| {
        bytes.get(place).and_then(|&byte| char::from(byte).to_digit(16)).map(|digit| digit as u8)
    };
    Some(digit(place)? << 4 | digit(place + 1)?)
}

fn decoded(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    kept: &[u8],
) -> Outcome<Option<Item>> {
    let Some(text) = subject(evaluator, arguments, 1)? else { return Ok(None) };
    match decode(&text, kept) {
        Some(decoded) => Ok(Some(Item::string(decoded))),
        None => {
            let mut failure =
                fail("D3140", "the text has a `%` that is not part of an encoded character");
            failure.value = Some(Value::String(text));
            Err(failure)
        }
    }
}

pub(super) fn decode_url_component(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    decoded(evaluator, arguments, b"")
}

pub(super) fn decode_url(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    _: &Scope,
) -> Outcome<Option<Item>> {
    decoded(evaluator, arguments, RESERVED)
}
