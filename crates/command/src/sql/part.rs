//! Pieces of a statement that arguments give.

use sqlparser::ast::{Expr, Select, SetExpr, Visit};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Dialect;
use super::check::{MAX_NESTING, Rules, StatementError, check_part};
use super::words::{offset_of, tokens};
use crate::fill::Refusal;

/// A piece: all of the text, and only that.
pub(super) fn part<T: Visit>(
    name: &str,
    text: &str,
    dialect: Dialect,
    rules: &Rules,
    parse: impl FnOnce(&mut Parser<'static>) -> Result<T, ParserError>,
) -> Result<T, Refusal> {
    let text = Argument { name, text, dialect };
    let mut parser = text.parser(text.tokens()?);
    let parsed = text.read(&mut parser, parse)?;
    text.end(&parser)?;
    text.check(&parsed, rules)?;
    Ok(parsed)
}

/// A condition, and the SELECTs that are joined to the one it stands in by UNION, EXCEPT or
/// INTERSECT, where the rules allow them.
pub(super) fn condition(
    name: &str,
    text: &str,
    dialect: Dialect,
    rules: &Rules,
) -> Result<(Expr, Option<Joined>), Refusal> {
    let text = Argument { name, text, dialect };
    let all = text.tokens()?;
    let mut parser = text.parser(all.clone());
    let condition = text.read(&mut parser, Parser::parse_expr)?;
    text.check(&condition, rules)?;
    let next = parser.peek_token();
    if !is_set_operator(&next.token) {
        text.end(&parser)?;
        return Ok((condition, None));
    }
    if !rules.union {
        let message = format!("`{}` is not allowed; `allow_union` allows it", next.token);
        return Err(text.refused(text.at(message, &next)));
    }
    // It is read behind another SELECT, whose place the one with the condition then takes.
    let mut behind = tokens("SELECT 1 ", dialect).map_err(|error| text.refused(error))?;
    behind.extend(all.into_iter().filter(|token| token.span.start >= next.span.start));
    let mut parser = text.parser(behind);
    let joined = text.read(&mut parser, |parser| parser.parse_query_body(0))?;
    text.end(&parser)?;
    Ok((condition, Some(Joined(joined))))
}

/// SELECTs joined to one that is still to come.
pub(super) struct Joined(Box<SetExpr>);

impl Joined {
    /// All of them, with the first.
    pub(super) fn to(self, select: Box<Select>) -> Box<SetExpr> {
        let Self(mut all) = self;
        let mut first = all.as_mut();
        while let SetExpr::SetOperation { left, .. } = first {
            first = left;
        }
        *first = SetExpr::Select(select);
        all
    }
}

fn is_set_operator(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    matches!(word.keyword, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS)
}

/// The text of an argument, for what is said about it.
struct Argument<'a> {
    name: &'a str,
    text: &'a str,
    dialect: Dialect,
}

impl Argument<'_> {
    fn tokens(&self) -> Result<Vec<TokenWithSpan>, Refusal> {
        tokens(self.text, self.dialect).map_err(|error| self.refused(error))
    }

    fn parser(&self, tokens: Vec<TokenWithSpan>) -> Parser<'static> {
        Parser::new(self.dialect.grammar())
            .with_recursion_limit(MAX_NESTING)
            .with_tokens_with_locations(tokens)
    }

    fn read<T>(
        &self,
        parser: &mut Parser<'static>,
        parse: impl FnOnce(&mut Parser<'static>) -> Result<T, ParserError>,
    ) -> Result<T, Refusal> {
        parse(parser).map_err(|error| self.refused(StatementError::new(error.to_string())))
    }

    /// What was read may stand in the statement.
    fn check(&self, piece: &impl Visit, rules: &Rules) -> Result<(), Refusal> {
        check_part(piece, self.text, rules).map_err(|error| self.refused(error))
    }

    /// Nothing follows what was read.
    fn end(&self, parser: &Parser<'static>) -> Result<(), Refusal> {
        let next = parser.peek_token();
        if next.token == Token::EOF {
            return Ok(());
        }
        let message = format!("`{}` goes on behind the expression", next.token);
        Err(self.refused(self.at(message, &next)))
    }

    fn at(&self, message: String, token: &TokenWithSpan) -> StatementError {
        let start = token.span.start;
        StatementError { message, offset: Some(offset_of(self.text, start.line, start.column)) }
    }

    fn refused(&self, error: StatementError) -> Refusal {
        let why = error.in_text(self.text);
        Refusal(format!("the argument `{}` is refused: {why}", self.name))
    }
}
