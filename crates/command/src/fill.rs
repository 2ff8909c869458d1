//! Values in their places: each place has its rule, and what does not fit it is refused.

use mcpgraph_value::Value;

use crate::sql::is_reserved;
use crate::template::{Hole, HoleKind, Piece, Template};

/// An argument that a command does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In an EdgeLake command, outside of quotes: one word.
    Word,
    /// In an EdgeLake command, inside of quotes.
    Quoted,
    /// In the statement of an EdgeLake command: a number, or a text in single quotes.
    Literal,
    /// In the statement of an EdgeLake command, where a table is named.
    Name,
    /// At the beginning of an argument of a program that could be taken for an option.
    Leading,
    /// Elsewhere in an argument of a program.
    Argument,
    /// In the value of a header.
    Header,
    /// In a text that has no structure: what a program reads, a member of a form or of JSON.
    Free,
}

/// How long a value in a command may be.
const MAX_VALUE: usize = 64 * 1024;

/// Words with which EdgeLake's commands are built; as a value they would build on.
const EDGELAKE_WORDS: [&str; 22] = [
    "and",
    "or",
    "not",
    "where",
    "with",
    "in",
    "from",
    "bring",
    "format",
    "dest",
    "destination",
    "run",
    "client",
    "sql",
    "select",
    "drop",
    "delete",
    "insert",
    "update",
    "get",
    "set",
    "exit",
];

/// Fills all placeholders of a text. `place` is told which piece it is, and what stands before it.
pub(crate) fn fill(
    template: &Template,
    arguments: &Value,
    place: impl Fn(usize, &str) -> Place,
) -> Result<String, Refusal> {
    let mut filled = String::new();
    for (index, piece) in template.pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Hole(hole) => {
                let place = place(index, &filled);
                filled.push_str(&value(hole, arguments, place)?);
            }
        }
    }
    Ok(filled)
}

/// Fills a text that has no structure.
pub(crate) fn free(template: &Template, arguments: &Value) -> Result<String, Refusal> {
    fill(template, arguments, |_, _| Place::Free)
}

/// The text of a value in its place.
pub(crate) fn value(hole: &Hole, arguments: &Value, place: Place) -> Result<String, Refusal> {
    let given = argument(hole, arguments)?;
    let text = text_of(hole, given)?;
    if text.len() > MAX_VALUE {
        let length = text.len();
        return Err(refused(hole, format!("is {length} bytes long; the limit is {MAX_VALUE}")));
    }
    if place == Place::Free {
        return Ok(text);
    }
    no_control_characters(hole, &text)?;
    match (hole.kind, place) {
        (HoleKind::Raw, _) => {}
        (HoleKind::Identifier, Place::Word) => {
            identifier(hole, &text)?;
            word(hole, &text)?;
        }
        (HoleKind::Identifier, _) => identifier(hole, &text)?,
        (_, Place::Literal) => return literal(hole, given, &text),
        // A number is checked by its type already.
        (HoleKind::Number, _) => {}
        (HoleKind::Text, Place::Word) => {
            quoted(hole, &text)?;
            return Ok(format!("\"{text}\""));
        }
        (_, Place::Name) => name(hole, given, &text)?,
        (_, Place::Word) => word(hole, &text)?,
        (_, Place::Quoted) => quoted(hole, &text)?,
        (_, Place::Leading) if text.starts_with('-') => {
            return Err(refused(
                hole,
                "begins with `-` and would be taken for an option; a `--` before it in `argv`, or \
                 `{raw:…}`, allows that",
            ));
        }
        (_, Place::Header) if !text.is_ascii() => {
            return Err(refused(hole, "has characters that a header cannot have"));
        }
        (_, Place::Leading | Place::Argument | Place::Header | Place::Free) => {}
    }
    Ok(text)
}

/// The argument that a placeholder names.
pub(crate) fn argument<'a>(hole: &Hole, arguments: &'a Value) -> Result<&'a Value, Refusal> {
    match arguments.get(&hole.name) {
        Some(value) if !value.is_null() => Ok(value),
        _ => Err(Refusal(format!(
            "the command needs the argument `{}`, which is not given",
            hole.name
        ))),
    }
}

