use std::sync::Arc;

use super::ast::Literal;
use super::error::{Fault, SyntaxError};
use super::token::{RegexFlags, Symbol, Token};
use crate::Span;

/// Cuts the source into tokens, one at a time, because whether `/` divides or opens a regular
/// expression is known only to the parser.
pub(crate) struct Lexer<'s> {
    source: &'s str,
    position: usize,
    /// Faults that did not stop the lexer.
    pub(crate) errors: Vec<SyntaxError>,
}

/// What a `/` means at the place where the next token is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slash {
    Divides,
    OpensRegex,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, position: 0, errors: Vec::new() }
    }

    pub(crate) fn text(&self, span: Span) -> &'s str {
        &self.source[span.range()]
    }

    /// The errors that reading the next token would give, without reading it.
    pub(crate) fn preview(&self, slash: Slash) -> Vec<SyntaxError> {
        let mut ahead = Self { source: self.source, position: self.position, errors: Vec::new() };
        ahead.next(slash);
        ahead.errors
    }

    pub(crate) fn next(&mut self, slash: Slash) -> (Token, Span) {
        loop {
            self.skip_blanks();
            let start = self.position;
            let Some(first) = self.peek() else {
                return (Token::End, Span::new(start, start));
            };
            let token = match first {
                '/' if slash == Slash::OpensRegex => self.regex(),
                '"' | '\'' => self.string(first),
                '`' => self.quoted_name(),
                '0'..='9' => self.number(),
                _ => match self.symbol() {
                    Some(symbol) => Token::Symbol(symbol),
                    None if is_name_end(first) => {
                        // `!` and `~` alone; reported and passed over.
                        self.position += 1;
                        self.fault(Fault::UnknownOperator(first.to_string()), start);
                        continue;
                    }
                    None => self.word(),
                },
            };
            return (token, Span::new(start, self.position));
        }
    }

    fn peek(&self) -> Option<char> {
        self.source[self.position..].chars().next()
    }

    fn byte(&self, offset: usize) -> u8 {
        self.source.as_bytes().get(self.position + offset).copied().unwrap_or(0)
    }

    fn fault(&mut self, fault: Fault, start: usize) {
        self.errors.push(fault.at(Span::new(start, self.position)));
    }

    fn skip_blanks(&mut self) {
        loop {
            while is_blank(char::from(self.byte(0))) {
                self.position += 1;
            }
            if !self.source[self.position..].starts_with("/*") {
                return;
            }
            let start = self.position;
            match self.source[start + 2..].find("*/") {
                Some(length) => self.position = start + 2 + length + 2,
                None => {
                    self.position = self.source.len();
                    self.errors.push(Fault::UnterminatedComment.at(Span::new(start, start + 2)));
                }
            }
        }
    }

    fn symbol(&mut self) -> Option<Symbol> {
        let pair = match (self.byte(0), self.byte(1)) {
            (b'.', b'.') => Some(Symbol::DotDot),
            (b':', b'=') => Some(Symbol::Assign),
            (b'!', b'=') => Some(Symbol::NotEqual),
            (b'>', b'=') => Some(Symbol::GreaterEqual),
            (b'<', b'=') => Some(Symbol::LessEqual),
            (b'*', b'*') => Some(Symbol::StarStar),
            (b'~', b'>') => Some(Symbol::Chain),
            (b'?', b':') => Some(Symbol::Elvis),
            (b'?', b'?') => Some(Symbol::Coalesce),
            _ => None,
        };
        if pair.is_some() {
            self.position += 2;
            return pair;
        }
        let single = match self.byte(0) {
            b'.' => Symbol::Dot,
            b'[' => Symbol::BracketOpen,
            b']' => Symbol::BracketClose,
            b'{' => Symbol::BraceOpen,
            b'}' => Symbol::BraceClose,
            b'(' => Symbol::ParenOpen,
            b')' => Symbol::ParenClose,
            b',' => Symbol::Comma,
            b'@' => Symbol::At,
            b'#' => Symbol::Hash,
            b';' => Symbol::Semicolon,
            b':' => Symbol::Colon,
            b'?' => Symbol::Question,
            b'+' => Symbol::Plus,
            b'-' => Symbol::Minus,
            b'*' => Symbol::Star,
            b'/' => Symbol::Slash,
            b'%' => Symbol::Percent,
            b'|' => Symbol::Bar,
            b'=' => Symbol::Equal,
            b'<' => Symbol::Less,
            b'>' => Symbol::Greater,
            b'^' => Symbol::Caret,
            b'&' => Symbol::Ampersand,
            _ => return None,
        };
        self.position += 1;
        Some(single)
    }

    fn word(&mut self) -> Token {
        let rest = &self.source[self.position..];
        let length = rest.find(is_name_end).unwrap_or(rest.len());
        let word = &rest[..length];
        self.position += length;
        match word {
            "and" => Token::Symbol(Symbol::And),
            "or" => Token::Symbol(Symbol::Or),
            "in" => Token::Symbol(Symbol::In),
            "true" => Token::Literal(Literal::Bool(true)),
            "false" => Token::Literal(Literal::Bool(false)),
            "null" => Token::Literal(Literal::Null),
            _ => match word.strip_prefix('$') {
                Some(name) => Token::Variable(name.into()),
                None => Token::Name(word.into()),
            },
        }
    }

    fn quoted_name(&mut self) -> Token {
        let start = self.position;
        let inside = start + 1;
        if let Some(length) = self.source[inside..].find('`') {
            self.position = inside + length + 1;
            return Token::Name(self.source[inside..inside + length].into());
        }
        self.position = self.source.len();
        self.fault(Fault::UnterminatedName, start);
        Token::Name(self.source[inside..].into())
    }

    fn number(&mut self) -> Token {
        let start = self.position;
        if self.byte(0) == b'0' {
            self.position += 1;
        } else {
            self.digits();
        }
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            self.position += 1;
            self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.position += 1 + sign;
                self.digits();
            }
        }
        let text = &self.source[start..self.position];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Token::Literal(Literal::Number(number)),
            _ => {
                self.fault(Fault::NumberOutOfRange(text.to_owned()), start);
                Token::Literal(Literal::Number(0.0))
            }
        }
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.position += 1;
        }
    }

    fn string(&mut self, quote: char) -> Token {
        let start = self.position;
        self.position += 1;
        let mut text = String::new();
        loop {
            let rest = &self.source[self.position..];
            let Some(length) = rest.find([quote, '\\']) else {
                self.position = self.source.len();
                self.fault(Fault::UnterminatedString, start);
                break;
            };
            text.push_str(&rest[..length]);
            self.position += length + 1;
            if rest[length..].starts_with(quote) {
                break;
            }
            self.escape(&mut text);
        }
        Token::Literal(Literal::String(text.into()))
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, text: &mut String) {
        let start = self.position - 1;
        let Some(letter) = self.peek() else {
            return self.fault(Fault::UnknownEscape(String::new()), start);
        };
        self.position += letter.len_utf8();
        match letter {
            '"' | '\\' | '/' => text.push(letter),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => match self.code_unit() {
                Some(unit) => self.code_point(unit, text),
                None => self.fault(Fault::BadUnicodeEscape, start),
            },
            _ => self.fault(Fault::UnknownEscape(letter.to_string()), start),
        }
    }

    /// Four hexadecimal digits, or fewer where the source ends.
    fn code_unit(&mut self) -> Option<u32> {
        let rest = &self.source[self.position..];
        let digits = rest.get(..rest.len().min(4))?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.position += digits.len();
        u32::from_str_radix(digits, 16).ok()
    }

    /// Joins a pair of surrogates; a lone one becomes the replacement character, because a Rust
    /// string cannot hold it.
    fn code_point(&mut self, unit: u32, text: &mut String) {
        if (0xD800..0xDC00).contains(&unit) && self.source[self.position..].starts_with("\\u") {
            let rewind = self.position;
            self.position += 2;
            match self.code_unit() {
                Some(low @ 0xDC00..0xE000) => {
                    let joined = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    text.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
                    return;
                }
                _ => self.position = rewind,
            }
        }
        text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    /// A slash inside brackets does not close the expression, nor does an escaped one.
    fn regex(&mut self) -> Token {
        let start = self.position;
        let inside = start + 1;
        let bytes = self.source.as_bytes();
        let mut depth = 0_i64;
        let mut backslashes = 0;
        let mut end = inside;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'/' if depth == 0 && backslashes % 2 == 0 => break,
                b'(' | b'[' | b'{' if backslashes == 0 => depth += 1,
                b')' | b']' | b'}' if backslashes == 0 => depth -= 1,
                _ => {}
            }
            backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
            end += 1;
        }
        let pattern: Arc<str> = self.source[inside..end].into();
        let mut flags = RegexFlags::default();
        if end == bytes.len() {
            self.position = end;
            self.fault(Fault::UnterminatedRegex, start);
            return Token::Regex { pattern, flags };
        }
        self.position = end + 1;
        if pattern.is_empty() {
            self.fault(Fault::EmptyRegex, start);
        }
        loop {
            match self.byte(0) {
                b'i' => flags.ignore_case = true,
                b'm' => flags.multi_line = true,
                _ => return Token::Regex { pattern, flags },
            }
            self.position += 1;
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}')
}

/// Whether an unquoted name stops before this character.
fn is_name_end(c: char) -> bool {
    is_blank(c) || ".[]{}(),@#;:?+-*/%|=<>^&!~".contains(c)
}

/// Whether a name can be written without backticks.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(is_name_end)
        && !name.starts_with(|c: char| c.is_ascii_digit() || "\"'`$".contains(c))
        && !matches!(name, "and" | "or" | "in" | "true" | "false" | "null" | "function" | "λ")
}
