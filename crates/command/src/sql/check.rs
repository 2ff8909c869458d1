//! Whether a statement is what it may be, told from its syntax tree.

use std::fmt;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, ObjectName, ObjectNamePart, Query, Select, SetExpr,
    Spanned as _, Statement, Value, ValueWithSpan, Visit, Visitor,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Span;

use super::Dialect;
use super::functions::is_common;
use super::words::offset_of;

/// How deep a statement may nest.
pub(super) const MAX_NESTING: usize = 50;

/// What a statement may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// It may be something else than a SELECT.
    pub(crate) write: bool,
    /// It may have UNION, EXCEPT and INTERSECT.
    pub(crate) union: bool,
    /// It comes from arguments: only so much may be in it.
    pub(crate) built: Option<BuiltRules>,
}

/// What a statement made of arguments may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuiltRules {
    /// SELECTs inside of it.
    pub(crate) subqueries: bool,
    /// Functions besides the common ones.
    pub(crate) functions: Vec<String>,
}

/// What is wrong with a statement, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementError {
    pub(crate) message: String,
    /// In bytes of the text that was given.
    pub(crate) offset: Option<usize>,
}

/// Reads a statement and checks it.
pub(crate) fn check(
    text: &str,
    dialect: Dialect,
    rules: &Rules,
) -> Result<Statement, StatementError> {
    let parsed = Parser::new(dialect.grammar())
        .with_recursion_limit(MAX_NESTING)
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| StatementError::new(error.to_string()))?;
    let mut statements = parsed.into_iter();
    let Some(statement) = statements.next() else {
        return Err(StatementError::new("there is no statement"));
    };
    if statements.next().is_some() {
        return Err(StatementError::new("there is more than one statement"));
    }
    check_tree(&statement, rules)?;
    Ok(statement)
}

/// Checks a statement that has been read or built.
pub(super) fn check_tree(statement: &Statement, rules: &Rules) -> Result<(), StatementError> {
    match statement {
        Statement::Query(_) => {}
        Statement::Insert(_) | Statement::Update { .. } | Statement::Delete(_) if rules.write => {}
        other => {
            let text = other.to_string();
            let word = text.split(' ').next().unwrap_or_default();
            let hint = if rules.write { "" } else { "; only SELECT may be sent here" };
            return Err(StatementError::new(format!("`{word}` is not allowed{hint}")));
        }
    }
    match statement.visit(&mut Walk { rules, queries: 0 }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(refused) => Err(StatementError::new(refused.message)),
    }
}

/// Checks a piece of a statement, read from a text, so that what is refused has its place there.
pub(super) fn check_part(
    piece: &impl Visit,
    text: &str,
    rules: &Rules,
) -> Result<(), StatementError> {
    // The SELECT that it is a piece of is the first.
    match piece.visit(&mut Walk { rules, queries: 1 }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(Refused { message, span }) => {
            let start = span.start;
            let is_known = start.line > 0;
            let offset = is_known.then(|| offset_of(text, start.line, start.column));
            Err(StatementError { message, offset })
        }
    }
}

/// What a walk through a tree came upon.
struct Refused {
    message: String,
    /// Where it begins; empty where the parser does not say.
    span: Span,
}

fn refuse(message: impl Into<String>, span: Span) -> ControlFlow<Refused> {
    ControlFlow::Break(Refused { message: message.into(), span })
}

struct Walk<'r> {
    rules: &'r Rules,
    queries: usize,
}

impl Visitor for Walk<'_> {
    type Break = Refused;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Refused> {
        self.queries += 1;
        if let Some(built) = &self.rules.built
            && self.queries > 1
            && !built.subqueries
        {
            return refuse(
                "a SELECT inside of the SELECT is not allowed; `allow_subqueries` allows it",
                query.span(),
            );
        }
        if !query.locks.is_empty() && !self.rules.write {
            return refuse("a SELECT that locks rows is not allowed", query.span());
        }
        self.body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Refused> {
        if select.into.is_some() {
            return refuse("`INTO` would create a table", select.span());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Refused> {
        match expr {
            Expr::Function(function) => self.function(function),
            // An operator that is named may be anything, just like a function.
            Expr::BinaryOp { op: BinaryOperator::PGCustomBinaryOperator(_), .. }
                if self.rules.built.is_some() =>
            {
                refuse("`OPERATOR` is not allowed", expr.span())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<Refused> {
        let is_plain = matches!(
            value.value,
            Value::Number(..) | Value::SingleQuotedString(_) | Value::Boolean(_) | Value::Null
        );
        if self.rules.built.is_some() && !is_plain {
            return refuse(format!("`{}` is no plain value", value.value), value.span);
        }
        ControlFlow::Continue(())
    }
}

impl Walk<'_> {
    /// What a query is made of.
    fn body(&self, body: &SetExpr) -> ControlFlow<Refused> {
        match body {
            SetExpr::Select(_) | SetExpr::Query(_) => ControlFlow::Continue(()),
            SetExpr::Values(_) if self.rules.built.is_none() => ControlFlow::Continue(()),
            SetExpr::SetOperation { op, left, right, .. } => {
                if !self.rules.union {
                    let message = format!("`{op}` is not allowed; `allow_union` allows it");
                    return refuse(message, right.span());
                }
                self.body(left)?;
                self.body(right)
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) if self.rules.write => {
                ControlFlow::Continue(())
            }
            other => {
                let text = other.to_string();
                let word = text.split(' ').next().unwrap_or_default();
                refuse(format!("`{word}` is not a SELECT"), other.span())
            }
        }
    }

    fn function(&self, function: &Function) -> ControlFlow<Refused> {
        let Some(built) = &self.rules.built else { return ControlFlow::Continue(()) };
        let name = plain_name(&function.name);
        let is_allowed = name.as_ref().is_some_and(|name| {
            is_common(name)
                || built.functions.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
        });
        if is_allowed {
            return ControlFlow::Continue(());
        }
        let message = format!(
            "the function `{}` is not among the common ones; `allow_functions` can name it",
            function.name
        );
        refuse(message, function.name.span())
    }
}

/// A name of one part without quotes.
fn plain_name(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] if ident.quote_style.is_none() => {
            Some(ident.value.clone())
        }
        _ => None,
    }
}

impl StatementError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), offset: None }
    }

    /// The error with the text that it is about, cut around its place.
    pub(crate) fn in_text(&self, text: &str) -> String {
        const AROUND: usize = 30;
        match self.offset {
            None => self.message.clone(),
            Some(offset) => {
                let from = text.floor_char_boundary(offset.saturating_sub(AROUND));
                let at = text.floor_char_boundary(offset);
                let to = text.floor_char_boundary((offset + AROUND).min(text.len()));
                format!("{} (here: `{}⟨here⟩{}`)", self.message, &text[from..at], &text[at..to])
            }
        }
    }
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