/// A single value as text, if it is of the kind the author says.
fn text_of(hole: &Hole, value: &Value) -> Result<String, Refusal> {
    match (hole.kind, value) {
        (HoleKind::Number, Value::Number(number)) => Ok(number.to_string()),
        (HoleKind::Number, _) => Err(wrong_type(hole, "a number", value)),
        (HoleKind::Text | HoleKind::Identifier | HoleKind::Raw, Value::String(text)) => {
            Ok(text.to_string())
        }
        (HoleKind::Text | HoleKind::Identifier, _) => Err(wrong_type(hole, "a text", value)),
        (_, Value::String(text)) => Ok(text.to_string()),
        (_, Value::Number(number)) => Ok(number.to_string()),
        (_, Value::Bool(flag)) => Ok(flag.to_string()),
        (_, Value::Null | Value::Array(_) | Value::Object(_)) => {
            Err(wrong_type(hole, "a text, a number, true or false", value))
        }
    }
}

pub(crate) fn wrong_type(hole: &Hole, wanted: &str, value: &Value) -> Refusal {
    refused(hole, format!("needs to be {wanted}, not {}", value.type_name()))
}

/// A name of a table, a column, a database: letters, digits and `_`, no digit first.
pub(crate) fn identifier(hole: &Hole, text: &str) -> Result<(), Refusal> {
    if is_identifier(text) {
        return Ok(());
    }
    Err(refused(hole, "is not a name: letters (A to Z), digits and `_`, no digit first"))
}

/// A name of a table in a statement, with a schema if need be.
fn name(hole: &Hole, given: &Value, text: &str) -> Result<(), Refusal> {
    if !matches!(given, Value::String(_)) {
        return Err(wrong_type(hole, "a text", given));
    }
    text.split('.').try_for_each(|part| identifier(hole, part))?;
    if text.split('.').any(is_reserved) {
        return Err(refused(hole, "is a word of SQL, and no name"));
    }
    Ok(())
}

/// Whether a text is a name that needs no quotes anywhere.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn word(hole: &Hole, text: &str) -> Result<(), Refusal> {
    let is_word = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
    if !is_word {
        return Err(refused(
            hole,
            "is not one word of letters (A to Z), digits and `_.:-`; write it in quotes in the \
             template to take other texts",
        ));
    }
    if is_edgelake_word(text) {
        return Err(refused(hole, "is a word of EdgeLake's own language"));
    }
    Ok(())
}

/// A value of SQL. A sign stands in brackets: after another one it would begin a comment.
fn literal(hole: &Hole, given: &Value, text: &str) -> Result<String, Refusal> {
    if matches!(given, Value::String(_)) {
        quoted(hole, text)?;
        return Ok(format!("'{text}'"));
    }
    Ok(if text.starts_with('-') { format!("({text})") } else { text.to_owned() })
}

/// Whether a text means something in EdgeLake's language.
pub(crate) fn is_edgelake_word(text: &str) -> bool {
    EDGELAKE_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// What stands in quotes must not end them, nor name something that EdgeLake puts in its place.
fn quoted(hole: &Hole, text: &str) -> Result<(), Refusal> {
    if let Some(quote) = text.chars().find(|c| is_quote(*c)) {
        return Err(refused(hole, format!("has a {} in it", shown(quote))));
    }
    if text.starts_with(['!', '$']) {
        return Err(refused(hole, "begins with a sign by which EdgeLake names variables"));
    }
    Ok(())
}

/// Quotation marks, those that look like them, and what takes away the meaning of one.
pub(crate) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '\\' | '´'
            | '\u{2018}'..='\u{201f}'
            | '\u{2032}'..='\u{2037}'
            | '\u{02b9}'..='\u{02bf}'
            | '\u{02ee}' | '\u{301d}'..='\u{301f}'
            | '\u{ff02}' | '\u{ff07}' | '\u{ff40}' | '\u{ff3c}'
            | '«' | '»' | '\u{2039}' | '\u{203a}'
    )
}

/// Line ends and everything else that cannot be seen.
pub(crate) fn no_control_characters(hole: &Hole, text: &str) -> Result<(), Refusal> {
    match text.chars().find(|c| is_invisible(*c)) {
        Some(found) => Err(refused(hole, format!("has the character {} in it", shown(found)))),
        None => Ok(()),
    }
}

pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

pub(crate) fn refused(hole: &Hole, why: impl std::fmt::Display) -> Refusal {
    Refusal(format!("the argument `{}` {why}", hole.name))
}

pub(crate) fn shown(c: char) -> String {
    if is_invisible(c) { format!("U+{:04X}", u32::from(c)) } else { format!("`{c}`") }
}
