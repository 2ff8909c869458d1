//! Finds members of JSON objects by their names, wherever they stand in a text.
//!
//! Nothing is parsed as a whole: a quoted name with a colon after it is a member, whatever is around
//! it, so that JSON in the middle of a message, several documents and one that was cut short are all
//! seen, and a text takes time by its length, however it nests.

use std::ops::Range;

use super::view::{END, character};

/// The values of the members whose names are wanted, in their order. `longest` is how long such a
/// name is at most.
pub(super) fn values(
    text: &str,
    longest: usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let mut name = String::with_capacity(longest);
    let mut place = 0;
    while let Some(quote) = text[place..].find('"') {
        place += quote + 1;
        let Some(end) = read_name(text, place, longest, &mut name) else { continue };
        if !is_wanted(&name) {
            continue;
        }
        let colon = skip_space(text, end);
        if text.as_bytes().get(colon) != Some(&b':') {
            continue;
        }
        let begin = skip_space(text, colon + 1);
        let end = end_of_value(text, begin);
        if begin < end {
            values.push(begin..end);
            place = end;
        }
    }
    values
}

/// Reads a name up to its quote, unless it is longer than any that is wanted; where it ends.
fn read_name(text: &str, mut place: usize, longest: usize, name: &mut String) -> Option<usize> {
    name.clear();
    loop {
        let (character, next) = character(text, place)?;
        if character == '"' && next == place + 1 {
            return Some(next);
        }
        if character == END || name.len() + character.len_utf8() > longest {
            return None;
        }
        name.push(character);
        place = next;
    }
}

fn skip_space(text: &str, place: usize) -> usize {
    let rest = &text.as_bytes()[place..];
    place + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Where the value ends that begins at a place. One that does not end takes the rest.
fn end_of_value(text: &str, begin: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut place, mut open) = (begin, 0_usize);
    while let Some(byte) = bytes.get(place) {
        match byte {
            b'"' if open == 0 && place > begin => return place,
            b'"' => {
                place = end_of_string(bytes, place + 1);
                if open == 0 {
                    return place;
                }
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 0 => return place,
            b'}' | b']' => {
                open -= 1;
                if open == 0 {
                    return place + 1;
                }
            }
            b',' if open == 0 => return place,
            b' ' | b'\t' | b'\r' | b'\n' if open == 0 => return place,
            _ if char::from(*byte) == END => return place,
            _ => {}
        }
        place += 1;
    }
    place
}

/// Where a string ends, after its quote.
fn end_of_string(bytes: &[u8], mut place: usize) -> usize {
    while let Some(byte) = bytes.get(place) {
        match byte {
            b'"' => return place + 1,
            b'\\' => place += 1,
            _ if char::from(*byte) == END => return place,
            _ => {}
        }
        place += 1;
    }
    bytes.len()
}
