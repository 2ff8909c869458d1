//! Text as YAML writes it, so that it is read back as the same text.

use crate::Style;
use crate::yaml::scalar::{Plain, resolve};

/// Words that readers of older YAML take for booleans.
const OLD_BOOLEANS: [&str; 4] = ["yes", "no", "on", "off"];

/// Where a text will stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A line of its own, or behind a key or dash.
    Block,
    /// Between brackets or braces.
    Flow,
}

/// Writes a text on one line: without quotes if that reads back the same, else in the quotes that
/// need fewer escapes, `preferred` ones where both do.
pub(super) fn inline(text: &str, context: Context, preferred: Style) -> String {
    if is_plain(text, context) { text.to_owned() } else { quoted(text, preferred) }
}

/// Writes a text in quotes.
pub(super) fn quoted(text: &str, preferred: Style) -> String {
    let single_escapes = text.matches('\'').count();
    let double_escapes = text.matches(['"', '\\']).count();
    let single = text.chars().all(is_printable)
        && match preferred {
            Style::Single => single_escapes <= double_escapes || double_escapes > 0,
            _ => single_escapes < double_escapes,
        };
    if single { format!("'{}'", text.replace('\'', "''")) } else { double(text) }
}

/// Writes a text in double quotes, in which every text can be written.
pub(super) fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_printable(character) => out.push(character),
            _ => out.push_str(&escape(character)),
        }
    }
    out.push('"');
    out
}

fn escape(character: char) -> String {
    let code = u32::from(character);
    if code > 0xffff { format!("\\U{code:08x}") } else { format!("\\u{code:04x}") }
}

/// The header and lines of a `|` block; none if the text is on one line or would not be read back
/// the same.
pub(super) fn literal(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let (header, body) = match text.strip_suffix('\n') {
        Some(body) => ("|", body),
        None => ("|-", text),
    };
    let fits = text.contains('\n')
        && !body.is_empty()
        && !body.starts_with([' ', '\t', '\n', '\u{feff}'])
        && !body.ends_with('\n')
        && body.chars().all(|c| matches!(c, '\n' | '\t') || is_printable(c))
        && body.split('\n').all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t'));
    fits.then(|| (header, body.split('\n').collect()))
}

/// Whether a text without quotes is read back as this text, by any reader of YAML.
fn is_plain(text: &str, context: Context) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return false;
    };
    let second = text[first.len_utf8()..].chars().next();
    let starts = match first {
        '-' => second.is_some_and(|c| !c.is_whitespace()) && !text.starts_with("---"),
        '.' => !text.starts_with("..."),
        '?' | ':' | ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\''
        | '"' | '%' | '@' | '`' | '=' => false,
        _ => text != "<<",
    };
    let inside = !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(":\t")
        && !text.contains("\t#")
        && (context == Context::Block || !text.contains([',', '[', ']', '{', '}']))
        && text.chars().all(is_printable);
    let is_date_or_time = first.is_ascii_digit()
        && text.chars().all(|c| c.is_ascii_digit() || "-:.TZ_ ,".contains(c));
    starts
        && inside
        && !first.is_whitespace()
        && !last.is_whitespace()
        && last != ':'
        && !is_date_or_time
        && resolve(text) == Plain::String
        && !OLD_BOOLEANS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a character may stand for itself.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        && !is_noncharacter(character)
}

/// Characters that some readers refuse.
fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}
