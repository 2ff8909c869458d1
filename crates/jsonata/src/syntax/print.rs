//! Syntax trees as text. What is printed parses to the same tree.

use std::fmt;

use super::ast::{BinaryOp, Expr, ExprKind, Literal};
use super::lexer::is_plain_name;
use crate::js;
use crate::stack;

/// The expression on one line, in a normal form. Comments are not part of it.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stack::grow(|| {
            print(self, f)?;
            f.write_str(if self.keep_array { "[]" } else { "" })
        })
    }
}

fn print(expr: &Expr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(literal) => print_literal(literal, f),
        ExprKind::Regex { pattern, flags } => {
            let ignore_case = if flags.ignore_case { "i" } else { "" };
            let multi_line = if flags.multi_line { "m" } else { "" };
            write!(f, "/{pattern}/{ignore_case}{multi_line}")
        }
        ExprKind::Name(name) if is_plain_name(name) => f.write_str(name),
        ExprKind::Name(name) => write!(f, "`{name}`"),
        ExprKind::Variable(name) => write!(f, "${name}"),
        ExprKind::Wildcard => f.write_str("*"),
        ExprKind::Descendants => f.write_str("**"),
        ExprKind::Parent => f.write_str("%"),
        ExprKind::Placeholder => f.write_str("?"),
        ExprKind::Missing => Ok(()),
        ExprKind::Negate(operand) => write!(f, "-{operand}"),
        ExprKind::Binary { op: BinaryOp::Map, lhs, rhs } => write!(f, "{lhs}.{rhs}"),
        ExprKind::Binary { op, lhs, rhs } => write!(f, "{lhs} {} {rhs}", op.as_str()),
        ExprKind::Filter { input, predicate } => write!(f, "{input}[{predicate}]"),
        ExprKind::Group { input, pairs } => {
            write!(f, "{input}")?;
            print_pairs(pairs, f)
        }
        ExprKind::Sort { input, terms } => {
            write!(f, "{input}^(")?;
            for (index, term) in terms.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                let direction = if term.descending { ">" } else { "" };
                write!(f, "{comma}{direction}{}", term.key)?;
            }
            f.write_str(")")
        }
        ExprKind::Focus { input, name } => write!(f, "{input}@${name}"),
        ExprKind::Index { input, name } => write!(f, "{input}#${name}"),
        ExprKind::Bind { name, value } => write!(f, "${name} := {value}"),
        ExprKind::Condition { condition, then, otherwise } => {
            write!(f, "{condition} ? {then}")?;
            match otherwise {
                Some(otherwise) => write!(f, " : {otherwise}"),
                None => Ok(()),
            }
        }
        ExprKind::Elvis { value, default } => write!(f, "{value} ?: {default}"),
        ExprKind::Coalesce { value, default } => write!(f, "{value} ?? {default}"),
        ExprKind::Block(items) => print_list("(", items, "; ", ")", f),
        ExprKind::Array(items) => print_list("[", items, ", ", "]", f),
        ExprKind::Object(pairs) => print_pairs(pairs, f),
        ExprKind::Call { function, arguments } => {
            write!(f, "{function}")?;
            print_list("(", arguments, ", ", ")", f)
        }
        ExprKind::Lambda(lambda) => {
            f.write_str("function(")?;
            for (index, name) in lambda.parameters.iter().enumerate() {
                write!(f, "{}${name}", if index == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
            if let Some(signature) = &lambda.signature {
                write!(f, "{signature}")?;
            }
            write!(f, "{{ {} }}", lambda.body)
        }
        ExprKind::Transform { pattern, update, delete } => {
            write!(f, "|{pattern}|{update}")?;
            match delete {
                Some(delete) => write!(f, ", {delete}|"),
                None => f.write_str("|"),
            }
        }
    }
}

fn print_list(
    open: &str,
    items: &[Expr],
    separator: &str,
    close: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { separator })?;
    }
    f.write_str(close)
}

fn print_pairs(pairs: &[(Expr, Expr)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("{")?;
    for (index, (key, value)) in pairs.iter().enumerate() {
        write!(f, "{}{key}: {value}", if index == 0 { "" } else { ", " })?;
    }
    f.write_str("}")
}

fn print_literal(literal: &Literal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match literal {
        Literal::Number(number) => f.write_str(&js::number::to_string(*number)),
        other => write!(f, "{other}"),
    }
}
