use std::sync::Arc;

use super::ast::{BinaryOp, Expr, ExprKind, SortTerm};
use super::error::{Fault, SyntaxError};
use super::lexer::{Lexer, Slash};
use super::token::{Symbol, Token};
use super::{MAX_DEPTH, MAX_ERRORS, MAX_SOURCE_BYTES};
use crate::Span;
use crate::stack;

mod function;

/// Parses a source; the first error is the one the reference implementation reports.
pub(crate) fn parse(source: &str) -> Result<Expr, Vec<SyntaxError>> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(vec![Fault::TooLong.at(Span::new(0, 0))]);
    }
    let mut parser = Parser {
        lexer: Lexer::new(source),
        token: Token::End,
        span: Span::default(),
        depth: 0,
        too_deep: false,
    };
    parser.advance(Slash::OpensRegex);
    let expr = parser.expression(0);
    if parser.token != Token::End {
        let fault = Fault::TrailingToken(parser.token.to_string());
        parser.fault(fault, parser.span);
    }
    let errors = parser.lexer.errors;
    if errors.is_empty() {
        return Ok(expr);
    }
    let mut reported = Vec::with_capacity(errors.len());
    for error in errors {
        if !reported.contains(&error) {
            reported.push(error);
        }
    }
    reported.truncate(MAX_ERRORS);
    Err(reported)
}

/// A parser by binding powers (Pratt) that looks one token ahead.
///
/// It never stops at an error: it notes it, assumes what was missing and goes on.
struct Parser<'s> {
    lexer: Lexer<'s>,
    /// The token that comes next.
    token: Token,
    span: Span,
    depth: usize,
    too_deep: bool,
}

