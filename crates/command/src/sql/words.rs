//! Texts of SQL, word by word, before they are read as anything.

use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Whitespace};

use super::Dialect;
use super::check::StatementError;
use crate::fill::is_invisible;

/// How long a text of SQL may be.
const MAX_TEXT: usize = 64 * 1024;

/// Words that PostgreSQL or SQLite read as part of the language where a name without quotes stands,
/// some of them as functions.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "delete",
    "desc",
    "distinct",
    "do",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "indexed",
    "initially",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "rows",
    "select",
    "session_user",
    "set",
    "similar",
    "some",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "unnest",
    "update",
    "user",
    "using",
    "values",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];

/// Whether a name without quotes would be read as something else.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name))
}

/// Takes a text apart and refuses what has no business in it: comments, a second statement, signs
/// that cannot be seen, names that look like others, and literals that are read differently from
/// place to place.
pub(super) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<TokenWithSpan>, StatementError> {
    if text.len() > MAX_TEXT {
        let message = format!("it is {} bytes long; the limit is {MAX_TEXT}", text.len());
        return Err(StatementError { message, offset: None });
    }
    if let Some((offset, found)) =
        text.char_indices().find(|(_, c)| is_invisible(*c) && !c.is_ascii_whitespace())
    {
        let message = format!("it has the character U+{:04X} in it", u32::from(found));
        return Err(StatementError { message, offset: Some(offset) });
    }
    let tokens =
        Tokenizer::new(dialect.grammar(), text).tokenize_with_location().map_err(|error| {
            let at = offset_of(text, error.location.line, error.location.column);
            StatementError { message: error.message, offset: Some(at) }
        })?;
    for token in &tokens {
        if let Some(why) = refusal(&token.token, dialect) {
            let offset = offset_of(text, token.span.start.line, token.span.start.column);
            return Err(StatementError { message: why, offset: Some(offset) });
        }
    }
    Ok(tokens)
}

fn refusal(token: &Token, dialect: Dialect) -> Option<String> {
    match token {
        Token::SemiColon => Some("a statement ends here, and another would begin".to_owned()),
        Token::Whitespace(
            Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_),
        ) => Some("a comment begins here".to_owned()),
        Token::Word(word) => {
            let is_plain = word.value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            match word.quote_style {
                None if !is_plain => {
                    Some(format!("`{}` has letters that only look like A to Z", word.value))
                }
                Some(_) if dialect.quote().is_none() => {
                    Some("names cannot be quoted here".to_owned())
                }
                Some(quote) if quote != '"' => Some(format!("`{quote}` quotes no name here")),
                Some(_) if word.value.contains('"') || word.value.is_empty() => {
                    Some("a quoted name has a quote in it, or nothing".to_owned())
                }
                _ => None,
            }
        }
        Token::SingleQuotedString(text)
            if dialect == Dialect::EdgeLake && text.contains(['"', '\\']) =>
        {
            Some("a text has a `\"` or `\\` in it, which would end the statement".to_owned())
        }
        Token::Number(_, is_long) if !is_long => None,
        Token::SingleQuotedString(_)
        | Token::Whitespace(_)
        | Token::Comma
        | Token::Eq
        | Token::DoubleEq
        | Token::Neq
        | Token::Lt
        | Token::Gt
        | Token::LtEq
        | Token::GtEq
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::Mod
        | Token::StringConcat
        | Token::LParen
        | Token::RParen
        | Token::Period
        | Token::DoubleColon
        | Token::EOF => None,
        // JSON members and regular expressions.
        Token::Arrow | Token::LongArrow | Token::Tilde | Token::TildeAsterisk
            if dialect != Dialect::EdgeLake =>
        {
            None
        }
        other => Some(format!("`{other}` has no place here")),
    }
}

/// The byte at a line and a column, which count characters from 1.
pub(super) fn offset_of(text: &str, line: u64, column: u64) -> usize {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n').map_or(0, |end| end + 1);
    }
    let characters = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    text[start..].char_indices().nth(characters).map_or(text.len(), |(offset, _)| start + offset)
}
