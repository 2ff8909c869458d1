//! Calls and function definitions.

use std::sync::Arc;

use super::{Parser, leaf, node};
use crate::Span;
use crate::signature::{Signature, SignatureFault};
use crate::syntax::ast::{Expr, ExprKind, Lambda};
use crate::syntax::error::Fault;
use crate::syntax::lexer::Slash;
use crate::syntax::token::{Symbol, Token};

impl Parser<'_> {
    pub(super) fn call(&mut self, left: Expr, token: Span) -> Expr {
        let start = left.span;
        let mut arguments = Vec::new();
        if !self.at(Symbol::ParenClose) {
            loop {
                if self.at(Symbol::Question) {
                    let (_, span) = self.advance(Slash::OpensRegex);
                    arguments.push(leaf(ExprKind::Placeholder, span));
                } else {
                    arguments.push(self.expression(0));
                }
                if !self.take(Symbol::Comma) {
                    break;
                }
            }
        }
        let end = self.expect(Symbol::ParenClose, Slash::Divides);
        match &left.kind {
            ExprKind::Name(name) if matches!(&**name, "function" | "λ") => {
                self.lambda(start, token, arguments)
            }
            _ => {
                let kind = ExprKind::Call { function: Box::new(left), arguments };
                node(kind, start, token, end)
            }
        }
    }

    /// The rest of a function definition, behind its parameters.
    fn lambda(&mut self, start: Span, token: Span, arguments: Vec<Expr>) -> Expr {
        let mut parameters = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            match &argument.kind {
                ExprKind::Variable(name) => parameters.push(name.clone()),
                _ => {
                    let got = self.word(argument);
                    let fault = Fault::ParameterNotVariable { index: index + 1, got };
                    self.fault(fault, argument.token);
                }
            }
        }
        let signature = if self.at(Symbol::Less) { self.signature() } else { None };
        self.expect(Symbol::BraceOpen, Slash::OpensRegex);
        let body = Box::new(self.expression(0));
        let end = self.expect(Symbol::BraceClose, Slash::OpensRegex);
        let kind = ExprKind::Lambda(Lambda { parameters, signature, body });
        node(kind, start, token, end)
    }

    fn signature(&mut self) -> Option<Arc<Signature>> {
        let start = self.span;
        let mut text = String::from("<");
        let mut depth = 1_usize;
        while depth > 0 && !self.at(Symbol::BraceOpen) && self.token != Token::End {
            self.advance(Slash::OpensRegex);
            match self.token {
                Token::Symbol(Symbol::Greater) => depth -= 1,
                Token::Symbol(Symbol::Less) => depth += 1,
                _ => {}
            }
            text.push_str(&self.token.to_string());
        }
        self.expect(Symbol::Greater, Slash::OpensRegex);
        let (fault, offset) = match Signature::parse(&text) {
            Ok(signature) => return Some(Arc::new(signature)),
            Err(SignatureFault::TypeParameter { of, offset }) => (Fault::TypeParameter(of), offset),
            Err(SignatureFault::ChoiceOfParameterized { choice, offset }) => {
                (Fault::ChoiceOfParameterized(choice), offset)
            }
        };
        // The offset counts in the tokens as they were joined, which is the source if nothing but
        // letters and brackets stands there.
        let place = start.start as usize + offset;
        let whole = start.to(self.span);
        let span = match self.lexer.text(whole).get(offset..=offset) {
            Some("<" | "(") => Span::new(place, place + 1),
            _ => whole,
        };
        self.fault_at(fault, span, Some(place + 1));
        None
    }
}