impl Parser<'_> {
    fn advance(&mut self, slash: Slash) -> (Token, Span) {
        let (token, span) = self.lexer.next(slash);
        let passed = (std::mem::replace(&mut self.token, token), self.span);
        self.span = span;
        passed
    }

    fn at(&self, symbol: Symbol) -> bool {
        self.token == Token::Symbol(symbol)
    }

    /// Passes over `symbol` if it comes next.
    fn take(&mut self, symbol: Symbol) -> bool {
        let found = self.at(symbol);
        if found {
            self.advance(Slash::OpensRegex);
        }
        found
    }

    /// Passes over `symbol`, or reports that it is missing and looks for it further on.
    fn expect(&mut self, symbol: Symbol, slash: Slash) -> Span {
        if !self.at(symbol) {
            let wanted = symbol.as_str();
            let fault = if self.token == Token::End {
                Fault::ExpectedBeforeEnd { wanted }
            } else {
                Fault::Expected { wanted, got: self.token.to_string() }
            };
            self.fault(fault, self.span);
            // What is missing in the middle is taken as written; what is missing at the end may
            // stand behind something that does not belong there.
            if !matches!(symbol, Symbol::Colon | Symbol::ParenOpen | Symbol::BraceOpen) {
                self.skip_to(symbol);
            }
        }
        if self.at(symbol) { self.advance(slash).1 } else { self.span }
    }

    /// Passes over tokens up to `symbol`, but not out of the brackets around this place.
    fn skip_to(&mut self, symbol: Symbol) {
        let mut depth = 0_usize;
        while self.token != Token::End && !(depth == 0 && self.at(symbol)) {
            match self.token {
                Token::Symbol(Symbol::ParenOpen | Symbol::BracketOpen | Symbol::BraceOpen) => {
                    depth += 1;
                }
                Token::Symbol(Symbol::ParenClose | Symbol::BracketClose | Symbol::BraceClose) => {
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                }
                Token::Symbol(Symbol::Comma | Symbol::Semicolon) if depth == 0 => return,
                _ => {}
            }
            self.advance(Slash::Divides);
        }
    }

    /// Notes an error, unless one was found at the same place: that one caused this.
    fn fault(&mut self, fault: Fault, span: Span) {
        let repeated = self.lexer.errors.iter().any(|error| error.span.start == span.range().start);
        if !repeated {
            self.lexer.errors.push(fault.at(span));
        }
    }

    /// The same for an error whose position does not follow from its place.
    fn fault_at(&mut self, fault: Fault, span: Span, position: Option<usize>) {
        let count = self.lexer.errors.len();
        self.fault(fault, span);
        if let Some(error) = self.lexer.errors.get_mut(count) {
            error.position = position;
        }
    }

    fn expression(&mut self, power: u8) -> Expr {
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let expr = stack::grow(|| {
            let mut left = self.prefix();
            loop {
                if left.height as usize > MAX_DEPTH {
                    left = self.give_up();
                }
                match self.token {
                    Token::Symbol(symbol) if symbol.binding_power() > power => {
                        left = self.infix(symbol, left);
                    }
                    _ => return left,
                }
            }
        });
        self.depth -= 1;
        expr
    }

    /// Reports the depth once and goes to the end of the source.
    fn give_up(&mut self) -> Expr {
        if !self.too_deep {
            self.too_deep = true;
            self.lexer.errors.push(Fault::TooDeep.at(self.span));
        }
        while self.token != Token::End {
            self.advance(Slash::Divides);
        }
        leaf(ExprKind::Missing, self.span)
    }

    /// An expression that begins with the next token.
    fn prefix(&mut self) -> Expr {
        if let Token::Symbol(symbol) = self.token
            && symbol.is_delimiter()
        {
            // Left in place: the bracket it closes still needs it. The reference has looked at the
            // token behind it by now and reports what is wrong with that first.
            let ahead = self.lexer.preview(Slash::Divides);
            self.lexer.errors.extend(ahead);
            self.fault(Fault::NotUnary(symbol.as_str().to_owned()), self.span);
            return leaf(ExprKind::Missing, self.span);
        }
        // A token that is an expression by itself is followed by an operator; one that opens or
        // precedes an expression is, for the reference implementation, too.
        let (token, span) = self.advance(Slash::Divides);
        match token {
            Token::End => leaf(ExprKind::Missing, span),
            Token::Name(name) => leaf(ExprKind::Name(name), span),
            Token::Variable(name) => leaf(ExprKind::Variable(name), span),
            Token::Literal(literal) => leaf(ExprKind::Literal(literal), span),
            Token::Regex { pattern, flags } => leaf(ExprKind::Regex { pattern, flags }, span),
            Token::Symbol(symbol) => match symbol {
                Symbol::And | Symbol::Or | Symbol::In => {
                    leaf(ExprKind::Name(symbol.as_str().into()), span)
                }
                Symbol::Star => leaf(ExprKind::Wildcard, span),
                Symbol::StarStar => leaf(ExprKind::Descendants, span),
                Symbol::Percent => leaf(ExprKind::Parent, span),
                Symbol::Minus => {
                    let operand = self.expression(70);
                    let end = operand.span;
                    node(ExprKind::Negate(Box::new(operand)), span, span, end)
                }
                Symbol::ParenOpen => self.block(span),
                Symbol::BracketOpen => self.array(span),
                Symbol::BraceOpen => {
                    let (pairs, end) = self.pairs();
                    node(ExprKind::Object(pairs), span, span, end)
                }
                Symbol::Bar => self.transform(span),
                _ => {
                    self.fault(Fault::NotUnary(symbol.as_str().to_owned()), span);
                    leaf(ExprKind::Missing, span)
                }
            },
        }
    }

    fn block(&mut self, start: Span) -> Expr {
        let mut items = Vec::new();
        while !self.at(Symbol::ParenClose) {
            items.push(self.expression(0));
            if !self.take(Symbol::Semicolon) {
                break;
            }
        }
        let end = self.expect(Symbol::ParenClose, Slash::Divides);
        node(ExprKind::Block(items), start, start, end)
    }

    fn array(&mut self, start: Span) -> Expr {
        let mut items = Vec::new();
        if !self.at(Symbol::BracketClose) {
            loop {
                let mut item = self.expression(0);
                if self.at(Symbol::DotDot) {
                    let (_, token) = self.advance(Slash::OpensRegex);
                    let last = self.expression(0);
                    item = binary(BinaryOp::Range, item, token, last);
                }
                items.push(item);
                if !self.take(Symbol::Comma) {
                    break;
                }
            }
        }
        let end = self.expect(Symbol::BracketClose, Slash::Divides);
        node(ExprKind::Array(items), start, start, end)
    }

    /// `key: value, …}`
    fn pairs(&mut self) -> (Vec<(Expr, Expr)>, Span) {
        let mut pairs = Vec::new();
        if !self.at(Symbol::BraceClose) {
            loop {
                let key = self.expression(0);
                self.expect(Symbol::Colon, Slash::OpensRegex);
                pairs.push((key, self.expression(0)));
                if !self.take(Symbol::Comma) {
                    break;
                }
            }
        }
        (pairs, self.expect(Symbol::BraceClose, Slash::Divides))
    }

    fn transform(&mut self, start: Span) -> Expr {
        let pattern = Box::new(self.expression(0));
        self.expect(Symbol::Bar, Slash::OpensRegex);
        let update = Box::new(self.expression(0));
        let delete = self.take(Symbol::Comma).then(|| Box::new(self.expression(0)));
        let end = self.expect(Symbol::Bar, Slash::OpensRegex);
        node(ExprKind::Transform { pattern, update, delete }, start, start, end)
    }

    /// An expression that continues `left` with the operator that comes next.
    fn infix(&mut self, symbol: Symbol, left: Expr) -> Expr {
        let (_, token) = self.advance(Slash::OpensRegex);
        let power = symbol.binding_power();
        let start = left.span;
        let op = match symbol {
            Symbol::Dot => BinaryOp::Map,
            Symbol::Plus => BinaryOp::Add,
            Symbol::Minus => BinaryOp::Subtract,
            Symbol::Star => BinaryOp::Multiply,
            Symbol::Slash => BinaryOp::Divide,
            Symbol::Percent => BinaryOp::Remainder,
            Symbol::Equal => BinaryOp::Equal,
            Symbol::NotEqual => BinaryOp::NotEqual,
            Symbol::Less => BinaryOp::Less,
            Symbol::LessEqual => BinaryOp::LessEqual,
            Symbol::Greater => BinaryOp::Greater,
            Symbol::GreaterEqual => BinaryOp::GreaterEqual,
            Symbol::Ampersand => BinaryOp::Concat,
            Symbol::And => BinaryOp::And,
            Symbol::Or => BinaryOp::Or,
            Symbol::In => BinaryOp::In,
            Symbol::Chain => BinaryOp::Chain,
            Symbol::ParenOpen => return self.call(left, token),
            Symbol::BracketOpen => return self.filter(left, token),
            Symbol::BraceOpen => {
                let (pairs, end) = self.pairs();
                let kind = ExprKind::Group { input: Box::new(left), pairs };
                return node(kind, start, token, end);
            }
            Symbol::Caret => return self.sort(left, token),
            Symbol::Assign => return self.bind(left, token),
            Symbol::At | Symbol::Hash => return self.step_variable(symbol, left, token),
            Symbol::Question => {
                let then = Box::new(self.expression(0));
                let otherwise = self.take(Symbol::Colon).then(|| Box::new(self.expression(0)));
                let end = otherwise.as_ref().unwrap_or(&then).span;
                let kind = ExprKind::Condition { condition: Box::new(left), then, otherwise };
                return node(kind, start, token, end);
            }
            // The default reaches as far right as it can, whatever the operator's own power.
            Symbol::Elvis => {
                let default = Box::new(self.expression(0));
                let end = default.span;
                let kind = ExprKind::Elvis { value: Box::new(left), default };
                return node(kind, start, token, end);
            }
            _ => {
                let default = Box::new(self.expression(0));
                let end = default.span;
                let kind = ExprKind::Coalesce { value: Box::new(left), default };
                return node(kind, start, token, end);
            }
        };
        let right = self.expression(power);
        binary(op, left, token, right)
    }

    fn filter(&mut self, mut left: Expr, token: Span) -> Expr {
        if self.at(Symbol::BracketClose) {
            let (_, end) = self.advance(Slash::OpensRegex);
            let mut step = &mut left;
            while let ExprKind::Filter { input, .. } = &mut step.kind {
                step = input;
            }
            step.keep_array = true;
            left.span = left.span.to(end);
            return left;
        }
        let start = left.span;
        let predicate = Box::new(self.expression(0));
        let end = self.expect(Symbol::BracketClose, Slash::Divides);
        let kind = ExprKind::Filter { input: Box::new(left), predicate };
        node(kind, start, token, end)
    }

    fn sort(&mut self, left: Expr, token: Span) -> Expr {
        let start = left.span;
        self.expect(Symbol::ParenOpen, Slash::OpensRegex);
        let mut terms = Vec::new();
        loop {
            let descending = self.at(Symbol::Greater);
            if descending || self.at(Symbol::Less) {
                self.advance(Slash::OpensRegex);
            }
            terms.push(SortTerm { descending, key: self.expression(0) });
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        let end = self.expect(Symbol::ParenClose, Slash::OpensRegex);
        node(ExprKind::Sort { input: Box::new(left), terms }, start, token, end)
    }

    fn bind(&mut self, left: Expr, token: Span) -> Expr {
        let start = left.span;
        let name = match &left.kind {
            ExprKind::Variable(name) => name.clone(),
            _ => {
                let written = self.word(&left);
                self.fault(Fault::BindTarget(written), left.token);
                Arc::from("")
            }
        };
        // One less than its own power, so that `$a := $b := 1` reads from the right.
        let value = Box::new(self.expression(Symbol::Assign.binding_power() - 1));
        let end = value.span;
        node(ExprKind::Bind { name, value }, start, token, end)
    }

    /// `@$name` or `#$name`
    fn step_variable(&mut self, symbol: Symbol, left: Expr, token: Span) -> Expr {
        let start = left.span;
        let right = self.expression(symbol.binding_power());
        let name = match &right.kind {
            ExprKind::Variable(name) => name.clone(),
            _ => {
                self.fault(Fault::BindingName(symbol.as_str()), right.token);
                Arc::from("")
            }
        };
        let input = Box::new(left);
        let kind = match symbol {
            Symbol::At => ExprKind::Focus { input, name },
            _ => ExprKind::Index { input, name },
        };
        node(kind, start, token, right.span)
    }

    /// The token of a node as errors name it.
    fn word(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Name(name) => name.to_string(),
            ExprKind::Literal(literal) => Token::Literal(literal.clone()).to_string(),
            _ => self.lexer.text(expr.token).to_owned(),
        }
    }
}

/// A node of one token.
fn leaf(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span, token: span, keep_array: false, height: 1 }
}

/// A node from the beginning of `start` to the end of `end`.
fn node(kind: ExprKind, start: Span, token: Span, end: Span) -> Expr {
    let mut expr = Expr { kind, span: start.to(end), token, keep_array: false, height: 0 };
    expr.height = 1 + expr.children().iter().map(|child| child.height).max().unwrap_or(0);
    expr
}

fn binary(op: BinaryOp, lhs: Expr, token: Span, rhs: Expr) -> Expr {
    let (start, end) = (lhs.span, rhs.span);
    let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) };
    node(kind, start, token, end)
}
